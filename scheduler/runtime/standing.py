"""What the row rules of a profile say together of pods that read alike: for each row the first refusal.

The results of each rule are kept by themselves (row_cache.py) and shared by all pods that the rule cannot tell apart; a standing
joins them for pods that no rule can tell apart, so that the next such pod costs what changed since the last one, not a pass over
all nodes. Not here: scores (totals.py).
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from scheduler.cache.nodes import NodeTable
from scheduler.cache.rows import Rows
from scheduler.framework import CycleState, IntArray, PodInfo, Status
from scheduler.runtime.guard import Guard
from scheduler.runtime.parts import KeptPart

FilterPart: TypeAlias = "KeptPart[np.int16]"

# So many changed rows are judged one by one; for more, by columns is quicker.
FEW = 24
_NO_NODE = -1


class Standing:
    """The joint verdict of some filters. `codes` by row number: 0 feasible, k for `statuses[k - 1]`, -1 where no node is."""

    def __init__(self, table: NodeTable, parts: Sequence[FilterPart], guard: Guard) -> None:
        self.table = table
        self.size = len(parts)
        self.codes: IntArray = np.zeros(0, np.int64)
        self.statuses: list[Status] = []
        self._parts = parts
        self._guard = guard
        self.reads_usage = any(part.reads_usage for part in parts)
        self._numbers: dict[Status, int] = {}
        self._translated: list[list[int]] = [[0] for _ in parts]
        self._nodes = -1
        self._usage = -1
        self._feasible: StandingRows | None = None

    def refresh(self, state: CycleState, pod: PodInfo) -> Status | None:
        """Bring everything up to date; a status if a rule failed."""
        nodes, usage = self.table.node_journal.position, self.table.usage_journal.position
        same_nodes = nodes == self._nodes
        if same_nodes and (usage == self._usage or not self.reads_usage):
            self._usage = usage
            return None
        changed = self.table.changed_since(self._nodes, self._usage) if self._nodes >= 0 else None
        for number, part in enumerate(self._parts):
            if same_nodes and not part.reads_usage:
                continue
            same = part.refresh(self._guard, state, pod)
            if isinstance(same, Status):
                # What was refreshed of the rules before this one has not been joined.
                self._nodes = -1
                return Status(same.code, same.reasons, part.plugin.name)
            if not same:
                self._translated[number] = [0]
                changed = None
        if changed is None or len(self.codes) != self.table.capacity:
            self._judge_all()
        elif len(changed) > FEW:
            self._judge_many(changed)
        else:
            self._judge(changed)
        if not same_nodes:
            self._feasible = None
        self._nodes, self._usage = nodes, usage
        return None

    def feasible(self) -> "StandingRows":
        """The rows that pass; the same object for as long as they are the same rows."""
        if self._feasible is None:
            live = self.table.live()
            passing = self.codes[live] == 0
            self._feasible = self.part(live if passing.all() else live[passing])
        return self._feasible

    def part(self, index: IntArray) -> "StandingRows":
        """Some of the rows that pass."""
        return StandingRows(self, index, (self._nodes, self._usage))

    def is_current(self, rows: "StandingRows") -> bool:
        """Whether these rows pass now, and nothing has changed since this was last brought up to date."""
        at = (self.table.node_journal.position, self.table.usage_journal.position)
        return (rows is self._feasible or rows.as_of == at) and at == (self._nodes, self._usage)

    def _judge(self, rows: set[int]) -> None:
        for row in rows:
            code = _NO_NODE if self.table.infos[row] is None else self._first_refusal(row)
            if (code == 0) != (self.codes[row] == 0):
                self._feasible = None
            self.codes[row] = code

    def _first_refusal(self, row: int) -> int:
        for number, part in enumerate(self._parts):
            code = int(part.values()[row])
            if code:
                return self._translation(number)[code]
        return 0

    def _judge_many(self, rows: set[int]) -> None:
        here = self.table.in_use(rows)
        before = self.codes[here] == 0
        self.codes[list(rows)] = _NO_NODE
        self.codes[here] = codes = self._first_refusals(here)
        if len(here) < len(rows) or (before != (codes == 0)).any():
            self._feasible = None

    def _judge_all(self) -> None:
        self.codes = np.full(self.table.capacity, _NO_NODE, np.int64)
        live = self.table.live()
        self.codes[live] = self._first_refusals(live)
        self._feasible = None

    def _first_refusals(self, rows: IntArray) -> IntArray:
        codes = np.zeros(len(rows), np.int64)
        for number, part in enumerate(self._parts):
            refused = part.values()[rows]
            if refused.any():
                translation = np.array(self._translation(number), np.int64)
                codes = np.where(codes == 0, translation[refused], codes)
        return codes

    def _translation(self, number: int) -> list[int]:
        """A rule numbers its statuses by itself; here all of them have one numbering."""
        kept, known = self._parts[number].kept, self._translated[number]
        for status in kept.statuses[len(known) - 1 :] if kept else ():
            code = self._numbers.get(status)
            if code is None:
                self.statuses.append(status)
                code = self._numbers[status] = len(self.statuses)
            known.append(code)
        return known


class StandingRows(Rows):
    """Rows that a standing lets pass, as of two positions of the journals."""

    __slots__ = ("as_of", "standing")

    def __init__(self, standing: Standing, index: IntArray, as_of: tuple[int, int]) -> None:
        super().__init__(standing.table, index, standing.table)
        self.standing = standing
        self.as_of = as_of
