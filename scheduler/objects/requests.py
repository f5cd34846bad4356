"""What a pod asks for and what it takes (kube-scheduler 1.36: component-helpers resource.PodRequests).

Containers are summed; init containers run one after another, each beside the sidecars declared before it, and the larger of
both phases counts; pod-level requests replace the result for their resource; overhead is added last (KEP-753, 2837, 688).
"""

from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, Decimal

from scheduler.framework import CPU, MEMORY, Resources
from scheduler.matching import quantity
from scheduler.objects import wire

# What a container without a request counts as in scoring (kube-scheduler's DefaultMilliCPURequest, DefaultMemoryRequest).
_DEFAULTS = {CPU: Decimal("0.1"), MEMORY: Decimal(200 * 2**20)}

Amounts = dict[str, Decimal]
Requests = Callable[[wire.Container], Amounts]


class UnreadableError(ValueError):
    """A value of an object that cannot be understood; the text names its path."""


def amounts(quantities: wire.Quantities | None, path: str) -> Amounts:
    """Quantities as exact numbers."""
    read: Amounts = {}
    for resource, text in (quantities or {}).items():
        try:
            read[resource] = quantity(str(text))
        except ValueError as error:
            raise UnreadableError(f"{path}[{resource}]: {error}") from error
    return read


def integers(total: Amounts) -> dict[str, int]:
    """Sums as integers, rounded up: thousandths for cpu, whole units for the rest; zeros are left out."""
    return {
        resource: _rounded_up(amount * 1000 if resource == CPU else amount)
        for resource, amount in total.items()
        if amount
    }


def _rounded_up(amount: Decimal) -> int:
    return int(amount.to_integral_value(ROUND_CEILING))


def pod_requests(spec: wire.PodSpec) -> Resources:
    """The requests of a pod that is to be placed; from the spec only."""
    return _resources(spec, _pod_level(spec), container_requests)


def pod_usage(pod: wire.Pod, asked: Resources) -> Resources:
    """What a pod takes on its node: more than it asks for while a resize is under way (KEP-1287).

    Per container the largest of spec, allocated and actual counts; if the resize is infeasible the spec does not.
    """
    statuses = {s.name: s for s in pod.status.container_statuses or () if s.resources is not None}
    statuses |= {s.name: s for s in pod.status.init_container_statuses or () if s.resources is not None}
    if not statuses and pod.status.resources is None:
        return asked
    infeasible = any(
        c.type == "PodResizePending" and c.status == "True" and c.reason == "Infeasible"
        for c in pod.status.conditions or ()
    )

    def in_use(container: wire.Container) -> Amounts:
        wanted = container_requests(container)
        status = statuses.get(container.name)
        return wanted if status is None else _largest(wanted, _of_status(status), infeasible=infeasible)

    level = _pod_level(pod.spec)
    if level and pod.status.resources is not None:
        in_effect = _largest(level, _of_status(pod.status), infeasible=infeasible)
        level = {resource: in_effect.get(resource, Decimal(0)) for resource in level}
    usage = _resources(pod.spec, level, in_use)
    return asked if usage == asked else usage


def container_requests(container: wire.Container) -> Amounts:
    """What one container asks for."""
    quantities = container.resources.requests if container.resources else None
    return amounts(quantities, f"spec.containers[{container.name}].resources.requests")


def is_sidecar(container: wire.Container) -> bool:
    """Whether an init container keeps running beside the others (KEP-753)."""
    return container.restart_policy == "Always"


def _aggregate(spec: wire.PodSpec, requests: Requests) -> Amounts:
    steady: Amounts = {}
    for container in spec.containers or ():
        _add(steady, requests(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.init_containers or ():
        if is_sidecar(container):
            wanted = requests(container)
            _add(steady, wanted)
            _add(sidecars, wanted)
            beside = dict(sidecars)
        else:
            # An init container has ended before the pod is resized, so its spec alone counts.
            beside = dict(requests(container))
            _add(beside, sidecars)
        _raise_to(peak, beside)
    _raise_to(steady, peak)
    return steady


def _resources(spec: wire.PodSpec, level: Amounts, requests: Requests) -> Resources:
    overhead = amounts(spec.overhead, "spec.overhead")
    total = {**_aggregate(spec, requests), **level}
    _add(total, overhead)

    def with_defaults(container: wire.Container) -> Amounts:
        own = requests(container)
        return {r: own.get(r, Decimal(0) if r in level else default) for r, default in _DEFAULTS.items()}

    nonzero = {**_aggregate(spec, with_defaults), **{r: a for r, a in level.items() if r in _DEFAULTS}}
    _add(nonzero, {r: a for r, a in overhead.items() if r in _DEFAULTS})
    rounded = integers(nonzero)
    return Resources(integers(total), rounded.get(CPU, 0), rounded.get(MEMORY, 0))


def _pod_level(spec: wire.PodSpec) -> Amounts:
    """spec.resources.requests, which may be set for these resources only."""
    level = amounts(spec.resources.requests if spec.resources else None, "spec.resources.requests")
    return {r: amount for r, amount in level.items() if r in _DEFAULTS or r.startswith("hugepages-")}


def _of_status(status: wire.ContainerStatus | wire.PodStatus) -> Amounts:
    actual = amounts(status.resources.requests if status.resources else None, "status.resources.requests")
    _raise_to(actual, amounts(status.allocated_resources, "status.allocatedResources"))
    return actual


def _largest(wanted: Amounts, present: Amounts, *, infeasible: bool) -> Amounts:
    """An infeasible resize will not be carried out, so what it wants does not count."""
    if infeasible and present:
        return present
    largest = dict(wanted)
    _raise_to(largest, present)
    return largest


def _add(total: Amounts, more: Amounts) -> None:
    for resource, amount in more.items():
        total[resource] = total.get(resource, Decimal(0)) + amount


def _raise_to(total: Amounts, other: Amounts) -> None:
    for resource, amount in other.items():
        total[resource] = max(total.get(resource, Decimal(0)), amount)


def names_of(containers: Iterable[wire.Container] | None) -> list[str]:
    """Image names as nodes list them: with the tag `latest` where neither tag nor digest is given."""
    return [_normalized(container.image) for container in containers or () if container.image]


def _normalized(image: str) -> str:
    # A colon after the last slash is a tag; one before it belongs to a registry's port.
    return image if ":" in image.rpartition("/")[2] or "@" in image else f"{image}:latest"
