"""Runs the filters of a profile over rows: the first plugin that refuses a node gives its verdict."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from scheduler.cache.nodes import NodeTable
from scheduler.cache.rows import Rows
from scheduler.framework import (
    SUCCESS,
    Code,
    CodeArray,
    CycleState,
    Filter,
    IntArray,
    NodeRows,
    NodeStatuses,
    PodInfo,
    RowFilter,
    RowVerdicts,
    Status,
)
from scheduler.runtime.answers import checked_verdicts
from scheduler.runtime.guard import Guard
from scheduler.runtime.parts import KeptPart
from scheduler.runtime.rosters import Roster, Rosters
from scheduler.runtime.row_cache import Kept, RowCache
from scheduler.runtime.standing import FilterPart, Standing
from scheduler.runtime.standings import KeptFilter, Standings

POINT = "Filter"


class NodeVerdicts:
    """For each row of a set whether it is feasible, or why not: `codes[i]` is 0, or k for `statuses[k - 1]`.

    Most pods find a node, and then nobody asks for the others' verdicts: those of a standing are copied when somebody does.
    """

    __slots__ = ("_codes", "_origin", "_standing", "_statuses", "rows")

    def __init__(self, rows: Rows, standing: Standing | None = None) -> None:
        self.rows = rows
        self._standing = standing
        self._origin = standing
        self._codes: IntArray | None = None if standing is not None else np.zeros(len(rows), np.int64)
        self._statuses: list[Status] = []

    @property
    def codes(self) -> IntArray:
        """A number for each row."""
        if self._codes is None:
            self._codes = self._copied()
        return self._codes

    @property
    def statuses(self) -> list[Status]:
        """What the numbers from 1 mean."""
        if self._codes is None:
            self._codes = self._copied()
        return self._statuses

    def feasible(self) -> IntArray:
        """The positions of the rows that passed every filter."""
        return np.flatnonzero(self.codes == 0)

    def feasible_rows(self) -> Rows:
        """The rows that passed every filter."""
        if self._codes is None and self._standing is not None:
            return self._standing.feasible()
        if self._origin is not None:
            return self._origin.part(self.rows.index[self.feasible()])
        return self.rows.subset(self.feasible())

    def counts(self) -> Counter[Status]:
        """How many rows gave each verdict."""
        statuses, totals = self.statuses, Counter[Status]()
        # A status may stand under several numbers.
        for status, rows in zip(
            statuses, np.bincount(self.codes, minlength=len(statuses) + 1)[1:].tolist(), strict=True
        ):
            if rows:
                totals[status] += rows
        return totals

    def with_code(self, code: Code) -> IntArray:
        """The positions of the rows whose verdict has this code."""
        numbers = [number for number, status in enumerate(self.statuses, 1) if status.code is code]
        return np.flatnonzero(np.isin(self.codes, numbers))

    def status_at(self, position: int) -> Status:
        """The verdict of one row."""
        code = int(self.codes[position])
        return self.statuses[code - 1] if code else SUCCESS

    def refuse(self, position: int, status: Status) -> None:
        """Give one row another verdict than its filters did."""
        self.statuses.append(status)
        self.codes[position] = len(self.statuses)

    def refuse_all(self, status: Status) -> None:
        """Give every row the same verdict."""
        self._standing = None
        self._statuses = [status]
        self._codes = np.ones(len(self.rows), np.int64)

    def merge(self, codes: CodeArray | IntArray, statuses: Iterable[Status]) -> None:
        """Take the verdicts of the next filter for the rows that nobody has refused yet."""
        if not codes.any():
            return
        refused = (codes != 0) & (self.codes == 0)
        if refused.any():
            self.codes[refused] = codes[refused].astype(np.int64) + len(self.statuses)
            self.statuses.extend(statuses)

    def first_error(self) -> Status | None:
        """An error among the verdicts: it ends the attempt, whatever the other rows say."""
        known = self._standing.statuses if self._codes is None and self._standing is not None else self._statuses
        if all(status.code is not Code.ERROR for status in known):
            return None
        return next((status for status in self.counts() if status.code is Code.ERROR), None)

    def _copied(self) -> IntArray:
        standing = self._standing
        if standing is None:
            raise LookupError("verdicts without a standing have codes from the start")
        self._standing = None
        self._statuses = list(standing.statuses)
        return self.rows.take(standing.codes).copy()


class VerdictsByName(NodeStatuses):
    """The same by node name; a verdict is looked up when it is asked for."""

    def __init__(self, verdicts: NodeVerdicts) -> None:
        self._verdicts = verdicts

    def __len__(self) -> int:
        return len(self._verdicts.rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._verdicts.rows.names())

    def __getitem__(self, name: str) -> Status:
        position = self._verdicts.rows.position_of(name)
        if position is None:
            raise KeyError(name)
        return self._verdicts.status_at(position)

    def with_code(self, code: Code) -> NodeRows:
        """The nodes that were refused with this code."""
        return self._verdicts.rows.subset(self._verdicts.with_code(code))


@dataclass(frozen=True, slots=True, eq=False)
class Lineup:
    """The filters of an attempt with what is kept of them, and how many row filters come first."""

    filters: Sequence[tuple[Filter | RowFilter, RowCache[np.int16] | None]]
    leading: Sequence[KeptFilter]


class FilterRunner:
    """The filters of a profile in their order, with the results of row rules kept."""

    def __init__(self, rosters: Rosters, table: NodeTable, guard: Guard) -> None:
        self._rosters = rosters
        self._table = table
        self._guard = guard
        self._caches = {plugin.name: _cache_for(plugin, table) for plugin in rosters.everybody.filter}
        self._lineups: dict[tuple[Roster, frozenset[str]], Lineup] = {}
        self._standings = Standings(table, _part, guard)

    def run(self, state: CycleState, pod: PodInfo, rows: Rows) -> NodeVerdicts | Status:
        """Verdicts for rows of any kind; a status if the attempt must end with an error."""
        keeping = rows.table is self._table and rows.index is self._table.live() and not pod.node_name
        lineup = self._lineup(self._rosters.of(pod.template), frozenset(state.skip_filter))
        filters = lineup.filters
        verdicts = NodeVerdicts(rows)
        if keeping and (standing := self._standings.find(lineup.leading, pod)) is not None:
            problem = standing.refresh(state, pod)
            if problem is not None:
                return problem
            verdicts = NodeVerdicts(rows, standing)
            filters = filters[standing.size :]
        for plugin, cache in filters:
            if isinstance(plugin, Filter):
                ask = partial(self._one_by_one, plugin, state, pod, verdicts)
                problem = self._guard.measured(plugin, POINT, ask)
            else:
                problem = self._by_rows(plugin, state, pod, verdicts, cache if keeping else None)
            if problem is not None:
                return problem
        return verdicts.first_error() or verdicts

    def likeness(self, state: CycleState, pod: PodInfo) -> Hashable | None:
        """Equal for pods that no filter can tell apart; None if one may go by more than a row and what it reads of the pod."""
        lineup = self._lineup(self._rosters.of(pod.template), frozenset(state.skip_filter))
        return self._standings.reads(lineup.leading, pod) if len(lineup.leading) == len(lineup.filters) else None

    def _lineup(self, roster: Roster, skipped: frozenset[str]) -> Lineup:
        lineup = self._lineups.get((roster, skipped))
        if lineup is None:
            filters = [(plugin, self._caches[plugin.name]) for plugin in roster.filter if plugin.name not in skipped]
            lineup = self._lineups[roster, skipped] = Lineup(filters, _leading_row_filters(filters))
        return lineup

    def _by_rows(
        self,
        plugin: RowFilter,
        state: CycleState,
        pod: PodInfo,
        verdicts: NodeVerdicts,
        cache: RowCache[np.int16] | None,
    ) -> Status | None:
        """The whole of it is guarded: a key that cannot be hashed or an array of another length is the plugin's fault too."""
        merge = partial(_merge_rows, plugin, state, pod, verdicts, cache)
        problem = self._guard.call(plugin, POINT, type(None), merge)
        return None if problem is None else _named(problem, plugin.name)

    def _one_by_one(self, plugin: Filter, state: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> Status | None:
        codes = np.zeros(len(verdicts.rows), np.int16)
        numbers: dict[Status, int] = {}
        for position in verdicts.feasible().tolist():
            node = verdicts.rows.node(position)
            status = self._guard.repeat(plugin, POINT, Status, partial(plugin.filter, state, pod, node))
            if status.code is Code.ERROR:
                return _named(status, plugin.name)
            if not status.ok:
                codes[position] = numbers.setdefault(_named(status, plugin.name), len(numbers) + 1)
        verdicts.merge(codes, numbers)
        return None


def _merge_rows(
    plugin: RowFilter, state: CycleState, pod: PodInfo, verdicts: NodeVerdicts, cache: RowCache[np.int16] | None
) -> None:
    key = plugin.row_key(pod.template) if cache is not None else None
    if cache is not None and key is not None:
        kept = cache.get(key, partial(_kept_codes, plugin, state, pod))
        verdicts.merge(verdicts.rows.take(kept.values), kept.statuses)
    else:
        answer = checked_verdicts(plugin.filter_rows(state, pod, verdicts.rows), len(verdicts.rows))
        verdicts.merge(answer.codes, [_named(status, plugin.name) for status in answer.statuses])


def _kept_codes(plugin: RowFilter, state: CycleState, pod: PodInfo, rows: Rows, kept: Kept[np.int16]) -> CodeArray:
    answer = checked_verdicts(plugin.filter_rows(state, pod, rows), len(rows))
    return _renumber(answer, plugin.name, kept)


def _part(kept: KeptFilter, key: Hashable) -> FilterPart:
    plugin, cache = kept
    return KeptPart(plugin, POINT, partial(_kept_codes, plugin), cache, key)


def _leading_row_filters(filters: Iterable[tuple[Filter | RowFilter, RowCache[np.int16] | None]]) -> list[KeptFilter]:
    leading: list[KeptFilter] = []
    for plugin, cache in filters:
        if not isinstance(plugin, RowFilter) or cache is None:
            break
        leading.append((plugin, cache))
    return leading


def _cache_for(plugin: Filter | RowFilter, table: NodeTable) -> RowCache[np.int16] | None:
    return RowCache(table, plugin.facets, np.int16) if isinstance(plugin, RowFilter) else None


def _named(status: Status, plugin: str) -> Status:
    return status if status.plugin == plugin else Status(status.code, status.reasons, plugin)


def _renumber(answer: RowVerdicts, plugin: str, kept: Kept[np.int16]) -> CodeArray:
    """A filter numbers its reasons anew in each call; kept codes need one numbering."""
    numbers = np.zeros(len(answer.statuses) + 1, np.int16)
    for position, status in enumerate(answer.statuses, 1):
        code = kept.codes.get(status)
        if code is None:
            kept.statuses.append(_named(status, plugin))
            code = kept.codes[status] = len(kept.statuses)
        numbers[position] = code
    return numbers[answer.codes]
