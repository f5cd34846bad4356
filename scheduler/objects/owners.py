"""Services and the controllers of pods: JSON to what default spreading reads of them, their selectors."""

from scheduler.api import ApiObject, ReplicaSet, ReplicationController, Service, StatefulSet
from scheduler.matching import LabelSelector
from scheduler.objects import wire
from scheduler.objects.decoder import ObjectDecoder
from scheduler.objects.selectors import label_selector


def services() -> ObjectDecoder[wire.Selecting, ApiObject]:
    """A decoder of services."""
    return ObjectDecoder(wire.Selecting, lambda read: Service(*_head(read), selector=read.spec.selector))


def replication_controllers() -> ObjectDecoder[wire.Selecting, ApiObject]:
    """A decoder of replication controllers."""
    return ObjectDecoder(wire.Selecting, lambda read: ReplicationController(*_head(read), selector=read.spec.selector))


def replica_sets() -> ObjectDecoder[wire.SelectingByTerms, ApiObject]:
    """A decoder of replica sets."""
    return ObjectDecoder(wire.SelectingByTerms, lambda read: ReplicaSet(*_head(read), selector=_selector(read)))


def stateful_sets() -> ObjectDecoder[wire.SelectingByTerms, ApiObject]:
    """A decoder of stateful sets."""
    return ObjectDecoder(wire.SelectingByTerms, lambda read: StatefulSet(*_head(read), selector=_selector(read)))


def _head(read: wire.Selecting | wire.SelectingByTerms) -> tuple[str, str, str, str, dict[str, str]]:
    meta = read.metadata
    return meta.uid, meta.namespace, meta.name, meta.resource_version, meta.labels or {}


def _selector(read: wire.SelectingByTerms) -> LabelSelector | None:
    """The API server refuses what cannot be understood here."""
    try:
        return label_selector(read.spec.selector, "spec.selector")
    except ValueError:
        return None
