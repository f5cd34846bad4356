"""NodeVolumeLimits: a CSI driver can attach so many volumes to a node, and says so in the node's CSINode.

A volume counts once per node, by driver and handle: those of the pods on the node, and those that are attached to it. A claim
without a volume yet counts as one of its class's driver. Where no limit is known there is none.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from plugins.attached_volumes import AttachedVolumes, CsiName, name_of_disk
from plugins.claims import claim_not_found, not_its_owner, uses_claim
from plugins.csi_migration import migration_of
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
    Handle,
    NodeRows,
    PluginArgs,
    PodInfo,
    PodTemplate,
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


class NodeVolumeLimits(PreFilter, RowFilter):
    """Refuses nodes to which the pod's volumes cannot be attached any more. A pod that is evicted takes its volumes along."""

    name: ClassVar[str] = "NodeVolumeLimits"
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset(
        {CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment}
    )

    def __init__(self, args: PluginArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._attached = AttachedVolumes(handle)
        self._limits = Limits(handle)

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:  # noqa: ARG002
        """Skips pods without volumes that could be attached."""
        return PreFilterResult(SKIP) if self.indifferent(pod.template) else PreFilterResult()

    def indifferent(self, template: PodTemplate) -> bool:
        """Pods without volumes that could be attached."""
        return not any(map(_may_be_attached, template.spec.volumes))

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """Refused where one driver would have more to attach than it can."""
        full = np.zeros(len(rows), np.bool_)
        self._attached.refresh()
        wanted = self._wanted(pod)
        if isinstance(wanted, Status):
            return RowVerdicts.failing(~full, wanted)
        names, generations = rows.names(), rows.generations().tolist()
        for driver, more in Counter(driver for driver, _ in wanted).items():
            limits = self._limits.of(driver)
            for position, name in enumerate(names if limits else ()):
                limit = limits.get(name)
                if limit is None:
                    continue
                attached = self._attached.on(rows, position, name, generations[position])
                count = attached.by_driver.get(driver, 0)
                if count + more > limit:
                    new = sum(named[0] == driver for named in wanted - attached.used)
                    # What is attached already takes room, even if it is what the pod wants (kube-scheduler).
                    full[position] |= new > 0 and count + new > limit
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

    def _wanted(self, pod: PodInfo) -> set[CsiName] | Status:
        """What would have to be attached for the pod."""
        wanted: set[CsiName | None] = {name_of_disk(v) for v in pod.spec.volumes if isinstance(v, Disk)}
        for name, made_for_it in pod.claims():
            claim = self.handle.find(PersistentVolumeClaim, pod.namespace, name)
            if claim is None:
                (reason,) = claim_not_found(name).reasons
                return unresolvable(f"looking up PVC {pod.namespace}/{name}: {reason}")
            problem = not_its_owner(pod, claim) if made_for_it else None
            if problem is not None:
                return error(problem)
            wanted.add(self._attached.name_of((pod.namespace, name)))
        return {named for named in wanted if named is not None}


class Limits:
    """By driver and node how many volumes can be attached, where that is known."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._seen = 0
        self._by_driver: dict[str, dict[str, int]] = {}

    def of(self, driver: str) -> Mapping[str, int]:
        """By node."""
        self._seen, changed = self._handle.changed(CsiNode, self._seen)
        if changed is None:
            self._by_driver.clear()
            changed = [("", csi_node.name) for csi_node in self._handle.all(CsiNode)]
        for _, name in changed:
            for limits in self._by_driver.values():
                limits.pop(name, None)
            csi_node = self._handle.find(CsiNode, "", name)
            for known, limit in (csi_node.limits if csi_node is not None else {}).items():
                self._by_driver.setdefault(known, {})[name] = limit
        return self._by_driver.get(driver, {})


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
