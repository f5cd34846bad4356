"""What the scores of node resources share: the resources argument, and usage with and without the pod."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from plugins.resource_names import NATIVE, is_scalar
from scheduler.framework import CPU, MEMORY, IntArray, NodeRows, PluginArgs, PodInfo, PodSpec

_INT64_MAX = 2**63 - 1


class ResourceSpec(PluginArgs, frozen=True):
    """A resource to score by; weight 0 means 1."""

    name: str
    weight: int = 1


CPU_AND_MEMORY = (ResourceSpec(CPU), ResourceSpec(MEMORY))


def effective_weights(resources: Iterable[ResourceSpec]) -> tuple[ResourceSpec, ...]:
    """The resources with their effective weights; cpu and memory alike if none are given."""
    return tuple(ResourceSpec(r.name, r.weight or 1) for r in resources) or CPU_AND_MEMORY


class Usage(NamedTuple):
    """One resource on each row: what there is, what is requested without the pod and with it; and its weight."""

    allocatable: IntArray
    before: IntArray
    after: IntArray
    weight: int


def requested_amount(spec: PodSpec, resource: str, *, with_defaults: bool) -> int:
    """What a pod asks for; with the defaults that stand in for containers that ask for no cpu or memory, if wanted."""
    requests = spec.requests
    if with_defaults and resource in (CPU, MEMORY):
        amount = requests.nonzero_cpu if resource == CPU else requests.nonzero_memory
    else:
        amount = requests.amounts.get(resource, 0)
    return min(amount, _INT64_MAX)


def usages(pod: PodInfo, rows: NodeRows, resources: Sequence[ResourceSpec], *, with_defaults: bool) -> list[Usage]:
    """The resources that count: the native ones always, others if the pod asks for them (allocatable may still be 0)."""
    requested = rows.nonzero_requested if with_defaults else rows.requested
    counted: list[Usage] = []
    for spec in resources:
        amount = requested_amount(pod.spec, spec.name, with_defaults=with_defaults)
        if spec.name in NATIVE or (amount and is_scalar(spec.name)):
            before = requested(spec.name)
            # Neither term is negative, and the sum stops at the largest int64.
            after = np.minimum(before, _INT64_MAX - amount) + amount
            counted.append(Usage(rows.allocatable(spec.name), before, after, spec.weight))
    return counted
