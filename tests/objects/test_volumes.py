"""The volumes of pods, and the objects that say more of them."""

import msgspec
import pytest

from scheduler.api import (
    ClaimReference,
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    Disk,
    DiskType,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler.framework import ClaimVolume, CsiVolume, EphemeralVolume
from tests.builders import JsonObject, pod
from tests.volumes import HOSTNAME, claim_json, class_json, csi_node_json, csi_source, made, using, volume_json, where

OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


def token(name: str) -> JsonObject:
    return {name: {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}}


def test_only_the_volumes_that_matter_are_kept_in_their_order() -> None:
    others: dict[str, JsonObject] = {
        "tmp": {"emptyDir": {}},
        "inline": {"csi": {"driver": "inline.example.com"}},
        "scratch": {"ephemeral": {}},
    }
    disk = {"rbd": {"monitors": ["m1", "m2"], "pool": "p", "image": "i", "readOnly": True}}
    read = pod("p", spec=using("data", **others, **token("kube_api_access_x1"), disk=disk)).spec.volumes
    assert read == (
        ClaimVolume("data"),
        CsiVolume("inline.example.com"),
        EphemeralVolume("scratch"),
        Disk(DiskType.RBD, "p/i", read_only=True, monitors=frozenset({"m1", "m2"})),
    )


def test_pods_that_differ_in_the_name_of_a_token_volume_only_are_alike() -> None:
    one, other = (pod(name, spec=using("data", **token(f"kube_api_access_{name}"))) for name in ("a", "b"))
    assert one.template is other.template


def test_a_pod_with_an_ephemeral_volume_is_like_no_other_for_its_claim_is_its_own() -> None:
    one, other = (pod(name, spec=using("data", scratch={"ephemeral": {}})) for name in ("a", "b"))
    assert one.spec is other.spec
    assert one.template is not other.template
    assert list(one.claims()) == [("data", False), ("a-scratch", True)]


def test_a_volume_says_what_it_is_and_whose() -> None:
    reference = {"namespace": "ns", "name": "c", "uid": "u"}
    read = made(
        PersistentVolume,
        volume_json(
            "v",
            "1.5Gi",
            on=where(HOSTNAME, "n1"),
            claim=reference,
            source=csi_source("h"),
            metadata={
                "annotations": {
                    OLD_CLASS: "old",
                    "pv.kubernetes.io/bound-by-controller": "",
                }
            },
        ),
    )
    assert (read.capacity, read.storage_class, read.volume_mode) == (3 * 2**29, "old", "Filesystem")
    assert (read.claim, read.bound_by_controller) == (ClaimReference("ns", "c", "u"), True)
    assert (read.csi_driver, read.csi_handle, read.disk) == ("csi.example.com", "h", None)
    assert read.node_affinity is not None
    assert read.node_affinity.matches("any", {HOSTNAME: "n1"})
    assert not read.node_affinity.matches("any", {HOSTNAME: "n2"})


def test_a_claim_says_what_it_wants_and_what_it_got() -> None:
    owners = [{"uid": "x"}, {"uid": "pod-uid", "controller": True}]
    waiting = made(
        PersistentVolumeClaim,
        claim_json("c", "2Gi", selected_node="n1", metadata={"ownerReferences": owners}, spec={"volumeMode": "Block"}),
    )
    assert (waiting.requested, waiting.volume_mode, waiting.storage_class) == (2 * 2**30, "Block", "local")
    assert (waiting.controller, waiting.bound) == ("pod-uid", False)
    assert made(PersistentVolumeClaim, claim_json("c", volume="v")).bound
    assert not made(PersistentVolumeClaim, claim_json("c", volume="v", bound=False)).bound
    assert made(PersistentVolumeClaim, claim_json("c", selected_node="n1")).selected_node == "n1"


@pytest.mark.parametrize(
    ("topologies", "labels", "allowed"),
    [
        ([{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}], {"zone": "b"}, True),
        ([{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}], {"zone": "b"}, False),
        ([{}], {"zone": "b"}, False),
        ([], {"zone": "b"}, True),
    ],
)
def test_a_class_says_where_volumes_may_be_made(
    topologies: list[JsonObject], labels: dict[str, str], allowed: bool
) -> None:
    read = made(StorageClass, {**class_json("c", "driver.example.com"), "allowedTopologies": topologies})
    assert (read.provisioner, read.binds_late) == ("driver.example.com", True)
    assert (read.allowed_topologies is None or read.allowed_topologies.matches("n", labels)) is allowed


def test_drivers_tell_their_limits_their_room_and_what_they_have_taken_over() -> None:
    node = csi_node_json("n", {"a.example.com": 0}, migrated="kubernetes.io/aws-ebs,kubernetes.io/cinder")
    node["spec"]["drivers"] += [{"name": "b.example.com"}, {"name": "c.example.com", "allocatable": {}}]
    read = made(CsiNode, node)
    assert read.limits == {"a.example.com": 0}
    assert read.migrated_plugins == {"kubernetes.io/aws-ebs", "kubernetes.io/cinder"}
    assert not made(CsiDriver, {"metadata": {"name": "d"}, "spec": {}}).storage_capacity
    pool = {"metadata": {"name": "p"}, "storageClassName": "c", "capacity": "10Gi", "maximumVolumeSize": "1Gi"}
    assert made(CsiStorageCapacity, pool).limit == 2**30
    source = {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    attached = made(VolumeAttachment, {"metadata": {"name": "x"}, "spec": source})
    assert (attached.attacher, attached.node_name, attached.volume_name) == ("a", "n", "v")


def test_what_cannot_be_understood_is_taken_as_nothing_and_ends_no_watch() -> None:
    odd = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Sometimes"}]}]}}
    volume = made(PersistentVolume, volume_json("v", "lots", on=odd))
    assert volume.capacity == 0
    assert volume.node_affinity is not None
    assert not volume.node_affinity.matches("n", {"k": ""})
    picky = {"selector": {"matchExpressions": [{"key": "k", "operator": "Sometimes"}]}}
    claim = made(PersistentVolumeClaim, claim_json("c", spec=picky))
    assert claim.selector is not None
    assert not claim.selector.matches({"k": ""})
    assert msgspec.json.encode(volume)
