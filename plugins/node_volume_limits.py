"""NodeVolumeLimits: a CSI driver can attach so many volumes to a node, and says so in the node's CSINode.

A volume counts once per node, by driver and handle: those of the pods on the node, and those that are attached to it. A claim
without a volume yet counts as one of its class's driver. Where no limit is known there is none.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from plugins.claims import claim_not_found, not_its_owner, uses_claim
from plugins.csi_migration import driver_of, handle_of, migration_of
from scheduler.api import (
    ApiObject,
    CsiNode,
    Disk,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler.framework import (
    SKIP,
    Action,
    ClaimVolume,
    CycleState,
    EphemeralVolume,
    EventRegistration,
    EventResource,
    NodeRows,
    PodInfo,
    PodVolume,
    PreFilter,
    PreFilterResult,
    RowFilter,
    RowVerdicts,
    Status,
    error,
    unresolvable,
    unschedulable,
)

REASON = "node(s) exceed max volume count"

CsiName = tuple[str, str]
"""Driver and handle of a volume; the handle of a claim without a volume is the claim itself."""


class NodeVolumeLimits(PreFilter, RowFilter):
    """Refuses nodes to which the pod's volumes cannot be attached any more. A pod that is evicted takes its volumes along."""

    name: ClassVar[str] = "NodeVolumeLimits"
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset(
        {CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment}
    )

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:  # noqa: ARG002
        """Skips pods without volumes that could be attached."""
        return PreFilterResult() if any(map(_may_be_attached, pod.spec.volumes)) else PreFilterResult(SKIP)

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """Refused where one driver has more to attach than it can. Only where there may be too much, volumes are counted."""
        wanted = self._of_pod(pod)
        full = np.zeros(len(rows), np.bool_)
        if isinstance(wanted, Status):
            return RowVerdicts.failing(~full, wanted)
        per_driver = Counter(driver for driver, _ in wanted)
        if per_driver:
            limits = self._limits(per_driver.keys())
            attached = self._attached(per_driver.keys()) if limits else {}
            in_use = rows.volumes_in_use().tolist()
            for position, name in enumerate(rows.names() if limits else ()):
                known = limits.get(name)
                if known is None:
                    continue
                present = attached.get(name, frozenset())
                most = in_use[position] + len(present)
                if any(most + per_driver[driver] > limit for driver, limit in known):
                    full[position] = self._exceeds(rows, position, wanted, known, present)
        return RowVerdicts.failing(full, unschedulable(REASON))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """More that can be attached, pods that go, attachments that end, and a claim of the pod that is created."""
        return (
            EventRegistration(EventResource.CSI_NODE, Action.ADD),
            EventRegistration(EventResource.CSI_NODE, Action.UPDATE, _can_attach_more),
            EventRegistration(EventResource.ASSIGNED_POD, Action.DELETE, _detaches),
            EventRegistration(EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD, _is_claimed),
            EventRegistration(EventResource.VOLUME_ATTACHMENT, Action.DELETE, _frees_a_slot),
        )

    def _of_pod(self, pod: PodInfo) -> set[CsiName] | Status:
        """What would have to be attached for the pod."""
        wanted = set()
        for name, made_for_it in pod.claims():
            claim = self.handle.find(PersistentVolumeClaim, pod.namespace, name)
            if claim is None:
                (reason,) = claim_not_found(name).reasons
                return unresolvable(f"looking up PVC {pod.namespace}/{name}: {reason}")
            problem = not_its_owner(pod, claim) if made_for_it else None
            if problem is not None:
                return error(problem)
            wanted.add(self._of_claim(claim))
        wanted.update(_of_disk(volume) for volume in pod.spec.volumes if isinstance(volume, Disk))
        return {named for named in wanted if named is not None}

    def _exceeds(
        self,
        rows: NodeRows,
        position: int,
        wanted: set[CsiName],
        limits: Iterable[tuple[str, int]],
        present: frozenset[CsiName],
    ) -> bool:
        used: set[CsiName | None] = set()
        for namespace, name in rows.claims_at(position):
            claim = self.handle.find(PersistentVolumeClaim, namespace, name)
            if claim is not None:
                used.add(self._of_claim(claim))
        used.update(map(_of_disk, rows.disks_at(position)))
        # An attached volume that no pod on the node uses takes room for itself, even if the pod wants it (kube-scheduler).
        used_by_driver = Counter(named[0] for named in used | present if named is not None)
        new_by_driver = Counter(driver for driver, _ in wanted - used)
        return any(new and used_by_driver[d] + new > limit for d, limit in limits if (new := new_by_driver[d]))

    def _of_claim(self, claim: PersistentVolumeClaim) -> CsiName | None:
        """None for what no CSI driver attaches."""
        volume = self.handle.find(PersistentVolume, "", claim.volume_name) if claim.volume_name else None
        if volume is not None:
            if volume.csi_driver:
                return (volume.csi_driver, volume.csi_handle) if volume.csi_handle else None
            return None if volume.disk is None else _of_disk(volume.disk, volume)
        storage_class = self.handle.find(StorageClass, "", claim.storage_class) if claim.storage_class else None
        driver = driver_of(storage_class.provisioner) if storage_class is not None else ""
        return (driver, f"claim {claim.namespace}/{claim.name}") if driver else None

    def _limits(self, drivers: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
        """By node: the limits of these drivers, where there are any."""
        wanted = list(drivers)
        limits = {}
        for csi_node in self.handle.all(CsiNode):
            known = [(driver, csi_node.limits[driver]) for driver in wanted if driver in csi_node.limits]
            if known:
                limits[csi_node.name] = known
        return limits

    def _attached(self, drivers: Iterable[str]) -> Mapping[str, frozenset[CsiName]]:
        """By node: what is attached by these drivers."""
        wanted = set(drivers)
        attached: dict[str, set[CsiName]] = {}
        for attachment in self.handle.all(VolumeAttachment):
            if attachment.attacher not in wanted or not attachment.volume_name:
                continue
            volume = self.handle.find(PersistentVolume, "", attachment.volume_name)
            if volume is not None and volume.csi_driver:
                attached.setdefault(attachment.node_name, set()).add((attachment.attacher, volume.csi_handle))
        return {node: frozenset(names) for node, names in attached.items()}


def _of_disk(disk: Disk, volume: PersistentVolume | None = None) -> CsiName | None:
    migration = migration_of(disk)
    handle = handle_of(disk, volume.labels if volume is not None else {}) if migration is not None else ""
    return (migration.driver, handle) if migration is not None and handle else None


def _may_be_attached(volume: PodVolume) -> bool:
    if isinstance(volume, Disk):
        return migration_of(volume) is not None
    return isinstance(volume, ClaimVolume | EphemeralVolume)


def _can_attach_more(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    if not isinstance(old, CsiNode) or not isinstance(new, CsiNode):
        return True
    return any(limit > old.limits.get(driver, 0) for driver, limit in new.limits.items())


def _detaches(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    return not isinstance(old, PodInfo) or any(map(_may_be_attached, old.spec.volumes))


def _is_claimed(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    return isinstance(new, PersistentVolumeClaim) and uses_claim(pod, new, ephemeral=True)


def _frees_a_slot(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    if not isinstance(old, VolumeAttachment) or any(pod.claims()):
        return True
    disks = (migration_of(volume) for volume in pod.spec.volumes if isinstance(volume, Disk))
    return any(migration is not None and migration.driver == old.attacher for migration in disks)
