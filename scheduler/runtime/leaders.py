"""The rows with the largest totals, so that the best node is known without looking at all of them."""

import numpy as np

from scheduler.cache.rows import Rows
from scheduler.framework import IntArray

_NO_LEVEL = -1
# How many rows at least are kept in levels, where there are as many.
_FEWEST = 64
# To make levels takes about as long as so many passes over all rows.
_PASSES = 16
# For more changes than this since somebody last asked, a pass is quicker.
_MOST_CHANGES = 4


class Leaders:
    """Rows by their totals, the best ones. A level holds the rows of one total in random order: its last one is as likely as any
    other to be any of them, and stays so as rows come and go, because who comes is put anywhere.

    All rows whose total is at least `_base` are in levels. Levels are made once it would have paid to have them.
    """

    def __init__(self) -> None:
        self._passes = 0
        self._base = 0
        self._levels: dict[int, list[int]] = {}
        self._level_of: IntArray = np.zeros(0, np.int64)
        self._index: IntArray = np.zeros(0, np.int64)
        self._changed: list[int] = []

    def forget(self) -> None:
        """Any row may lead now."""
        self._passes = 0
        self._levels.clear()
        self._changed.clear()

    def note(self, row: int) -> None:
        """The total of a row was counted anew."""
        if self._levels:
            self._changed.append(row)
            if len(self._changed) > _MOST_CHANGES:
                self.forget()

    def pick(self, totals: IntArray, rng: np.random.Generator) -> int:
        """One of the leading rows; each is as likely as the others. `totals` are by row number, none of them below 0 for a row
        that may lead.
        """
        for row in self._changed:
            self._move(row, int(totals[row]), rng)
        self._changed.clear()
        if not self._levels:
            if self._passes < _PASSES:
                self._passes += 1
                return _any_largest(totals, rng)
            self._fill(totals, rng)
        return self._levels[max(self._levels)][-1]

    def _move(self, row: int, total: int, rng: np.random.Generator) -> None:
        was = int(self._level_of[row])
        if was != _NO_LEVEL:
            level = self._levels[was]
            last, index = level.pop(), int(self._index[row])
            if last != row:
                level[index], self._index[last] = last, index
            if not level:
                del self._levels[was]
        self._level_of[row] = _NO_LEVEL
        if total >= self._base:
            self._insert(row, total, rng)

    def _insert(self, row: int, total: int, rng: np.random.Generator) -> None:
        level = self._levels.setdefault(total, [])
        index = int(rng.integers(len(level) + 1)) if level else 0
        level.append(row)
        level[-1], level[index] = level[index], row
        self._index[level[-1]] = len(level) - 1
        self._index[row], self._level_of[row] = index, total

    def _fill(self, totals: IntArray, rng: np.random.Generator) -> None:
        """Levels of the best rows, and of those that are as good as the last of these."""
        fewest = min(_FEWEST, len(totals))
        self._base = max(0, int(np.partition(totals, -fewest)[-fewest]))
        rows = rng.permutation(np.flatnonzero(totals >= self._base))
        self._level_of = np.full(len(totals), _NO_LEVEL, np.int64)
        self._level_of[rows] = totals[rows]
        self._index = np.zeros(len(totals), np.int64)
        for total in np.unique(totals[rows]).tolist():
            level = rows[totals[rows] == total]
            self._index[level] = np.arange(len(level))
            self._levels[total] = level.tolist()


def pick_row(rows: Rows, totals: IntArray, rng: np.random.Generator) -> int:
    """The number of one of these rows with the largest of their totals; each is as likely as the others."""
    return int(rows.index[_any_largest(totals, rng)])


def _any_largest(totals: IntArray, rng: np.random.Generator) -> int:
    best = np.flatnonzero(totals == totals.max())
    return int(best[0 if len(best) == 1 else rng.integers(len(best))])
