"""Pod disruption budgets: JSON to `PodDisruptionBudget`."""

from scheduler.api import ApiObject, PodDisruptionBudget
from scheduler.matching import LabelSelector
from scheduler.objects import wire
from scheduler.objects.decoder import ObjectDecoder
from scheduler.objects.selectors import label_selector


def budgets() -> ObjectDecoder[wire.PodDisruptionBudget, ApiObject]:
    """A decoder of budgets."""
    return ObjectDecoder(wire.PodDisruptionBudget, _budget)


def _budget(read: wire.PodDisruptionBudget) -> PodDisruptionBudget:
    meta, status = read.metadata, read.status
    return PodDisruptionBudget(
        meta.uid,
        meta.namespace,
        meta.name,
        meta.resource_version,
        meta.labels or {},
        selector=_selector(read.spec.selector),
        disruptions_allowed=status.disruptions_allowed,
        disrupted=frozenset(status.disrupted_pods or ()),
    )


def _selector(read: wire.LabelSelector | None) -> LabelSelector | None:
    """The API server refuses what cannot be understood here."""
    try:
        return label_selector(read, "spec.selector")
    except ValueError:
        return None
