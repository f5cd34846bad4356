"""Runs the scores of a profile over the feasible rows and adds them up."""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from scheduler.cache.nodes import NodeTable
from scheduler.cache.rows import Rows
from scheduler.framework import CycleState, IntArray, PodInfo, RowScore, Score, Status, normalized
from scheduler.runtime.answers import checked_column
from scheduler.runtime.guard import Guard
from scheduler.runtime.joined import POINT, JoinedScores, Weighted, kept_scores
from scheduler.runtime.ranking import Ranking
from scheduler.runtime.rosters import Roster, Rosters
from scheduler.runtime.row_cache import RowCache
from scheduler.runtime.standing import StandingRows
from scheduler.runtime.totals import in_range


class ScoreRunner:
    """The scores of a profile."""

    def __init__(self, rosters: Rosters, table: NodeTable, guard: Guard) -> None:
        self._rosters = rosters
        self._table = table
        self._guard = guard
        self._scores = {
            plugin.name: Weighted(
                plugin, weight, RowCache(table, plugin.facets, np.int64) if isinstance(plugin, RowScore) else None
            )
            for plugin, weight in rosters.everybody.score
        }
        self._lineups: dict[tuple[Roster, frozenset[str]], Sequence[Weighted]] = {}
        self._joined = JoinedScores(table, guard)

    def run(self, state: CycleState, pod: PodInfo, rows: Rows) -> Ranking | Status:
        """The weighted total of each row; a status if a plugin raised or left the range of 0 to 100."""
        active = self._active(state, pod)
        joined = self._joined.of(active, state, pod, rows) if isinstance(rows, StandingRows) else None
        if isinstance(joined, Status):
            return joined
        ranking = Ranking(rows, joined.totals if joined is not None else None)
        for name, weight, scores in self._each(active if joined is None else joined.rest, state, pod, rows):
            if isinstance(scores, Status):
                return Status(scores.code, scores.reasons, name)
            ranking.add(weight * scores)
        return ranking

    def by_plugin(self, state: CycleState, pod: PodInfo, rows: Rows) -> Iterable[tuple[str, int, IntArray | Status]]:
        """Name, weight and normalised scores of each plugin that has something to say."""
        return self._each(self._active(state, pod), state, pod, rows)

    def _active(self, state: CycleState, pod: PodInfo) -> Sequence[Weighted]:
        roster, skipped = self._rosters.of(pod.template), frozenset(state.skip_score)
        active = self._lineups.get((roster, skipped))
        if active is None:
            present = [plugin.name for plugin, _ in roster.score if plugin.name not in skipped]
            active = self._lineups[roster, skipped] = [self._scores[name] for name in present]
        return active

    def _each(
        self, scores: Iterable[Weighted], state: CycleState, pod: PodInfo, rows: Rows
    ) -> Iterable[tuple[str, int, IntArray | Status]]:
        for weighted in scores:
            plugin = weighted.plugin
            ask = partial(self._checked, weighted, state, pod, rows)
            yield plugin.name, weighted.weight, self._guard.call(plugin, POINT, np.ndarray, ask)

    def _checked(self, weighted: Weighted, state: CycleState, pod: PodInfo, rows: Rows) -> IntArray:
        """Normalised scores. Raises ValueError for an answer that is no score for each row."""
        return in_range(checked_column(self._scores_of(weighted, state, pod, rows), len(rows)))

    def _scores_of(self, weighted: Weighted, state: CycleState, pod: PodInfo, rows: Rows) -> IntArray:
        plugin = weighted.plugin
        if isinstance(plugin, Score):
            raw = np.fromiter((plugin.score(state, pod, rows.node(i)) for i in range(len(rows))), np.int64, len(rows))
            return normalized(raw, int(raw.max(initial=0)), plugin.normalize)
        raw = self._raw(plugin, weighted.cache, state, pod, rows)
        return plugin.normalize_scores(state, pod, raw)

    def _raw(
        self, plugin: RowScore, cache: RowCache[np.int64] | None, state: CycleState, pod: PodInfo, rows: Rows
    ) -> IntArray:
        key = plugin.row_key(pod.template)
        if cache is None or key is None or rows.table is not self._table:
            return checked_column(plugin.score_rows(state, pod, rows), len(rows))
        kept = cache.get(key, partial(kept_scores, plugin, state, pod))
        return rows.take(kept.values).astype(np.int64, copy=False)
