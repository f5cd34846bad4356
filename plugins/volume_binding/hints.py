"""What may help a pod that was refused for its volumes."""

from collections.abc import Sequence

from plugins.claims import uses_claim
from scheduler.api import CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolumeClaim, StorageClass
from scheduler.framework import Action, CsiVolume, EventRegistration, EventResource, PodInfo


def _other_topologies(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    """A new class may be the one that was missing; of an old one only the allowed topologies may change for the better."""
    if not isinstance(old, StorageClass) or not isinstance(new, StorageClass):
        return True
    return old.allowed_topologies != new.allowed_topologies


def _is_claimed(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    return isinstance(new, PersistentVolumeClaim) and uses_claim(pod, new, ephemeral=True)


def _migrated(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    if not isinstance(old, CsiNode) or not isinstance(new, CsiNode):
        return True
    return old.migrated_plugins != new.migrated_plugins


def _tells_no_more(pod: PodInfo, old: object, new: object) -> bool:
    """A driver that stops telling how much room it has is not asked any more."""
    if not isinstance(old, CsiDriver) or not isinstance(new, CsiDriver):
        return True
    if not old.storage_capacity or new.storage_capacity:
        return False
    # Claims are not asked for their driver: it may be that of any.
    return any(pod.claims()) or any(isinstance(v, CsiVolume) and v.driver == new.name for v in pod.spec.volumes)


def _has_grown(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    if not isinstance(old, CsiStorageCapacity) or not isinstance(new, CsiStorageCapacity):
        return True
    return new.limit is not None and (old.limit is None or new.limit > old.limit)


_EITHER = Action.ADD | Action.UPDATE

REGISTRATIONS: Sequence[EventRegistration] = (
    EventRegistration(EventResource.STORAGE_CLASS, _EITHER, _other_topologies),
    EventRegistration(EventResource.PERSISTENT_VOLUME_CLAIM, _EITHER, _is_claimed),
    EventRegistration(EventResource.PERSISTENT_VOLUME, _EITHER),
    EventRegistration(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
    EventRegistration(EventResource.CSI_NODE, _EITHER, _migrated),
    EventRegistration(EventResource.CSI_DRIVER, Action.UPDATE, _tells_no_more),
    EventRegistration(EventResource.CSI_STORAGE_CAPACITY, _EITHER, _has_grown),
)
