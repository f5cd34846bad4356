"""Whom to ask about a pod, and what must be kept of pods and nodes so that they can be shown."""

from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from scheduler.config import Configuration, Extender
from scheduler.framework import PodInfo
from scheduler.objects import Manifests


class Resources(msgspec.Struct):
    """resources; the amounts do not matter."""

    requests: dict[str, msgspec.Raw] | None = None
    limits: dict[str, msgspec.Raw] | None = None


class Container(msgspec.Struct):
    """A container, of whatever kind."""

    resources: Resources | None = None


class Spec(msgspec.Struct, rename="camel"):
    """spec."""

    containers: list[Container] | None = None
    init_containers: list[Container] | None = None


class Pod(msgspec.Struct):
    """What interest depends on."""

    spec: Spec


_POD = msgspec.json.Decoder(Pod)


def interested(extenders: Sequence[Extender], pod: PodInfo) -> tuple[Extender, ...]:
    """Those that want to be asked: all that manage no resources, and those that manage one a container requests or limits."""
    if not extenders:
        return ()
    wanted = _resource_names(pod.manifest) if any(extender.managed_resources for extender in extenders) else frozenset()
    return tuple(e for e in extenders if not e.managed_resources or e.managed_resources & wanted)


def consults(extender: Extender) -> bool:
    """Whether it is asked anything before a node is chosen."""
    return bool(extender.filter_verb or extender.prioritize_verb or extender.preempt_verb)


def consulted_on_all(extenders: Iterable[Extender]) -> bool:
    """Whether every pod has to be asked about."""
    return any(consults(extender) and not extender.managed_resources for extender in extenders)


def manifests(configuration: Configuration) -> Manifests:
    """Pods to be placed are always shown whole; nodes, and pods that might be evicted, to extenders that have no cache."""
    uncached = [extender for extender in configuration.extenders if not extender.node_cache_capable]
    names = (profile.scheduler_name for profile in configuration.profiles)
    return Manifests(
        waiting=frozenset(names if configuration.extenders else ()),
        bound=any(extender.preempt_verb for extender in uncached),
        nodes=any(extender.filter_verb or extender.prioritize_verb for extender in uncached),
    )


def _resource_names(manifest: bytes) -> frozenset[str]:
    spec = _POD.decode(manifest).spec
    found: set[str] = set()
    for container in chain(spec.containers or (), spec.init_containers or ()):
        if container.resources is not None:
            found.update(container.resources.requests or (), container.resources.limits or ())
    return frozenset(found)
