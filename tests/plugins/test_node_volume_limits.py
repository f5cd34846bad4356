"""How many volumes a driver can attach, after kube-scheduler's nodevolumelimits tests."""

import pytest

from plugins.node_volume_limits import NodeVolumeLimits
from scheduler.api import (
    ApiObject,
    CsiNode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler.framework import SUCCESS, Action, Code, CycleState, EventResource, PodInfo, unresolvable, unschedulable
from tests.builders import JsonObject, node, pod
from tests.plugins.cluster import Cluster, wakes
from tests.volumes import claim_json, class_json, csi_node_json, csi_source, made, using, volume_json

REFUSED = unschedulable("node(s) exceed max volume count")
DRIVER = "csi.example.com"
EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
AZURE = {"azureDisk": {"diskName": "a", "diskURI": "/a"}}


def limited(count: int, name: str = "n", **others: int) -> CsiNode:
    """Other drivers are named with underscores for dots."""
    limits = {driver.replace("_", "."): limit for driver, limit in others.items()}
    return made(CsiNode, csi_node_json(name, {DRIVER: count, **limits}))


def bound(*names: str, driver: str = DRIVER) -> list[ApiObject]:
    """Claims, each with a volume of the same name and handle."""
    objects: list[ApiObject] = []
    for name in names:
        objects.append(made(PersistentVolume, volume_json(f"v-{name}", source=csi_source(name, driver))))
        objects.append(made(PersistentVolumeClaim, claim_json(name, volume=f"v-{name}")))
    return objects


def attachment(volume: str, node_name: str = "n", attacher: str = DRIVER) -> VolumeAttachment:
    spec = {"attacher": attacher, "nodeName": node_name, "source": {"persistentVolumeName": volume}}
    return made(VolumeAttachment, {"metadata": {"name": f"at-{volume}"}, "spec": spec})


def fits(wanting: PodInfo, *objects: ApiObject, pods: tuple[PodInfo, ...] = ()) -> bool:
    cluster = Cluster(node("n"), pods=pods, objects=objects)
    verdict = cluster.verdicts(cluster.plugin(NodeVolumeLimits), wanting)["n"]
    assert verdict in (SUCCESS, REFUSED)
    return verdict.ok


def on(name: str, *claims: str, **volumes: JsonObject) -> PodInfo:
    return pod(name, node="n", spec=using(*claims, **volumes))


def wanting(*claims: str, **volumes: JsonObject) -> PodInfo:
    return pod("p", spec=using(*claims, **volumes))


@pytest.mark.parametrize(("limit", "expected"), [(0, False), (1, False), (2, True), (3, True)])
def test_what_pods_use_and_what_is_wanted_must_not_exceed_the_limit(limit: int, expected: bool) -> None:
    objects = [limited(limit), *bound("a", "b")]
    assert fits(wanting("b"), *objects, pods=(on("x", "a"),)) is expected


def test_a_volume_counts_once_however_many_pods_use_it() -> None:
    objects = [limited(2), *bound("a", "b", "c")]
    users = (on("x", "a"), on("y", "a"), on("z", "b"))
    assert fits(wanting("a"), *objects, pods=users)
    assert fits(wanting("a", "b"), *objects, pods=users)
    assert not fits(wanting("c"), *objects, pods=users)


def test_each_driver_has_its_own_limit() -> None:
    objects = [limited(1, other_example_com=1), *bound("a", "b"), *bound("other", driver="other.example.com")]
    users = (on("x", "a"),)
    assert fits(wanting("other"), *objects, pods=users)
    assert not fits(wanting("b"), *objects, pods=users)
    assert not fits(wanting("other", "b"), *objects, pods=users)


def test_without_a_known_limit_there_is_none() -> None:
    unknown = made(CsiNode, {"metadata": {"name": "n"}, "spec": {"drivers": [{"name": DRIVER, "nodeID": "n"}]}})
    for known in ([], [unknown], [limited(0, name="another-node")]):
        assert fits(wanting("b"), *bound("a", "b"), *known, pods=(on("x", "a"),))


def test_what_is_attached_counts_though_no_pod_uses_it() -> None:
    objects = [limited(2), *bound("a", "b", "c")]
    assert fits(wanting("c"), *objects, attachment("v-a"))
    assert not fits(wanting("c"), *objects, attachment("v-a"), attachment("v-b"))
    assert fits(wanting("c"), *objects, attachment("v-a"), pods=(on("x", "a"),)), "once, not twice"
    assert fits(wanting("c"), *objects, attachment("v-a"), attachment("v-b", node_name="other"))
    assert fits(wanting("c"), *objects, attachment("v-a"), attachment("v-b", attacher="other.example.com"))


def test_a_claim_without_a_volume_counts_for_its_classes_driver() -> None:
    late = made(StorageClass, class_json("csi", DRIVER))
    claims = [made(PersistentVolumeClaim, claim_json(name, storage_class="csi")) for name in ("late1", "late2")]
    assert fits(wanting("late2"), late, *claims, limited(2), pods=(on("x", "late1"),))
    assert not fits(wanting("late2"), late, *claims, limited(1), pods=(on("x", "late1"),))
    assert fits(wanting("late1"), late, *claims, limited(1), pods=(on("x", "late1"),)), "the same one"
    assert fits(wanting("late2"), *claims, limited(0)), "without its class nothing is known"
    gone = made(PersistentVolumeClaim, claim_json("gone", storage_class="csi", volume="no-such-volume"))
    assert not fits(wanting("gone"), late, gone, limited(0))


@pytest.mark.parametrize(
    ("provisioner", "source", "driver"),
    [
        ("kubernetes.io/aws-ebs", EBS, "ebs.csi.aws.com"),
        ("kubernetes.io/azure-disk", AZURE, "disk.csi.azure.com"),
        ("kubernetes.io/gce-pd", {"gcePersistentDisk": {"pdName": "d"}}, "pd.csi.storage.gke.io"),
        ("kubernetes.io/cinder", {"cinder": {"volumeID": "c"}}, "cinder.csi.openstack.org"),
        ("kubernetes.io/portworx-volume", {"portworxVolume": {"volumeID": "w"}}, "pxd.portworx.com"),
    ],
)
def test_in_tree_volumes_count_for_the_driver_that_has_taken_over(
    provisioner: str, source: JsonObject, driver: str
) -> None:
    late = made(StorageClass, class_json("old", provisioner))
    objects: list[ApiObject] = [
        late,
        made(PersistentVolume, volume_json("v", source=source)),
        made(PersistentVolumeClaim, claim_json("bound", volume="v")),
        made(PersistentVolumeClaim, claim_json("late", storage_class="old")),
    ]
    for wants in (wanting("bound"), wanting("late"), wanting(data=source)):
        assert fits(wants, *objects, made(CsiNode, csi_node_json("n", {driver: 1})))
        assert not fits(wants, *objects, made(CsiNode, csi_node_json("n", {driver: 0})))


def test_an_ebs_volume_is_the_same_with_and_without_its_zone() -> None:
    with_zone = {"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}}
    one = made(CsiNode, csi_node_json("n", {"ebs.csi.aws.com": 1}))
    assert fits(wanting(data=with_zone), one, pods=(on("x", data=EBS),))


def test_volumes_that_nothing_attaches_do_not_count() -> None:
    local = [made(PersistentVolume, volume_json("v")), made(PersistentVolumeClaim, claim_json("c", volume="v"))]
    assert fits(wanting("c"), *local, limited(0))
    assert fits(wanting(data={"iscsi": {"iqn": "q"}}), limited(0))


@pytest.mark.parametrize(
    ("looked_at", "code"),
    [
        (pod("p"), Code.SKIP),
        (wanting(data={"emptyDir": {}}), Code.SKIP),
        (wanting(data={"rbd": {"image": "i"}}), Code.SKIP),
        (wanting("a"), Code.SUCCESS),
        (wanting(scratch={"ephemeral": {}}), Code.SUCCESS),
        (wanting(data=EBS), Code.SUCCESS),
    ],
)
def test_only_pods_with_something_to_attach_are_looked_at(looked_at: PodInfo, code: Code) -> None:
    assert Cluster().plugin(NodeVolumeLimits).pre_filter(CycleState(), looked_at).status.code is code


def test_the_claim_of_an_ephemeral_volume_is_the_pods_own() -> None:
    ephemeral = wanting(scratch={"ephemeral": {}})
    owner = {"uid": "p", "controller": True, "kind": "Pod", "name": "p", "apiVersion": "v1"}
    own = claim_json("p-scratch", volume="v-a", metadata={"ownerReferences": [owner]})
    volume = bound("a")[0]
    assert not fits(ephemeral, volume, made(PersistentVolumeClaim, own), limited(0))
    cluster = Cluster(node("n"), objects=[volume, made(PersistentVolumeClaim, claim_json("p-scratch", volume="v-a"))])
    status = cluster.verdicts(cluster.plugin(NodeVolumeLimits), ephemeral)["n"]
    assert (status.code, status.message) == (
        Code.ERROR,
        "PVC default/p-scratch was not created for pod default/p (pod is not owner)",
    )


def test_a_claim_that_is_not_there_refuses_every_node() -> None:
    cluster = Cluster(node("n"))
    refused = unresolvable('looking up PVC default/a: persistentvolumeclaim "a" not found')
    assert cluster.verdicts(cluster.plugin(NodeVolumeLimits), wanting("a")) == {"n": refused}


def test_pods_that_are_evicted_take_their_volumes_along() -> None:
    cluster = Cluster(node("n"), pods=[on("x", "a"), on("y", "a"), on("z")], objects=[limited(1), *bound("a", "b")])
    plugin = cluster.plugin(NodeVolumeLimits)
    assert cluster.verdicts(plugin, wanting("b"), cluster.without("n", "x", "z")) == {"n": REFUSED}
    assert cluster.verdicts(plugin, wanting("b"), cluster.without("n", "x", "y")) == {"n": SUCCESS}
    assert cluster.verdicts(plugin, wanting("b")) == {"n": REFUSED}, "in the cluster nothing has changed"


def test_a_driver_that_can_attach_more_wakes_a_pod() -> None:
    plugin = Cluster().plugin(NodeVolumeLimits)
    event = (EventResource.CSI_NODE, Action.UPDATE_OTHER)
    assert wakes(plugin, *event, wanting("a"), limited(1), limited(2))
    assert not wakes(plugin, *event, wanting("a"), limited(2), limited(1))
    assert wakes(plugin, *event, wanting("a"), limited(2), limited(2, other_example_com=1))
    assert wakes(plugin, EventResource.CSI_NODE, Action.ADD, wanting("a"), None, limited(0))


@pytest.mark.parametrize(
    ("gone", "expected"),
    [(on("x", "b"), True), (on("x", scratch={"ephemeral": {}}), True), (on("x", data=EBS), True), (on("x"), False)],
)
def test_a_pod_that_goes_with_its_volumes_wakes_a_pod(gone: PodInfo, expected: bool) -> None:
    plugin = Cluster().plugin(NodeVolumeLimits)
    assert wakes(plugin, EventResource.ASSIGNED_POD, Action.DELETE, wanting("a"), gone, None) is expected


@pytest.mark.parametrize(
    ("waiting", "attacher", "expected"),
    [
        (wanting("a"), "any.example.com", True),
        (wanting(data=EBS), "ebs.csi.aws.com", True),
        (wanting(data=EBS), "any.example.com", False),
    ],
)
def test_an_attachment_that_ends_wakes_a_pod(waiting: PodInfo, attacher: str, expected: bool) -> None:
    plugin = Cluster().plugin(NodeVolumeLimits)
    gone = attachment("v", attacher=attacher)
    assert wakes(plugin, EventResource.VOLUME_ATTACHMENT, Action.DELETE, waiting, gone, None) is expected


def test_a_claim_that_is_created_wakes_its_pod() -> None:
    plugin = Cluster().plugin(NodeVolumeLimits)
    event = (EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD)
    claims = {name: made(PersistentVolumeClaim, claim_json(name)) for name in ("a", "p-scratch", "other")}
    waiting = wanting("a", scratch={"ephemeral": {}})
    woken = {name for name, claim in claims.items() if wakes(plugin, *event, waiting, None, claim)}
    assert woken == {"a", "p-scratch"}
