"""Disks that cannot be shared on a node, and claims for one pod at a time; after kube-scheduler's volumerestrictions tests."""

import pytest

from plugins.volume_restrictions import VolumeRestrictions
from scheduler.api import ApiObject, PersistentVolumeClaim
from scheduler.framework import SUCCESS, Action, Code, CycleState, EventResource, PodInfo, unresolvable, unschedulable
from tests.builders import JsonObject, node, pod
from tests.plugins.cluster import Cluster, wakes
from tests.volumes import claim_json, made, using

DISK = unschedulable("node(s) had no available disk")
IN_USE = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


def gce(name: str, *, read_only: bool = False) -> JsonObject:
    return {"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def ebs(name: str, *, read_only: bool = False) -> JsonObject:
    return {"awsElasticBlockStore": {"volumeID": name, "readOnly": read_only}}


def iscsi(name: str, *, read_only: bool = False) -> JsonObject:
    return {"iscsi": {"targetPortal": "10.0.0.1", "iqn": name, "lun": 0, "readOnly": read_only}}


def rbd(*monitors: str, pool: str = "rbd", image: str = "image", read_only: bool = False) -> JsonObject:
    return {"rbd": {"monitors": list(monitors), "pool": pool, "image": image, "readOnly": read_only}}


@pytest.mark.parametrize(
    ("wanted", "used", "fits"),
    [
        (gce("a"), gce("a"), False),
        (gce("a"), gce("b"), True),
        (gce("a", read_only=True), gce("a"), False),
        (gce("a", read_only=True), gce("a", read_only=True), True),
        (ebs("a"), ebs("a"), False),
        (ebs("a"), ebs("b"), True),
        (ebs("a", read_only=True), ebs("a", read_only=True), False),
        (iscsi("a"), iscsi("a"), False),
        (iscsi("a"), iscsi("b"), True),
        (iscsi("a", read_only=True), iscsi("a", read_only=True), True),
        (rbd("m1", "m2"), rbd("m2", "m3"), False),
        (rbd("m1"), rbd("m2"), True),
        (rbd("m1"), rbd("m1", pool="other"), True),
        (rbd("m1"), rbd("m1", image="other"), True),
        (rbd("m1", read_only=True), rbd("m1", read_only=True), True),
        (gce("a"), ebs("a"), True),
        ({"azureDisk": {"diskName": "a", "diskURI": "a"}}, {"azureDisk": {"diskName": "a", "diskURI": "a"}}, True),
    ],
)
def test_the_same_disk_is_for_one_pod_of_a_node_unless_all_only_read(
    wanted: JsonObject, used: JsonObject, fits: bool
) -> None:
    other = pod("other", node="n", namespace="elsewhere", spec=using(data=used))
    cluster = Cluster(node("n"), node("free"), pods=[other])
    plugin = cluster.plugin(VolumeRestrictions)
    wanting = pod("p", spec=using(data=wanted))
    assert cluster.verdicts(plugin, wanting) == {"n": SUCCESS if fits else DISK, "free": SUCCESS}
    assert cluster.verdicts(plugin, wanting, cluster.without("n", "other")) == {"n": SUCCESS}
    assert wakes(plugin, EventResource.ASSIGNED_POD, Action.DELETE, wanting, other, None) is not fits


EXCLUSIVE = made(PersistentVolumeClaim, claim_json("c", modes=("ReadWriteOncePod",)))
SHARED = made(PersistentVolumeClaim, claim_json("shared"))
WANTING = pod("p", spec=using("c"))


def test_a_claim_for_one_pod_is_in_use_everywhere() -> None:
    user = pod("user", node="n1", spec=using("c"))
    cluster = Cluster(node("n1"), node("n2"), pods=[user], objects=[EXCLUSIVE])
    plugin = cluster.plugin(VolumeRestrictions)
    assert cluster.verdicts(plugin, WANTING) == {"n1": IN_USE, "n2": IN_USE}


def test_it_is_free_only_if_its_user_is_evicted() -> None:
    pods = [pod("user", node="n1", spec=using("c")), pod("beside", node="n1"), pod("elsewhere", node="n2")]
    cluster = Cluster(node("n1"), node("n2"), pods=pods, objects=[EXCLUSIVE])
    plugin = cluster.plugin(VolumeRestrictions)
    assert cluster.verdicts(plugin, WANTING, cluster.without("n1", "user")) == {"n1": SUCCESS}
    assert cluster.verdicts(plugin, WANTING, cluster.without("n1", "beside")) == {"n1": IN_USE}
    assert cluster.verdicts(plugin, WANTING, cluster.without("n2", "elsewhere")) == {"n2": IN_USE}


def test_a_claim_of_the_same_name_in_another_namespace_is_another_claim() -> None:
    user = pod("user", node="n", namespace="elsewhere", spec=using("c"))
    cluster = Cluster(node("n"), pods=[user], objects=[EXCLUSIVE])
    assert cluster.verdicts(cluster.plugin(VolumeRestrictions), WANTING) == {"n": SUCCESS}


def test_a_disk_in_use_is_told_before_a_claim_in_use() -> None:
    user = pod("user", node="n1", spec=using("c", data=gce("a")))
    cluster = Cluster(node("n1"), node("n2"), pods=[user], objects=[EXCLUSIVE])
    verdicts = cluster.verdicts(cluster.plugin(VolumeRestrictions), pod("p", spec=using("c", data=gce("a"))))
    assert verdicts == {"n1": DISK, "n2": IN_USE}


@pytest.mark.parametrize(
    ("wanting", "objects", "code"),
    [
        (pod("p"), [], Code.SKIP),
        (pod("p", spec=using("shared")), [SHARED], Code.SKIP),
        (pod("p", spec=using(data={"emptyDir": {}})), [], Code.SKIP),
        (WANTING, [EXCLUSIVE], Code.SUCCESS),
        (pod("p", spec=using(data=gce("a"))), [], Code.SUCCESS),
    ],
)
def test_only_what_cannot_be_shared_is_looked_at(wanting: PodInfo, objects: list[ApiObject], code: Code) -> None:
    cluster = Cluster(node("n"), objects=objects)
    assert cluster.plugin(VolumeRestrictions).pre_filter(CycleState(), wanting).status.code is code


def test_a_claim_that_is_not_there_is_waited_for() -> None:
    plugin = Cluster(node("n")).plugin(VolumeRestrictions)
    refused = unresolvable('persistentvolumeclaim "c" not found')
    assert plugin.pre_filter(CycleState(), WANTING).status == refused
    event = (EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD)
    assert wakes(plugin, *event, WANTING, None, EXCLUSIVE)
    assert not wakes(plugin, *event, WANTING, None, SHARED)


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        (pod("x", node="n", spec=using("c")), True),
        (pod("x", node="n", spec=using("other")), False),
        (pod("x", node="n", namespace="elsewhere", spec=using("c")), False),
        (pod("x", node="n"), False),
    ],
)
def test_a_pod_that_leaves_the_claim_wakes_a_pod(gone: PodInfo, expected: bool) -> None:
    plugin = Cluster().plugin(VolumeRestrictions)
    assert wakes(plugin, EventResource.ASSIGNED_POD, Action.DELETE, WANTING, gone, None) is expected
