"""Volumes, claims and what storage drivers tell, as the API has them."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from scheduler.api import ApiObject, Kind
from scheduler.objects import FOLLOWED
from tests.builders import JsonObject

A = TypeVar("A", bound=ApiObject)

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
LATE = "late"
LOCAL = "local"


def made(kind: type[A], obj: JsonObject) -> A:
    """What the decoder makes of it; its UID is its name unless it has one."""
    metadata = {"uid": obj["metadata"]["name"], "resourceVersion": "1", **obj["metadata"]}
    decoded = FOLLOWED[Kind(kind.kind)].decoder().decode(msgspec.json.encode({**obj, "metadata": metadata}))
    assert isinstance(decoded, kind)
    return decoded


def where(key: str, *values: str) -> JsonObject:
    """A node affinity of a volume."""
    expression = {"key": key, "operator": "In", "values": list(values)}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def volume_json(
    name: str,
    size: str = "10Gi",
    *,
    storage_class: str = LOCAL,
    on: JsonObject | None = None,
    claim: JsonObject | None = None,
    phase: str = "Available",
    modes: tuple[str, ...] = ("ReadWriteOnce",),
    labels: Mapping[str, str] | None = None,
    source: JsonObject | None = None,
    metadata: JsonObject | None = None,
    spec: JsonObject | None = None,
) -> JsonObject:
    """A volume; `on` is its node affinity, `claim` its claimRef."""
    body: JsonObject = {
        "capacity": {"storage": size},
        "accessModes": list(modes),
        "storageClassName": storage_class,
        **(source or {"local": {"path": f"/mnt/{name}"}}),
        **(spec or {}),
    }
    if on is not None:
        body["nodeAffinity"] = on
    if claim is not None:
        body["claimRef"] = claim
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": dict(labels or {}), **(metadata or {})},
        "spec": body,
        "status": {"phase": phase},
    }


def claim_json(
    name: str,
    size: str = "5Gi",
    *,
    namespace: str = "default",
    storage_class: str | None = LOCAL,
    volume: str = "",
    bound: bool | None = None,
    modes: tuple[str, ...] = ("ReadWriteOnce",),
    selected_node: str | None = None,
    metadata: JsonObject | None = None,
    spec: JsonObject | None = None,
    phase: str | None = None,
) -> JsonObject:
    """A claim; one that names a volume is bound to it unless `bound` says otherwise."""
    is_bound = bool(volume) if bound is None else bound
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if is_bound else {}
    if selected_node is not None:
        annotations["volume.kubernetes.io/selected-node"] = selected_node
    body: JsonObject = {
        "accessModes": list(modes),
        "resources": {"requests": {"storage": size}},
        **(spec or {}),
    }
    if storage_class is not None:
        body["storageClassName"] = storage_class
    if volume:
        body["volumeName"] = volume
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations, **(metadata or {})},
        "spec": body,
        "status": {"phase": phase or ("Bound" if is_bound else "Pending")},
    }


def class_json(name: str, provisioner: str = "kubernetes.io/no-provisioner", *, late: bool = True) -> JsonObject:
    """A storage class."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer" if late else "Immediate",
    }


def csi_node_json(name: str, limits: Mapping[str, int] | None = None, *, migrated: str = "") -> JsonObject:
    """A CSINode with the limits of its drivers."""
    drivers = [
        {"name": driver, "nodeID": name, "topologyKeys": [], "allocatable": {"count": count}}
        for driver, count in (limits or {}).items()
    ]
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"drivers": drivers},
    }


def csi_source(handle: str, driver: str = "csi.example.com") -> JsonObject:
    """The source of a CSI volume."""
    return {"csi": {"driver": driver, "volumeHandle": handle}}


def using(*claims: str, **volumes: JsonObject) -> JsonObject:
    """A pod's spec with these claims, and volumes by name (underscores for hyphens)."""
    named = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    others = [{"name": name.replace("_", "-"), **source} for name, source in volumes.items()]
    return {"volumes": [*named, *others]}
