"""What a pod says about other pods: affinity terms and spread constraints, JSON to values; and who made the pod."""

from collections.abc import Iterable

from scheduler.api import Kind
from scheduler.framework import Controller, PodAffinityTerm, PreferredPodTerm, SpreadConstraint
from scheduler.objects import wire
from scheduler.objects.selectors import label_selector

_ANYWAY = "ScheduleAnyway"
_HARD = "DoNotSchedule"
_HONOR, _IGNORE = "Honor", "Ignore"
_CONTROLLERS = {
    ("v1", "ReplicationController"): Kind.REPLICATION_CONTROLLER,
    ("apps/v1", "ReplicaSet"): Kind.REPLICA_SET,
    ("apps/v1", "StatefulSet"): Kind.STATEFUL_SET,
}


def required_terms(read: wire.PodAffinity | None, path: str) -> tuple[PodAffinityTerm, ...]:
    """Terms that must hold. Raises ValueError naming the path of what cannot be understood."""
    return tuple(_term(term, f"{path}.required") for term in (read.required if read else None) or ())


def preferred_terms(read: wire.PodAffinity | None, path: str) -> tuple[PreferredPodTerm, ...]:
    """Terms with a weight. Raises ValueError as above."""
    terms = (read.preferred if read else None) or ()
    return tuple(PreferredPodTerm(t.weight, _term(t.pod_affinity_term, f"{path}.preferred")) for t in terms)


def spread_constraints(read: Iterable[wire.SpreadConstraint]) -> tuple[SpreadConstraint, ...]:
    """Topology spread constraints. Raises ValueError naming the path of what cannot be understood."""
    return tuple(_constraint(constraint, f"spec.topologySpreadConstraints[{i}]") for i, constraint in enumerate(read))


def controller_of(owners: Iterable[wire.OwnerReference] | None) -> Controller | None:
    """The controller among the owners, if it is one whose selector matters for spreading."""
    for owner in owners or ():
        if owner.controller:
            kind = _CONTROLLERS.get((owner.api_version, owner.kind))
            return None if kind is None else Controller(kind, owner.name)
    return None


def _term(read: wire.PodAffinityTerm, path: str) -> PodAffinityTerm:
    return PodAffinityTerm(
        read.topology_key,
        label_selector(read.label_selector, f"{path}.labelSelector"),
        frozenset(read.namespaces or ()),
        label_selector(read.namespace_selector, f"{path}.namespaceSelector"),
        not read.namespaces and read.namespace_selector is None,
    )


def _constraint(read: wire.SpreadConstraint, path: str) -> SpreadConstraint:
    return SpreadConstraint(
        read.topology_key,
        read.max_skew,
        _one_of(read.when_unsatisfiable, (_HARD, _ANYWAY), f"{path}.whenUnsatisfiable") == _HARD,
        label_selector(read.label_selector, f"{path}.labelSelector"),
        1 if read.min_domains is None else read.min_domains,
        _one_of(read.node_affinity_policy or _HONOR, (_HONOR, _IGNORE), f"{path}.nodeAffinityPolicy") == _HONOR,
        _one_of(read.node_taints_policy or _IGNORE, (_HONOR, _IGNORE), f"{path}.nodeTaintsPolicy") == _HONOR,
        tuple(read.match_label_keys or ()),
    )


def _one_of(found: str, allowed: tuple[str, ...], path: str) -> str:
    if found not in allowed:
        raise ValueError(f"{path}: found {found!r}, allowed: {', '.join(allowed)}")
    return found
