"""Volumes of in-tree types as their CSI drivers know them (k8s.io/csi-translation-lib), as far as scheduling asks: who
attaches them, under which handle, and from which nodes.

Only the types whose migration kube-scheduler 1.36 takes for granted are here.
"""

import re
from dataclasses import dataclass

from scheduler.api import Disk, DiskType, PersistentVolume
from scheduler.matching import Labels, NodeSelector, NodeSelectorTerm, Operator, Requirement

_ZONE = "topology.kubernetes.io/zone"
_REGION = "topology.kubernetes.io/region"
_OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
_OLD_REGION = "failure-domain.beta.kubernetes.io/region"
_SEPARATOR = "__"
_EBS_ID = re.compile(r"aws://[^/]*/+(vol-[^/]*)/*")
_UNSPECIFIED = "UNSPECIFIED"


@dataclass(frozen=True, slots=True)
class Migration:
    """An in-tree plugin, the CSI driver that does its work, and the driver's own label for zones, if it has one."""

    plugin: str
    driver: str
    zone_label: str = ""


_MIGRATIONS = {
    DiskType.AWS_ELASTIC_BLOCK_STORE: Migration(
        "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"
    ),
    DiskType.GCE_PERSISTENT_DISK: Migration("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"),
    DiskType.AZURE_DISK: Migration(
        "kubernetes.io/azure-disk", "disk.csi.azure.com", "topology.disk.csi.azure.com/zone"
    ),
    DiskType.CINDER: Migration(
        "kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"
    ),
    DiskType.PORTWORX: Migration("kubernetes.io/portworx-volume", "pxd.portworx.com"),
}
_DRIVERS = {migration.plugin: migration.driver for migration in _MIGRATIONS.values()}
# In-tree provisioners whose volumes are never counted, for kube-scheduler knows of no migration there.
_NOT_MIGRATED = frozenset({"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"})


def migration_of(disk: Disk | None) -> Migration | None:
    """Who does the work for a disk; None if nobody does."""
    return None if disk is None else _MIGRATIONS.get(disk.type)


def driver_of(provisioner: str) -> str:
    """The CSI driver behind a class's provisioner: its own name, unless it is an in-tree one; empty if there is none."""
    return "" if provisioner in _NOT_MIGRATED else _DRIVERS.get(provisioner, provisioner)


def handle_of(disk: Disk, labels: Labels) -> str:
    """The handle under which the driver knows a disk; empty if its identity makes no sense. `labels` are the volume's."""
    match disk.type:
        case DiskType.AWS_ELASTIC_BLOCK_STORE if disk.identity.startswith("aws://"):
            found = _EBS_ID.fullmatch(disk.identity)
            return found[1] if found else ""
        case DiskType.GCE_PERSISTENT_DISK:
            return _gce_handle(disk.identity, labels)
        case _:
            return disk.identity


def migrated_affinity(volume: PersistentVolume, migration: Migration) -> NodeSelector | None:
    """Where a volume can be used, in the labels of the CSI driver: zones of its node affinity, or else of its labels."""
    affinity = volume.node_affinity
    if not migration.zone_label:
        return affinity
    zone, region = _names_used(volume)
    if _mentions(affinity, zone):
        affinity = _renamed(affinity, zone, migration.zone_label)
    elif zone in volume.labels:
        affinity = _narrowed(affinity, migration.zone_label, volume.labels[zone])
    return _renamed(affinity, region, _REGION) if region == _OLD_REGION else affinity


def _gce_handle(name: str, labels: Labels) -> str:
    zones = (labels.get(_OLD_ZONE) or labels.get(_ZONE) or _UNSPECIFIED).split(_SEPARATOR)
    if len(zones) == 1:
        return f"projects/{_UNSPECIFIED}/zones/{zones[0]}/disks/{name}"
    region = zones[0].rpartition("-")[0]
    return f"projects/{_UNSPECIFIED}/regions/{region}/disks/{name}"


def _names_used(volume: PersistentVolume) -> tuple[str, str]:
    """Whether a volume speaks of zones by the present name or the old one; the node affinity has the first word."""
    if _mentions(volume.node_affinity, _ZONE):
        return _ZONE, _REGION
    if _mentions(volume.node_affinity, _OLD_ZONE):
        return _OLD_ZONE, _OLD_REGION
    if _ZONE not in volume.labels and _OLD_ZONE in volume.labels:
        return _OLD_ZONE, _OLD_REGION
    return _ZONE, _REGION


def _mentions(affinity: NodeSelector | None, key: str) -> bool:
    return affinity is not None and any(r.key == key for term in affinity.terms for r in term.expressions)


def _renamed(affinity: NodeSelector | None, old: str, new: str) -> NodeSelector | None:
    if affinity is None:
        return None

    def renamed(requirement: Requirement) -> Requirement:
        return Requirement(new, requirement.operator, requirement.values) if requirement.key == old else requirement

    terms = (NodeSelectorTerm(tuple(map(renamed, term.expressions)), term.fields) for term in affinity.terms)
    return NodeSelector(tuple(terms))


def _narrowed(affinity: NodeSelector | None, key: str, label: str) -> NodeSelector | None:
    zones = tuple(sorted({zone.strip() for zone in label.split(_SEPARATOR)} - {""}))
    if not zones:
        return affinity
    also = Requirement(key, Operator.IN, zones)
    terms = (affinity.terms if affinity is not None else ()) or (NodeSelectorTerm(),)
    return NodeSelector(tuple(NodeSelectorTerm((*term.expressions, also), term.fields) for term in terms))
