"""What extenders have said of nodes in one attempt, as columns beside those of the node table.

It is kept while facts go on changing: a node that has come to a row meanwhile was not asked about. Not here: the asking
(consulting.py).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from scheduler.cache.columns import grown
from scheduler.cache.nodes import NodeTable
from scheduler.cache.rows import Rows
from scheduler.config import Extender
from scheduler.framework import Code, IntArray, Node, Status
from scheduler.runtime.filters import NodeVerdicts
from scheduler.runtime.ranking import Ranking
from scheduler.state import EXTENDER

# A node that an extender has left out without a word. kube-scheduler has no reason for it either, and preemption does not try it.
_LEFT_OUT = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (), EXTENDER)


class Candidates:
    """The nodes that are asked about, as they are now, in order."""

    def __init__(self, rows: Rows) -> None:
        self.index = rows.index
        self.nodes: Mapping[str, Node] = {(node := rows.node(i).node).name: node for i in range(len(rows))}


class Opinion:
    """What these extenders have said, by row of the table."""

    def __init__(self, table: NodeTable, extenders: Sequence[Extender]) -> None:
        self.extenders = extenders
        self._table = table
        self._position = table.node_journal.position
        self._uids: dict[int, str] = {}
        self._asked: IntArray = np.zeros(0, np.int64)
        self._codes: IntArray = np.zeros(0, np.int64)
        self._scores: IntArray = np.zeros(0, np.int64)
        self._statuses: dict[Status, int] = {}

    def note(
        self, asked: Candidates, left: Mapping[str, Node], refused: Mapping[str, Status], scores: Mapping[str, int]
    ) -> None:
        """Who is left of those asked about, why others are not, and what is added to totals. Facts may have changed since, so
        what is no longer true of its row is taken back.
        """
        self._grow()
        self._asked[asked.index] = 1
        self._uids.update(zip(asked.index.tolist(), (node.uid for node in asked.nodes.values()), strict=True))
        self._codes[asked.index] = [
            0 if name in left else self._number(refused.get(name, _LEFT_OUT)) for name in asked.nodes
        ]
        self._scores[asked.index] = [scores.get(name, 0) for name in asked.nodes] if scores else 0
        self._catch_up()

    def apply(self, verdicts: NodeVerdicts) -> None:
        """Refuse what they have refused, as far as nobody else has."""
        if not self._uids:
            return
        self._catch_up()
        verdicts.merge(self._codes[verdicts.rows.index], self._statuses)

    def covers(self, rows: Rows) -> bool:
        """Whether all of these nodes were asked about, where there is anybody to ask."""
        if not self.extenders:
            return True
        self._catch_up()
        return bool(self._asked[rows.index].all())

    def known(self, rows: Rows) -> Rows:
        """Of these rows those that were asked about; all if none was, for then they still have to be."""
        if not self._uids:
            return rows
        self._catch_up()
        asked = np.flatnonzero(self._asked[rows.index])
        return rows.subset(asked) if len(asked) else rows

    def add_to(self, ranking: Ranking) -> None:
        """Add what they give to the total of each node."""
        if self._uids:
            self._catch_up()
            ranking.add(self._scores[ranking.rows.index])

    def _number(self, status: Status) -> int:
        return self._statuses.setdefault(status, len(self._statuses) + 1)

    def _catch_up(self) -> None:
        self._grow()
        journal = self._table.node_journal
        if self._position == journal.position:
            return
        changed = journal.since(self._position)
        self._take_back(self._uids if changed is None else changed)

    def _take_back(self, rows: "Mapping[int, str] | set[int]") -> None:
        """Another node on a row was not asked about."""
        for row in list(rows):
            info = self._table.infos[row]
            if row in self._uids and (info is None or info.node.uid != self._uids[row]):
                del self._uids[row]
                self._asked[row] = self._codes[row] = self._scores[row] = 0
        self._position = self._table.node_journal.position

    def _grow(self) -> None:
        if len(self._asked) < self._table.capacity:
            capacity = self._table.capacity
            self._asked, self._codes, self._scores = (
                grown(column, capacity) for column in (self._asked, self._codes, self._scores)
            )
