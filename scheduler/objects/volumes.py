"""The volumes of pods and the in-tree disks of volumes: JSON to values."""

from collections.abc import Iterable

from scheduler.api import Disk, DiskType
from scheduler.framework import ClaimVolume, CsiVolume, EphemeralVolume, PodVolume
from scheduler.objects import wire

_RESTART_ALL = "RestartAllContainers"


def pod_volumes(volumes: Iterable[wire.Volume]) -> tuple[PodVolume, ...]:
    """Those that scheduling looks at, in their order."""
    return tuple(read for volume in volumes if (read := _volume(volume)) is not None)


def disk(read: wire.Disks) -> Disk | None:
    """The in-tree disk that is set, if it is of a type that scheduling looks at."""
    if (gce := read.gce_persistent_disk) is not None:
        return Disk(DiskType.GCE_PERSISTENT_DISK, gce.pd_name, gce.read_only)
    if (ebs := read.aws_elastic_block_store) is not None:
        return Disk(DiskType.AWS_ELASTIC_BLOCK_STORE, ebs.volume_id)
    if (azure := read.azure_disk) is not None:
        return Disk(DiskType.AZURE_DISK, azure.disk_uri)
    if (cinder := read.cinder) is not None:
        return Disk(DiskType.CINDER, cinder.volume_id)
    if (portworx := read.portworx_volume) is not None:
        return Disk(DiskType.PORTWORX, portworx.volume_id)
    if (iscsi := read.iscsi) is not None:
        return Disk(DiskType.ISCSI, iscsi.iqn, iscsi.read_only)
    if (rbd := read.rbd) is not None:
        return Disk(DiskType.RBD, f"{rbd.pool}/{rbd.image}", rbd.read_only, frozenset(rbd.monitors or ()))
    return None


def required_features(spec: wire.PodSpec) -> frozenset[str]:
    """The features a node must declare to run the pod (component-helpers/nodedeclaredfeatures of 1.36)."""
    features = set()
    if spec.host_network and spec.host_users is False:
        features.add("UserNamespacesHostNetworkSupport")
    containers = [*(spec.containers or ()), *(spec.init_containers or ())]
    if any(rule.action == _RESTART_ALL for c in containers for rule in c.restart_policy_rules or ()):
        features.add("RestartAllContainersOnContainerExits")
    return frozenset(features)


def _volume(read: wire.Volume) -> PodVolume | None:
    if read.persistent_volume_claim is not None:
        return ClaimVolume(read.persistent_volume_claim.claim_name)
    if read.ephemeral is not None:
        return EphemeralVolume(read.name)
    if read.csi is not None:
        return CsiVolume(read.csi.driver)
    return disk(read)
