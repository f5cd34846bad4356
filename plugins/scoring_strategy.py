"""The scoringStrategy argument of NodeResourcesFit, and the three strategies: usage of a resource to a score of 0..100."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from plugins.resource_scoring import CPU_AND_MEMORY, ResourceSpec, Usage
from scheduler.framework import MAX_NODE_SCORE, IntArray, PluginArgs

LEAST = "LeastAllocated"
MOST = "MostAllocated"
RATIO = "RequestedToCapacityRatio"
_TYPES = (LEAST, MOST, RATIO)

_MAX_SHAPE_SCORE = 10


class ShapePoint(PluginArgs, frozen=True):
    """A score (0 to 10) for a utilization (percent)."""

    utilization: int
    score: int


class Ratio(PluginArgs, frozen=True):
    """Scores for utilizations; linear in between, level outside."""

    shape: tuple[ShapePoint, ...] = ()

    def problems(self) -> Iterable[str]:
        """A shape needs points, from left to right."""
        if not self.shape:
            yield "shape: found none, allowed: at least one point"
        for i, point in enumerate(self.shape):
            if not 0 <= point.utilization <= 100:
                yield f"shape[{i}].utilization: found {point.utilization}, allowed: 0 to 100"
            elif i and point.utilization <= self.shape[i - 1].utilization:
                yield f"shape[{i}].utilization: found {point.utilization}, allowed: more than in the point before"
            if not 0 <= point.score <= _MAX_SHAPE_SCORE:
                yield f"shape[{i}].score: found {point.score}, allowed: 0 to {_MAX_SHAPE_SCORE}"


class ScoringStrategy(PluginArgs, frozen=True):
    """Which strategy, and by which resources."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY
    requested_to_capacity_ratio: Ratio | None = None

    def problems(self) -> Iterable[str]:
        """Unknown type, weights out of range, a shape where none belongs or none where one does."""
        if self.type not in _TYPES:
            yield f'type: found "{self.type}", allowed: {", ".join(_TYPES)}'
        for i, resource in enumerate(self.resources):
            if not 0 <= resource.weight <= 100:
                yield f"resources[{i}].weight: found {resource.weight}, allowed: 1 to 100, or 0 for 1"
        ratio = self.requested_to_capacity_ratio
        if self.type == RATIO:
            given = Ratio() if ratio is None else ratio
            yield from (f"requestedToCapacityRatio.{problem}" for problem in given.problems())
        elif ratio is not None:
            yield f"requestedToCapacityRatio: found with type {self.type}, allowed: with {RATIO} only"


def scorer(strategy: ScoringStrategy) -> Callable[[Sequence[Usage], int], IntArray]:
    """The function that turns usages, on this many rows, into scores."""
    if strategy.type == RATIO:
        shape = strategy.requested_to_capacity_ratio
        return partial(_ratio, _score_by_percent(shape.shape if shape else ()))
    return partial(_mean, _most if strategy.type == MOST else _least)


def _least(used: Usage, capacity: IntArray) -> IntArray:
    score: IntArray = np.maximum(used.allocatable - used.after, 0) * MAX_NODE_SCORE // capacity
    return score


def _most(used: Usage, capacity: IntArray) -> IntArray:
    score: IntArray = np.minimum(used.after, used.allocatable) * MAX_NODE_SCORE // capacity
    return score


def _mean(score: Callable[[Usage, IntArray], IntArray], used: Sequence[Usage], count: int) -> IntArray:
    """The weighted mean over the resources that a node has, cut to an integer; 0 where it has none."""
    total = np.zeros(count, np.int64)
    weight = np.zeros(count, np.int64)
    for resource in used:
        # Where there is nothing of a resource its score is 0, as nothing of it is free or used.
        total += score(resource, np.maximum(resource.allocatable, 1)) * resource.weight
        weight += (resource.allocatable > 0) * resource.weight
    mean: IntArray = total // np.maximum(weight, 1)
    return mean


def _ratio(table: IntArray, used: Sequence[Usage], count: int) -> IntArray:
    """As `_mean`, but resources with a score of 0 drop out of it, and the mean is rounded half up."""
    total = np.zeros(count, np.int64)
    weight = np.zeros(count, np.int64)
    for resource in used:
        capacity = np.maximum(resource.allocatable, 1)
        percent = np.minimum(resource.after, capacity) * 100 // capacity
        score = np.where(resource.allocatable > 0, table[percent], 0)
        total += score * resource.weight
        weight += (score > 0) * resource.weight
    divisor = np.maximum(weight, 1)
    rounded: IntArray = (2 * total + divisor) // (2 * divisor)
    return rounded


def _score_by_percent(shape: Sequence[ShapePoint]) -> IntArray:
    """The score of every utilization from 0 to 100; slopes are cut towards zero, as Go divides integers."""
    scale = MAX_NODE_SCORE // _MAX_SHAPE_SCORE
    points = [(point.utilization, point.score * scale) for point in shape]

    def score(percent: int) -> int:
        left = points[0]
        for right in points:
            if percent <= right[0]:
                if right is left:
                    return right[1]
                rise = (right[1] - left[1]) * (percent - left[0])
                run = right[0] - left[0]
                return left[1] + (rise // run if rise >= 0 else -(-rise // run))
            left = right
        return left[1]

    return np.array([score(percent) for percent in range(101)], np.int64)
