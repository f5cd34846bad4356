"""Volumes, claims, storage classes and what drivers say of themselves: JSON to values.

A quantity that cannot be understood is taken as nothing: a volume of no size, a pool without room.
"""

from collections.abc import Callable
from typing import TypeVar

from scheduler.api import (
    ApiObject,
    ClaimReference,
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler.matching import LabelSelector, NodeSelector, NodeSelectorTerm, Operator, Requirement, units
from scheduler.objects import storage_wire as wire
from scheduler.objects.decoder import ObjectDecoder
from scheduler.objects.selectors import label_selector, term
from scheduler.objects.volumes import disk
from scheduler.objects.wire import LabelSelector as WireSelector
from scheduler.objects.wire import NodeSelector as WireNodeSelector
from scheduler.objects.wire import Quantities, Wire

_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
_FILESYSTEM = "Filesystem"
_NOTHING = LabelSelector((Requirement("", Operator.IN),))

W = TypeVar("W", bound=Wire)


def _decoder(shape: type[W], build: Callable[[W], ApiObject]) -> Callable[[], ObjectDecoder[W, ApiObject]]:
    """What makes decoders of a kind."""
    return lambda: ObjectDecoder(shape, build)


def _volume(read: wire.PersistentVolume) -> PersistentVolume:
    meta, spec = read.metadata, read.spec
    notes = meta.annotations or {}
    claim, csi = spec.claim_ref, spec.csi
    return PersistentVolume(
        meta.uid,
        "",
        meta.name,
        meta.resource_version,
        meta.labels or {},
        capacity=_storage(spec.capacity) or 0,
        access_modes=frozenset(spec.access_modes or ()),
        volume_mode=spec.volume_mode or _FILESYSTEM,
        storage_class=notes.get(_OLD_CLASS, spec.storage_class_name),
        attributes_class=spec.volume_attributes_class_name or "",
        claim=None if claim is None else ClaimReference(claim.namespace, claim.name, claim.uid),
        node_affinity=_node_affinity(spec.node_affinity.required if spec.node_affinity else None),
        phase=read.status.phase,
        terminating=meta.deletion_timestamp is not None,
        bound_by_controller=_BOUND_BY_CONTROLLER in notes,
        csi_driver=csi.driver if csi else "",
        csi_handle=csi.volume_handle if csi else "",
        disk=disk(spec),
    )


def _claim(read: wire.PersistentVolumeClaim) -> PersistentVolumeClaim:
    meta, spec = read.metadata, read.spec
    notes = meta.annotations or {}
    return PersistentVolumeClaim(
        meta.uid,
        meta.namespace,
        meta.name,
        meta.resource_version,
        meta.labels or {},
        volume_name=spec.volume_name,
        requested=_storage(spec.resources.requests),
        access_modes=frozenset(spec.access_modes or ()),
        volume_mode=spec.volume_mode or _FILESYSTEM,
        storage_class=notes.get(_OLD_CLASS, spec.storage_class_name or ""),
        attributes_class=spec.volume_attributes_class_name or "",
        selector=_selector(spec.selector, "spec.selector"),
        phase=read.status.phase,
        terminating=meta.deletion_timestamp is not None,
        bind_completed=_BIND_COMPLETED in notes,
        selected_node=notes.get(_SELECTED_NODE),
        controller=next((owner.uid for owner in meta.owner_references or () if owner.controller), ""),
    )


def _class(read: wire.StorageClass) -> StorageClass:
    meta = read.metadata
    return StorageClass(
        meta.uid,
        "",
        meta.name,
        meta.resource_version,
        meta.labels or {},
        provisioner=read.provisioner,
        binding_mode=read.volume_binding_mode,
        allowed_topologies=NodeSelector(tuple(_topology(t) for t in read.allowed_topologies))
        if read.allowed_topologies
        else None,
    )


def _csi_node(read: wire.CsiNode) -> CsiNode:
    meta = read.metadata
    limits = {d.name: d.allocatable.count for d in read.spec.drivers or () if d.allocatable}
    migrated = (meta.annotations or {}).get(_MIGRATED_PLUGINS, "")
    return CsiNode(
        meta.uid,
        "",
        meta.name,
        meta.resource_version,
        meta.labels or {},
        limits={driver: count for driver, count in limits.items() if count is not None},
        migrated_plugins=frozenset(migrated.split(",")) - {""},
    )


def _csi_driver(read: wire.CsiDriver) -> CsiDriver:
    meta = read.metadata
    return CsiDriver(
        meta.uid,
        "",
        meta.name,
        meta.resource_version,
        meta.labels or {},
        storage_capacity=bool(read.spec.storage_capacity),
    )


def _capacity(read: wire.CsiStorageCapacity) -> CsiStorageCapacity:
    meta = read.metadata
    limit = read.maximum_volume_size if read.maximum_volume_size is not None else read.capacity
    return CsiStorageCapacity(
        meta.uid,
        meta.namespace,
        meta.name,
        meta.resource_version,
        meta.labels or {},
        storage_class=read.storage_class_name,
        limit=None if limit is None else _bytes(limit),
        topology=_selector(read.node_topology, "nodeTopology"),
    )


def _attachment(read: wire.VolumeAttachment) -> VolumeAttachment:
    meta, spec = read.metadata, read.spec
    return VolumeAttachment(
        meta.uid,
        "",
        meta.name,
        meta.resource_version,
        meta.labels or {},
        attacher=spec.attacher,
        node_name=spec.node_name,
        volume_name=spec.source.persistent_volume_name or "",
    )


persistent_volumes = _decoder(wire.PersistentVolume, _volume)
persistent_volume_claims = _decoder(wire.PersistentVolumeClaim, _claim)
storage_classes = _decoder(wire.StorageClass, _class)
csi_nodes = _decoder(wire.CsiNode, _csi_node)
csi_drivers = _decoder(wire.CsiDriver, _csi_driver)
csi_storage_capacities = _decoder(wire.CsiStorageCapacity, _capacity)
volume_attachments = _decoder(wire.VolumeAttachment, _attachment)


def _node_affinity(read: WireNodeSelector | None) -> NodeSelector | None:
    """One that cannot be understood matches no node."""
    if read is None:
        return None
    try:
        return NodeSelector(tuple(term(t, "spec.nodeAffinity.required") for t in read.node_selector_terms or ()))
    except ValueError:
        return NodeSelector()


def _topology(read: wire.TopologyTerm) -> NodeSelectorTerm:
    expressions = read.match_label_expressions or ()
    return NodeSelectorTerm(tuple(Requirement(e.key, Operator.IN, tuple(e.values or ())) for e in expressions))


def _selector(read: WireSelector | None, path: str) -> LabelSelector | None:
    """One that cannot be understood matches nothing."""
    try:
        return label_selector(read, path)
    except ValueError:
        return _NOTHING


def _storage(quantities: Quantities | None) -> int | None:
    quantity = (quantities or {}).get("storage")
    return None if quantity is None else _bytes(quantity)


def _bytes(quantity: str | float) -> int:
    try:
        return units(str(quantity))
    except ValueError:
        return 0
