"""VolumeRestrictions: disks that one node cannot share among pods, and claims that one pod may use at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plugins.claims import claim_not_found, uses_claim
from scheduler.api import ApiObject, Disk, PersistentVolumeClaim
from scheduler.framework import (
    SKIP,
    Action,
    ClaimVolume,
    CycleState,
    EventRegistration,
    EventResource,
    NodeRows,
    PodInfo,
    PodTemplate,
    PreFilter,
    PreFilterResult,
    RowFilter,
    RowVerdicts,
    Status,
    unschedulable,
)

REASON_DISK = "node(s) had no available disk"
REASON_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_READ_WRITE_ONCE_POD = "ReadWriteOncePod"


@dataclass(frozen=True, slots=True)
class Exclusive:
    """The claims of a pod that no other pod may use."""

    claims: tuple[str, ...]


class VolumeRestrictions(PreFilter, RowFilter):
    """Refuses nodes with a conflicting disk, and all nodes while another pod of the cluster uses a ReadWriteOncePod claim. Both
    go with a pod that is evicted.
    """

    name: ClassVar[str] = "VolumeRestrictions"
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset({PersistentVolumeClaim})

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        """Skips pods with nothing that cannot be shared; refuses those that use a claim which is not there."""
        exclusive = self._exclusive(pod)
        if isinstance(exclusive, Status):
            return PreFilterResult(exclusive)
        if not exclusive.claims and not _disks(pod):
            return PreFilterResult(SKIP)
        state.put(exclusive)
        return PreFilterResult()

    def indifferent(self, template: PodTemplate) -> bool:
        """Pods without claims and disks."""
        return not any(isinstance(volume, ClaimVolume | Disk) for volume in template.spec.volumes)

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:
        """A disk in use is named before a claim in use."""
        exclusive = state.get(Exclusive) or self._exclusive(pod)
        if isinstance(exclusive, Status):
            return RowVerdicts.failing(np.ones(len(rows), np.bool_), exclusive)
        codes = np.zeros(len(rows), np.int16)
        for claim in exclusive.claims:
            codes[rows.claim_users(pod.namespace, claim) > 0] = 2
        codes[rows.disk_conflicts(_disks(pod))] = 1
        return RowVerdicts(codes, (unschedulable(REASON_DISK), unschedulable(REASON_IN_USE)))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A pod that goes and leaves a disk or claim, new nodes, and a claim of the pod that is created."""
        return (
            EventRegistration(EventResource.ASSIGNED_POD, Action.DELETE, _leaves_a_volume),
            EventRegistration(EventResource.NODE, Action.ADD),
            EventRegistration(EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD, _is_claimed),
        )

    def _exclusive(self, pod: PodInfo) -> Exclusive | Status:
        names = dict.fromkeys(volume.claim for volume in pod.spec.volumes if isinstance(volume, ClaimVolume))
        claims = []
        for name in names:
            claim = self.handle.find(PersistentVolumeClaim, pod.namespace, name)
            if claim is None:
                return claim_not_found(name)
            if _READ_WRITE_ONCE_POD in claim.access_modes:
                claims.append(name)
        return Exclusive(tuple(claims))


def _disks(pod: PodInfo) -> list[Disk]:
    return [volume for volume in pod.spec.volumes if isinstance(volume, Disk)]


def _is_claimed(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    return isinstance(new, PersistentVolumeClaim) and uses_claim(pod, new, ephemeral=False)


def _leaves_a_volume(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    """Disks are the same in every namespace, claims are not."""
    if not isinstance(old, PodInfo):
        return True
    if any(disk.conflicts(freed) for disk in _disks(pod) for freed in _disks(old)):
        return True
    wanted = {name for name, made_for_it in pod.claims() if not made_for_it}
    return old.namespace == pod.namespace and any(name in wanted for name, _ in old.claims())
