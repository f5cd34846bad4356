"""NodeResourcesBalancedAllocation: prefers nodes whose resources the pod brings closer to being used alike."""

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from plugins.resource_scoring import CPU_AND_MEMORY, ResourceSpec, effective_weights, requested_amount, usages
from scheduler.framework import (
    MAX_NODE_SCORE,
    SKIP,
    SUCCESS,
    BoolArray,
    CycleState,
    Facet,
    Handle,
    IntArray,
    NodeRows,
    PluginArgs,
    PodInfo,
    PodTemplate,
    PreScore,
    RowScore,
    Status,
)

Fractions = NDArray[np.float64]


class BalancedAllocationArgs(PluginArgs, frozen=True):
    """The resources to balance; all weigh the same."""

    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY

    def problems(self) -> Iterable[str]:
        """Weights other than 1, and resources named twice."""
        names = [resource.name for resource in self.resources]
        for i, resource in enumerate(self.resources):
            if resource.name in names[:i]:
                yield f'resources[{i}].name: found "{resource.name}" again, allowed: once'
            if resource.weight not in (0, 1):
                yield f"resources[{i}].weight: found {resource.weight}, allowed: 1"


class NodeResourcesBalancedAllocation(PreScore, RowScore):
    """How much the pod evens out the use of a node's resources: 75 where it makes no difference, from 50 up to 100.

    The formula is that of 1.36 (kubernetes #135573). Fractions are floats, as there; amounts are not.
    """

    name: ClassVar[str] = "NodeResourcesBalancedAllocation"
    Args: ClassVar[type[PluginArgs]] = BalancedAllocationArgs
    facets: ClassVar[Facet] = Facet.AMOUNTS

    def __init__(self, args: BalancedAllocationArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._resources = effective_weights(args.resources)

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:  # noqa: ARG002
        """Skips pods that request none of the resources, which would all end up on the same node (kubernetes #129138)."""
        return SUCCESS if self._requests_any(pod.template) else SKIP

    def indifferent(self, template: PodTemplate) -> bool:
        """Pods that request none of the resources."""
        return not self._requests_any(template)

    def row_key(self, template: PodTemplate) -> Hashable | None:
        """What is requested of the resources that are balanced."""
        return tuple(requested_amount(template.spec, spec.name, with_defaults=False) for spec in self._resources)

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:  # noqa: ARG002
        """50 to 100; 0 for a pod that PreScore would have skipped."""
        if not self._requests_any(pod.template):
            return np.zeros(len(rows), np.int64)
        used = usages(pod, rows, self._resources, with_defaults=False)
        capacity = [np.maximum(resource.allocatable, 1) for resource in used]
        there = [resource.allocatable > 0 for resource in used]
        with_pod = _balance([np.minimum(u.after / c, 1.0) for u, c in zip(used, capacity, strict=True)], there)
        without = _balance([np.minimum(u.before / c, 1.0) for u, c in zip(used, capacity, strict=True)], there)
        half = MAX_NODE_SCORE // 2
        return half + (half + with_pod - without) // 2

    def _requests_any(self, template: PodTemplate) -> bool:
        return any(requested_amount(template.spec, spec.name, with_defaults=False) for spec in self._resources)


def _balance(fractions: Sequence[Fractions], there: Sequence[BoolArray]) -> IntArray:
    """100 where all resources of a node are used to the same part, less the further apart they are."""
    deviation = _deviation_of_two(fractions, there) if len(fractions) == 2 else _deviation(fractions, there)
    balance = (1 - deviation) * MAX_NODE_SCORE
    return balance.astype(np.int64)


def _deviation_of_two(fractions: Sequence[Fractions], there: Sequence[BoolArray]) -> Fractions:
    """The standard deviation of two numbers, by the short formula; 0 where a node has not both resources."""
    deviation: Fractions = np.abs(fractions[0] - fractions[1]) / 2 * (there[0] & there[1])
    return deviation


def _deviation(fractions: Sequence[Fractions], there: Sequence[BoolArray]) -> Fractions:
    """The standard deviation over the resources that a node has; 0 for fewer than two.

    Two are taken by the short formula and more are summed in the order given, so that floats round as kube-scheduler's do.
    """
    number = np.sum(there, axis=0)
    lowest = np.full(number.shape, np.inf)
    highest = np.full(number.shape, -np.inf)
    for fraction, has in zip(fractions, there, strict=True):
        lowest = np.minimum(lowest, np.where(has, fraction, np.inf))
        highest = np.maximum(highest, np.where(has, fraction, -np.inf))
    of_two = np.where(number < 2, 0.0, (highest - lowest) / 2)
    deviation: Fractions = np.where(number > 2, _deviation_of_many(fractions, there, np.maximum(number, 1)), of_two)
    return deviation


def _deviation_of_many(fractions: Sequence[Fractions], there: Sequence[BoolArray], number: IntArray) -> Fractions:
    total = np.zeros(len(number), np.float64)
    for fraction, has in zip(fractions, there, strict=True):
        total += np.where(has, fraction, 0.0)
    mean = total / number
    squares = np.zeros(len(number), np.float64)
    for fraction, has in zip(fractions, there, strict=True):
        squares += np.where(has, (fraction - mean) * (fraction - mean), 0.0)
    deviation: Fractions = np.sqrt(squares / number)
    return deviation
