"""The shapes of the JSON of volumes, claims and what storage drivers say of themselves, cut down to what is read."""

import msgspec

from scheduler.objects.wire import Disks, LabelSelector, NodeSelector, ObjectMeta, Quantities, Wire


class Reference(Wire):
    """spec.claimRef."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class CsiSource(Wire):
    """spec.csi of a volume."""

    driver: str = ""
    volume_handle: str = ""


class VolumeNodeAffinity(Wire):
    """spec.nodeAffinity of a volume."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(Disks):
    """A volume's spec."""

    capacity: Quantities | None = None
    access_modes: list[str] | None = None
    volume_mode: str | None = None
    storage_class_name: str = ""
    volume_attributes_class_name: str | None = None
    claim_ref: Reference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CsiSource | None = None


class Phase(Wire):
    """status of a volume or claim."""

    phase: str = ""


class PersistentVolume(Wire):
    """A v1 PersistentVolume."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PersistentVolumeSpec = msgspec.field(default_factory=PersistentVolumeSpec)
    status: Phase = msgspec.field(default_factory=Phase)


class VolumeResources(Wire):
    """spec.resources of a claim."""

    requests: Quantities | None = None


class PersistentVolumeClaimSpec(Wire):
    """A claim's spec."""

    volume_name: str = ""
    resources: VolumeResources = msgspec.field(default_factory=VolumeResources)
    access_modes: list[str] | None = None
    volume_mode: str | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    selector: LabelSelector | None = None


class PersistentVolumeClaim(Wire):
    """A v1 PersistentVolumeClaim."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PersistentVolumeClaimSpec = msgspec.field(default_factory=PersistentVolumeClaimSpec)
    status: Phase = msgspec.field(default_factory=Phase)


class TopologyRequirement(Wire):
    """matchLabelExpressions[] of a topology term."""

    key: str = ""
    values: list[str] | None = None


class TopologyTerm(Wire):
    """allowedTopologies[]."""

    match_label_expressions: list[TopologyRequirement] | None = None


class StorageClass(Wire):
    """A storage.k8s.io/v1 StorageClass."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    provisioner: str = ""
    volume_binding_mode: str = ""
    allowed_topologies: list[TopologyTerm] | None = None


class Allocatable(Wire):
    """What a driver can attach to a node."""

    count: int | None = None


class CsiNodeDriver(Wire):
    """spec.drivers[] of a CSINode."""

    name: str = ""
    allocatable: Allocatable | None = None


class CsiNodeSpec(Wire):
    """A CSINode's spec."""

    drivers: list[CsiNodeDriver] | None = None


class CsiNode(Wire):
    """A storage.k8s.io/v1 CSINode."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: CsiNodeSpec = msgspec.field(default_factory=CsiNodeSpec)


class CsiDriverSpec(Wire):
    """A CSIDriver's spec."""

    storage_capacity: bool | None = None


class CsiDriver(Wire):
    """A storage.k8s.io/v1 CSIDriver."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: CsiDriverSpec = msgspec.field(default_factory=CsiDriverSpec)


class CsiStorageCapacity(Wire):
    """A storage.k8s.io/v1 CSIStorageCapacity, which has no spec."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: str | float | None = None
    maximum_volume_size: str | float | None = None


class AttachmentSource(Wire):
    """spec.source of a VolumeAttachment."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Wire):
    """A VolumeAttachment's spec."""

    attacher: str = ""
    node_name: str = ""
    source: AttachmentSource = msgspec.field(default_factory=AttachmentSource)


class VolumeAttachment(Wire):
    """A storage.k8s.io/v1 VolumeAttachment."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: VolumeAttachmentSpec = msgspec.field(default_factory=VolumeAttachmentSpec)
