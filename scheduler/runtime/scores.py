"""Runs the scores of a profile over the feasible rows and adds them up."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from scheduler.cache.nodes import NodeTable
from scheduler.cache.rows import Rows
from scheduler.framework import (
    MAX_NODE_SCORE,
    CycleState,
    IntArray,
    Normalize,
    PodInfo,
    RowScore,
    Score,
    Status,
    default_normalize,
)
from scheduler.runtime.answers import checked_column
from scheduler.runtime.guard import Guard
from scheduler.runtime.row_cache import Kept, RowCache

POINT = "Score"


@dataclass(frozen=True, slots=True)
class Weighted:
    """A score plugin, its weight, and its kept results if it is a row rule."""

    plugin: Score | RowScore
    weight: int
    cache: RowCache[np.int64] | None


class ScoreRunner:
    """The scores of a profile."""

    def __init__(self, scores: Iterable[tuple[Score | RowScore, int]], table: NodeTable, guard: Guard) -> None:
        self._table = table
        self._guard = guard
        self._scores = [
            Weighted(plugin, weight, RowCache(table, plugin.facets, np.int64) if isinstance(plugin, RowScore) else None)
            for plugin, weight in scores
        ]

    def __bool__(self) -> bool:
        return bool(self._scores)

    def run(self, state: CycleState, pod: PodInfo, rows: Rows) -> IntArray | Status:
        """The weighted total of each row; a status if a plugin raised or left the range of 0 to 100."""
        totals = np.zeros(len(rows), np.int64)
        for name, weight, scores in self.by_plugin(state, pod, rows):
            if isinstance(scores, Status):
                return Status(scores.code, scores.reasons, name)
            totals += weight * scores
        return totals

    def by_plugin(self, state: CycleState, pod: PodInfo, rows: Rows) -> Iterable[tuple[str, int, IntArray | Status]]:
        """Name, weight and normalised scores of each plugin that has something to say."""
        for weighted in self._scores:
            plugin = weighted.plugin
            if plugin.name in state.skip_score:
                continue
            scores = self._guard.call(plugin, POINT, np.ndarray, partial(self._checked, weighted, state, pod, rows))
            yield plugin.name, weighted.weight, scores

    def _checked(self, weighted: Weighted, state: CycleState, pod: PodInfo, rows: Rows) -> IntArray:
        """Normalised scores. Raises ValueError for an answer that is no score for each row."""
        scores = checked_column(self._scores_of(weighted, state, pod, rows), len(rows))
        if len(scores) and not 0 <= scores.min() <= scores.max() <= MAX_NODE_SCORE:
            found = f"scores from {scores.min()} to {scores.max()}"
            raise ValueError(f"found {found} after normalising, allowed: 0 to {MAX_NODE_SCORE}")
        return scores

    def _scores_of(self, weighted: Weighted, state: CycleState, pod: PodInfo, rows: Rows) -> IntArray:
        plugin = weighted.plugin
        if isinstance(plugin, Score):
            raw = np.fromiter((plugin.score(state, pod, rows.node(i)) for i in range(len(rows))), np.int64, len(rows))
            if plugin.normalize is Normalize.NONE:
                return raw
            return default_normalize(raw, reverse=plugin.normalize is Normalize.REVERSED)
        raw = self._raw(plugin, weighted.cache, state, pod, rows)
        return plugin.normalize_scores(state, pod, raw)

    def _raw(
        self, plugin: RowScore, cache: RowCache[np.int64] | None, state: CycleState, pod: PodInfo, rows: Rows
    ) -> IntArray:
        def compute(part: Rows, kept: Kept[np.int64]) -> IntArray:  # noqa: ARG001  scores have no statuses to keep
            return checked_column(plugin.score_rows(state, pod, part), len(part))

        key = plugin.row_key(pod)
        if cache is None or key is None or rows.table is not self._table:
            return checked_column(plugin.score_rows(state, pod, rows), len(rows))
        return rows.take(cache.get(key, compute).values).astype(np.int64, copy=False)
