"""The weighted totals of kept scores for the rows that a standing lets pass, refreshed for changed rows only.

Scores that are normalised by the largest one depend on all feasible rows through that one number: as long as it is the same,
so are the scores of the rows that did not change.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduler.cache.rows import Rows
from scheduler.framework import MAX_NODE_SCORE, CycleState, IntArray, Normalize, PodInfo, Status, normalized
from scheduler.runtime.guard import Guard
from scheduler.runtime.leaders import Leaders, pick_row
from scheduler.runtime.parts import KeptPart
from scheduler.runtime.standing import FEW, Standing, StandingRows

_NOT_FEASIBLE = -1


@dataclass(slots=True)
class ScorePart:
    """A score, its weight, how it is normalised, and the largest score among the feasible rows."""

    part: KeptPart[np.int64]
    weight: int
    how: Normalize
    largest: int = 0

    def weighted(self, row: int) -> int:
        """The weighted score of a row. Raises ValueError for one that is out of range."""
        score = int(self.part.values()[row])
        if self.how is Normalize.NONE:
            if not 0 <= score <= MAX_NODE_SCORE:
                raise ValueError(out_of_range(score, score))
            return self.weight * score
        if score < 0:
            raise ValueError(out_of_range(score, score))
        reverse = self.how is Normalize.REVERSED
        if self.largest == 0:
            return self.weight * MAX_NODE_SCORE if reverse else 0
        scaled = MAX_NODE_SCORE * score // self.largest
        return self.weight * (MAX_NODE_SCORE - scaled if reverse else scaled)

    def weighted_all(self, rows: IntArray) -> IntArray:
        """The weighted scores of rows. Raises ValueError for one that is out of range."""
        return self.weight * in_range(normalized(self.part.values()[rows], self.largest, self.how))

    def moves_largest(self, row: int, *, joins: bool) -> bool:
        """Whether the largest score may be another one once this row joins the feasible ones, or leaves them."""
        if self.how is Normalize.NONE:
            return False
        score = int(self.part.values()[row])
        return score > self.largest if joins else 0 < score == self.largest

    def shrinks(self, rows: IntArray) -> bool:
        """Whether the largest score of these rows is less than that of all."""
        if self.how is Normalize.NONE or self.largest == 0:
            return False
        return int(self.part.values()[rows].max(initial=0)) < self.largest

    def move_largest(self, joining: IntArray, leaving: IntArray) -> bool:
        """The same for many rows."""
        if self.how is Normalize.NONE:
            return False
        scores = self.part.values()
        left = scores[leaving]
        return bool((scores[joining] > self.largest).any() or ((left > 0) & (left == self.largest)).any())


class Totals:
    """The totals by row number, -1 for rows that are not feasible."""

    def __init__(self, standing: Standing, parts: Sequence[ScorePart], guard: Guard) -> None:
        self.values: IntArray = np.zeros(0, np.int64)
        self._standing = standing
        self._parts = parts
        self._guard = guard
        # What is normalised and moves with every pod has another largest score each time.
        self._unsteady = any(part.part.reads_usage and part.how is not Normalize.NONE for part in parts)
        self._reads_usage = standing.reads_usage or any(part.part.reads_usage for part in parts)
        self._leaders = Leaders()
        self._nodes = -1
        self._usage = -1

    def refresh(self, state: CycleState, pod: PodInfo) -> Status | None:
        """Bring the totals up to date, for a standing that is; a status if a rule failed. Raises ValueError for a score that is
        out of range.
        """
        table = self._standing.table
        nodes, usage = table.node_journal.position, table.usage_journal.position
        same_nodes = nodes == self._nodes
        if same_nodes and (usage == self._usage or not self._reads_usage):
            self._usage = usage
            return None
        changed = table.changed_since(self._nodes, self._usage) if same_nodes and not self._unsteady else None
        self._nodes = -1
        for score in self._parts:
            if same_nodes and not score.part.reads_usage:
                continue
            same = score.part.refresh(self._guard, state, pod)
            if isinstance(same, Status):
                return Status(same.code, same.reasons, score.part.plugin.name)
            if not same:
                changed = None
        if changed is None or not (self._count(changed) if len(changed) <= FEW else self._count_many(changed)):
            self._count_all()
        self._nodes, self._usage = nodes, usage
        return None

    def hold_for(self, rows: StandingRows) -> bool:
        """Whether these are the totals also of a part of the rows: scores are normalised by the largest of them."""
        return rows is self._standing.feasible() or not any(score.shrinks(rows.index) for score in self._parts)

    def best(self, rows: Rows, rng: np.random.Generator) -> int:
        """The number of a row with the largest total, of several any with the same probability."""
        if rows is self._standing.feasible():
            return self._leaders.pick(self.values, rng)
        return pick_row(rows, self.values[rows.index], rng)

    def _count(self, rows: set[int]) -> bool:
        """Count these rows anew; False if the others have to be, too."""
        codes = self._standing.codes
        for row in rows:
            was, feasible = self.values[row] != _NOT_FEASIBLE, codes[row] == 0
            if was != feasible and any(score.moves_largest(row, joins=bool(feasible)) for score in self._parts):
                return False
            self.values[row] = sum(score.weighted(row) for score in self._parts) if feasible else _NOT_FEASIBLE
            self._leaders.note(row)
        return True

    def _count_many(self, rows: set[int]) -> bool:
        """The same for many rows."""
        index = np.fromiter(rows, np.int64, len(rows))
        was, feasible = self.values[index] != _NOT_FEASIBLE, self._standing.codes[index] == 0
        joining, leaving = index[feasible & ~was], index[was & ~feasible]
        if any(score.move_largest(joining, leaving) for score in self._parts):
            return False
        self.values[index] = _NOT_FEASIBLE
        passing = index[feasible]
        self.values[passing] = sum((score.weighted_all(passing) for score in self._parts), np.zeros_like(passing))
        for row in rows:
            self._leaders.note(row)
        return True

    def _count_all(self) -> None:
        index = self._standing.feasible().index
        for score in self._parts:
            score.largest = int(score.part.values()[index].max(initial=0))
        self.values = np.full(self._standing.table.capacity, _NOT_FEASIBLE, np.int64)
        self.values[index] = sum((score.weighted_all(index) for score in self._parts), np.zeros_like(index))
        self._leaders.forget()


def in_range(scores: IntArray) -> IntArray:
    """These scores. Raises ValueError if one of them is out of range."""
    if len(scores) and not 0 <= scores.min() <= scores.max() <= MAX_NODE_SCORE:
        raise ValueError(out_of_range(int(scores.min()), int(scores.max())))
    return scores


def out_of_range(least: int, most: int) -> str:
    """What is said of scores that are no scores."""
    return f"found scores from {least} to {most} after normalising, allowed: 0 to {MAX_NODE_SCORE}"
