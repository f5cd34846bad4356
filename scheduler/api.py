"""The kinds that berth may follow, and the values of those beside pods and nodes: just what rules read of them.

A kind is followed only if a plugin of some profile needs it (`Plugin.needs`). Pods and nodes have values of their own in
`scheduler.framework`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar

import msgspec

from scheduler.matching import Labels, LabelSelector, NodeSelector


class Kind(StrEnum):
    """Kinds of objects the engine can follow."""

    POD = "Pod"
    NODE = "Node"
    NAMESPACE = "Namespace"
    POD_DISRUPTION_BUDGET = "PodDisruptionBudget"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    STORAGE_CLASS = "StorageClass"
    CSI_NODE = "CSINode"
    CSI_DRIVER = "CSIDriver"
    CSI_STORAGE_CAPACITY = "CSIStorageCapacity"
    VOLUME_ATTACHMENT = "VolumeAttachment"
    SERVICE = "Service"
    REPLICATION_CONTROLLER = "ReplicationController"
    REPLICA_SET = "ReplicaSet"
    STATEFUL_SET = "StatefulSet"


class ApiObject(msgspec.Struct, frozen=True, gc=False, eq=False):
    """An object as last seen. Immutable: a change is a new value. `namespace` is empty for cluster-scoped kinds."""

    kind: ClassVar[Kind]

    uid: str
    namespace: str
    name: str
    resource_version: str
    labels: Labels


class Namespace(ApiObject, frozen=True, gc=False, eq=False):
    """A v1 Namespace: its labels are what namespace selectors match."""

    kind: ClassVar[Kind] = Kind.NAMESPACE


class PodDisruptionBudget(ApiObject, frozen=True, gc=False, eq=False):
    """A policy/v1 PodDisruptionBudget. Without a selector, or with an empty one, it protects no pod that preemption looks at
    (kube-scheduler 1.36). `disrupted` are the names of pods whose disruption the budget's controller has counted already.
    """

    kind: ClassVar[Kind] = Kind.POD_DISRUPTION_BUDGET

    selector: LabelSelector | None
    disruptions_allowed: int
    disrupted: frozenset[str]


class DiskType(StrEnum):
    """In-tree types of volumes that scheduling looks at, by their field in the API."""

    GCE_PERSISTENT_DISK = "gcePersistentDisk"
    AWS_ELASTIC_BLOCK_STORE = "awsElasticBlockStore"
    AZURE_DISK = "azureDisk"
    CINDER = "cinder"
    PORTWORX = "portworxVolume"
    ISCSI = "iscsi"
    RBD = "rbd"


class Disk(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="is_a"):
    """A disk of an in-tree type. `identity` is its name, ID, URI or IQN; of an RBD image `pool/image`, and it has monitors."""

    type: DiskType
    identity: str
    read_only: bool = False
    monitors: frozenset[str] = frozenset()

    def conflicts(self, other: "Disk") -> bool:
        """Whether pods on one node cannot use both: the same disk, unless both only read. An EBS volume is never shared; RBD
        images are the same if they have a monitor in common.
        """
        if (self.type, self.identity) != (other.type, other.identity) or self.type not in _EXCLUSIVE:
            return False
        if self.type is DiskType.RBD and not self.monitors & other.monitors:
            return False
        return self.type is DiskType.AWS_ELASTIC_BLOCK_STORE or not (self.read_only and other.read_only)


_EXCLUSIVE = frozenset({DiskType.GCE_PERSISTENT_DISK, DiskType.AWS_ELASTIC_BLOCK_STORE, DiskType.ISCSI, DiskType.RBD})


class ClaimReference(msgspec.Struct, frozen=True, gc=False):
    """Whom a volume is bound to, or meant for. A user who reserves a volume for a claim leaves out the UID."""

    namespace: str
    name: str
    uid: str

    def means(self, claim: "PersistentVolumeClaim") -> bool:
        """Whether it is this claim, not one of the same name from before or after."""
        same_name = (self.namespace, self.name) == (claim.namespace, claim.name)
        return same_name and self.uid in ("", claim.uid)


class PersistentVolume(ApiObject, frozen=True, gc=False, eq=False):
    """A v1 PersistentVolume. `capacity` is in bytes; without `node_affinity` every node can use it. `csi_driver` and `csi_handle`
    are empty unless it is a CSI volume; `disk` is set for the in-tree types that scheduling looks at.
    """

    kind: ClassVar[Kind] = Kind.PERSISTENT_VOLUME

    capacity: int
    access_modes: frozenset[str]
    volume_mode: str
    storage_class: str
    attributes_class: str
    claim: ClaimReference | None
    node_affinity: NodeSelector | None
    phase: str
    terminating: bool
    bound_by_controller: bool
    csi_driver: str
    csi_handle: str
    disk: Disk | None


class PersistentVolumeClaim(ApiObject, frozen=True, gc=False, eq=False):
    """A v1 PersistentVolumeClaim. `requested` is in bytes, None if it asks for no size. `selected_node` is where a volume is to
    be provisioned, None before a scheduler has said so. `controller` is the UID of the object that owns it.
    """

    kind: ClassVar[Kind] = Kind.PERSISTENT_VOLUME_CLAIM

    volume_name: str
    requested: int | None
    access_modes: frozenset[str]
    volume_mode: str
    storage_class: str
    attributes_class: str
    selector: LabelSelector | None
    phase: str
    terminating: bool
    bind_completed: bool
    selected_node: str | None
    controller: str

    @property
    def bound(self) -> bool:
        """Whether claim and volume have found each other for good."""
        return bool(self.volume_name) and self.bind_completed


class StorageClass(ApiObject, frozen=True, gc=False, eq=False):
    """A storage.k8s.io/v1 StorageClass. Without `allowed_topologies` volumes may be provisioned for every node."""

    kind: ClassVar[Kind] = Kind.STORAGE_CLASS

    provisioner: str
    binding_mode: str
    allowed_topologies: NodeSelector | None

    @property
    def binds_late(self) -> bool:
        """Whether claims wait for a pod to be placed before they get a volume."""
        return self.binding_mode == "WaitForFirstConsumer"


class CsiNode(ApiObject, frozen=True, gc=False, eq=False):
    """A storage.k8s.io/v1 CSINode, named like its node: how many volumes each driver can attach, where a limit is known, and the
    in-tree plugins whose work is done by a CSI driver there.
    """

    kind: ClassVar[Kind] = Kind.CSI_NODE

    limits: Mapping[str, int]
    migrated_plugins: frozenset[str]


class CsiDriver(ApiObject, frozen=True, gc=False, eq=False):
    """A storage.k8s.io/v1 CSIDriver: whether it tells how much it can still provision."""

    kind: ClassVar[Kind] = Kind.CSI_DRIVER

    storage_capacity: bool


class CsiStorageCapacity(ApiObject, frozen=True, gc=False, eq=False):
    """A storage.k8s.io/v1 CSIStorageCapacity: the largest volume (bytes) of a class that nodes with these labels can have; None
    where it is not known, or no node has access.
    """

    kind: ClassVar[Kind] = Kind.CSI_STORAGE_CAPACITY

    storage_class: str
    limit: int | None
    topology: LabelSelector | None


class VolumeAttachment(ApiObject, frozen=True, gc=False, eq=False):
    """A storage.k8s.io/v1 VolumeAttachment: a volume that is, or is to be, attached to a node."""

    kind: ClassVar[Kind] = Kind.VOLUME_ATTACHMENT

    attacher: str
    node_name: str
    volume_name: str


class Service(ApiObject, frozen=True, gc=False, eq=False):
    """A v1 Service. Without a selector it stands for no pods."""

    kind: ClassVar[Kind] = Kind.SERVICE

    selector: Labels | None


class ReplicationController(ApiObject, frozen=True, gc=False, eq=False):
    """A v1 ReplicationController."""

    kind: ClassVar[Kind] = Kind.REPLICATION_CONTROLLER

    selector: Labels | None


class ReplicaSet(ApiObject, frozen=True, gc=False, eq=False):
    """An apps/v1 ReplicaSet."""

    kind: ClassVar[Kind] = Kind.REPLICA_SET

    selector: LabelSelector | None


class StatefulSet(ApiObject, frozen=True, gc=False, eq=False):
    """An apps/v1 StatefulSet."""

    kind: ClassVar[Kind] = Kind.STATEFUL_SET

    selector: LabelSelector | None
