"""What scoring comes to: the weighted total of each feasible node, and the best one."""

import numpy as np

from scheduler.cache.rows import Rows
from scheduler.framework import IntArray
from scheduler.runtime.leaders import pick_row
from scheduler.runtime.totals import Totals


class Ranking:
    """Totals of some rows: those that are kept, if any, and what was added to them."""

    __slots__ = ("_added", "_kept", "rows")

    def __init__(self, rows: Rows, kept: Totals | None) -> None:
        self.rows = rows
        self._kept = kept
        self._added: IntArray | None = None

    def add(self, scores: IntArray) -> None:
        """Add a score for each row."""
        self._added = scores if self._added is None else self._added + scores

    def totals(self) -> IntArray:
        """The total of each row."""
        if self._kept is None:
            return np.zeros(len(self.rows), np.int64) if self._added is None else self._added
        kept = self.rows.take(self._kept.values)
        return kept if self._added is None else kept + self._added

    def best(self, rng: np.random.Generator) -> int:
        """The number of a row with the largest total; ties are broken uniformly (kube-scheduler's selectHost)."""
        if self._kept is not None and self._added is None:
            return self._kept.best(self.rows, rng)
        return pick_row(self.rows, self.totals(), rng)
