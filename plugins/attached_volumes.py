"""What CSI drivers attach to each node, or will for its pods: remembered from attempt to attempt, and counted again only where
something has changed.

A volume is known by its driver and handle. A claim without a volume yet stands for one of its class's driver.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from plugins.csi_migration import driver_of, handle_of, migration_of
from scheduler.api import ApiObject, Disk, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment
from scheduler.framework import Handle, NodeRows

CsiName = tuple[str, str]
"""Driver and handle of a volume; the handle of a claim without a volume is the claim itself."""

ClaimKey = tuple[str, str]

_KINDS: tuple[type[ApiObject], ...] = (StorageClass, PersistentVolumeClaim, PersistentVolume, VolumeAttachment)


@dataclass(frozen=True, slots=True)
class Attached:
    """Of one node, as of a generation of it: the volumes of its pods, and by driver how many these are with those that are
    attached though no pod uses them.
    """

    generation: int
    used: frozenset[CsiName]
    by_driver: Mapping[str, int]


class AttachedVolumes:
    """By node. `refresh` first, then ask."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._seen: dict[type[ApiObject], int] = {}
        self._nodes: dict[str, Attached] = {}
        self._names: dict[ClaimKey, CsiName | None] = {}
        self._nodes_with: dict[ClaimKey, set[str]] = {}
        self._claims_of: dict[str, set[ClaimKey]] = {}
        self._attachments: dict[str, VolumeAttachment] = {}
        self._attached_to: dict[str, set[str]] = {}
        self._nodes_of_volume: dict[str, set[str]] = {}

    def refresh(self) -> None:
        """Forget what has changed since the last time."""
        changed = {kind: self._changed(kind) for kind in _KINDS}
        if changed[StorageClass] or None in changed.values():
            self._forget_all()
            return
        for key in changed[PersistentVolumeClaim] or ():
            self._forget_claim(key)
        for _, name in changed[PersistentVolume] or ():
            for claim in self._claims_of.pop(name, ()):
                self._forget_claim(claim)
            for node in self._nodes_of_volume.get(name, ()):
                self._nodes.pop(node, None)
        for _, name in changed[VolumeAttachment] or ():
            self._note_attachment(name)

    def on(self, rows: NodeRows, position: int, name: str, generation: int) -> Attached:
        """What is attached to the node at this position."""
        known = self._nodes.get(name)
        if known is not None and known.generation == generation:
            return known
        claims = rows.claims_at(position)
        used = frozenset(
            named
            for named in (*map(self.name_of, claims), *map(name_of_disk, rows.disks_at(position)))
            if named is not None
        )
        by_driver = (
            Counter(driver for driver, _ in used | self._present(name)) if used or name in self._attached_to else {}
        )
        attached = Attached(generation, used, by_driver)
        if not rows.hypothetical():
            self._nodes[name] = attached
            for claim in claims:
                self._nodes_with.setdefault(claim, set()).add(name)
        return attached

    def name_of(self, key: ClaimKey) -> CsiName | None:
        """The volume of a claim; None if no CSI driver attaches it, or the claim is not there."""
        if key in self._names:
            return self._names[key]
        claim = self._handle.find(PersistentVolumeClaim, *key)
        named = None if claim is None else self._resolve(claim)
        self._names[key] = named
        if claim is not None and claim.volume_name:
            self._claims_of.setdefault(claim.volume_name, set()).add(key)
        return named

    def _resolve(self, claim: PersistentVolumeClaim) -> CsiName | None:
        volume = self._handle.find(PersistentVolume, "", claim.volume_name) if claim.volume_name else None
        if volume is not None:
            if volume.csi_driver:
                return (volume.csi_driver, volume.csi_handle) if volume.csi_handle else None
            return None if volume.disk is None else name_of_disk(volume.disk, volume)
        storage_class = self._handle.find(StorageClass, "", claim.storage_class) if claim.storage_class else None
        driver = driver_of(storage_class.provisioner) if storage_class is not None else ""
        return (driver, f"claim {claim.namespace}/{claim.name}") if driver else None

    def _present(self, node: str) -> set[CsiName]:
        """What is attached, whoever uses it."""
        present = set()
        for attachment in map(self._attachments.__getitem__, self._attached_to.get(node, ())):
            volume = self._handle.find(PersistentVolume, "", attachment.volume_name)
            if attachment.attacher and volume is not None and volume.csi_driver:
                present.add((attachment.attacher, volume.csi_handle))
        return present

    def _note_attachment(self, name: str) -> None:
        old = self._attachments.pop(name, None)
        new = self._handle.find(VolumeAttachment, "", name)
        if old is not None:
            _discard(self._attached_to, old.node_name, name)
            _discard(self._nodes_of_volume, old.volume_name, old.node_name)
            self._nodes.pop(old.node_name, None)
        if new is not None:
            self._attachments[name] = new
            self._attached_to.setdefault(new.node_name, set()).add(name)
            self._nodes_of_volume.setdefault(new.volume_name, set()).add(new.node_name)
            self._nodes.pop(new.node_name, None)

    def _forget_claim(self, claim: ClaimKey) -> None:
        self._names.pop(claim, None)
        for node in self._nodes_with.pop(claim, ()):
            self._nodes.pop(node, None)

    def _forget_all(self) -> None:
        everything = (self._nodes, self._names, self._nodes_with, self._claims_of)
        for remembered in (*everything, self._attachments, self._attached_to, self._nodes_of_volume):
            remembered.clear()
        for attachment in self._handle.all(VolumeAttachment):
            self._note_attachment(attachment.name)

    def _changed(self, kind: type[ApiObject]) -> Collection[tuple[str, str]] | None:
        self._seen[kind], names = self._handle.changed(kind, self._seen.get(kind, 0))
        return names


def name_of_disk(disk: Disk, volume: PersistentVolume | None = None) -> CsiName | None:
    """An in-tree disk as the CSI driver knows it that has taken over; None if none has."""
    migration = migration_of(disk)
    handle = handle_of(disk, volume.labels if volume is not None else {}) if migration is not None else ""
    return (migration.driver, handle) if migration is not None and handle else None


def _discard(sets: dict[str, set[str]], key: str, value: str) -> None:
    members = sets.get(key, set())
    members.discard(value)
    if not members:
        sets.pop(key, None)
