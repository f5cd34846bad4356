"""Volumes with zone labels, after the cases of kube-scheduler's volumezone tests."""

import pytest

from plugins.volume_zone import VolumeZone
from scheduler.api import ApiObject, PersistentVolume, PersistentVolumeClaim, StorageClass
from scheduler.framework import SUCCESS, Action, Code, CycleState, EventResource, PodInfo, Status, unresolvable
from tests.builders import node, pod
from tests.plugins.cluster import Cluster, wakes
from tests.volumes import LOCAL, ZONE, claim_json, class_json, made, using, volume_json

REFUSED = unresolvable("node(s) had no available volume zone")
REGION = "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD_REGION = "failure-domain.beta.kubernetes.io/region"

WANTING = pod("p", spec=using("c"))


def labelled(labels: dict[str, str]) -> list[ApiObject]:
    return [
        made(PersistentVolume, volume_json("v", labels=labels)),
        made(PersistentVolumeClaim, claim_json("c", volume="v")),
    ]


def verdict(volume: dict[str, str], on_node: dict[str, str]) -> Status:
    cluster = Cluster(node("n", labels=on_node), objects=labelled(volume))
    return cluster.verdicts(cluster.plugin(VolumeZone), WANTING)["n"]


@pytest.mark.parametrize(
    ("volume", "on_node", "expected"),
    [
        ({ZONE: "a"}, {}, SUCCESS),
        ({ZONE: "a"}, {"other": "label"}, SUCCESS),
        ({}, {ZONE: "a"}, SUCCESS),
        ({ZONE: "a"}, {ZONE: "a"}, SUCCESS),
        ({ZONE: "a"}, {ZONE: "b"}, REFUSED),
        ({ZONE: "a__b"}, {ZONE: "b"}, SUCCESS),
        ({ZONE: " a __ b "}, {ZONE: "b"}, SUCCESS),
        ({ZONE: "a__b"}, {ZONE: "c"}, REFUSED),
        ({ZONE: "a____b"}, {ZONE: "c"}, SUCCESS),
        ({REGION: "r"}, {REGION: "r", ZONE: "a"}, SUCCESS),
        ({REGION: "r"}, {ZONE: "a"}, REFUSED),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, REFUSED),
        ({OLD_ZONE: "a"}, {ZONE: "a"}, SUCCESS),
        ({OLD_ZONE: "a"}, {OLD_ZONE: "a"}, SUCCESS),
        ({OLD_ZONE: "a"}, {OLD_ZONE: "b", ZONE: "a"}, REFUSED),
        ({OLD_REGION: "r"}, {REGION: "r"}, SUCCESS),
        ({ZONE: "a"}, {OLD_ZONE: "a"}, REFUSED),
    ],
)
def test_a_node_is_in_the_zone_of_the_volume_or_in_none(
    volume: dict[str, str], on_node: dict[str, str], expected: Status
) -> None:
    assert verdict(volume, on_node) == expected


def late(name: str = LOCAL, *, binds_late: bool = True) -> StorageClass:
    return made(StorageClass, class_json(name, late=binds_late))


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([made(PersistentVolumeClaim, claim_json("c", volume="v"))], 'persistentvolume "v" not found'),
        (
            [made(PersistentVolumeClaim, claim_json("c", storage_class=None))],
            "PersistentVolumeClaim had no pv name and storageClass name",
        ),
        ([made(PersistentVolumeClaim, claim_json("c"))], 'storageclass.storage.k8s.io "local" not found'),
        ([made(PersistentVolumeClaim, claim_json("c")), late(binds_late=False)], "PersistentVolume had no name"),
        ([made(PersistentVolumeClaim, claim_json("c")), late()], None),
    ],
)
def test_a_claim_that_tells_nothing_keeps_the_pod_waiting_unless_it_is_bound_late(
    objects: list[ApiObject], expected: str | None
) -> None:
    cluster = Cluster(node("n"), objects=objects)
    status = cluster.plugin(VolumeZone).pre_filter(CycleState(), WANTING).status
    assert status == unresolvable(expected) if expected else status.code is Code.SKIP


def test_pods_whose_volumes_name_no_zone_are_not_looked_at() -> None:
    cluster = Cluster(node("n"), objects=labelled({"app": "x"}))
    plugin = cluster.plugin(VolumeZone)
    assert plugin.pre_filter(CycleState(), WANTING).status.code is Code.SKIP
    assert plugin.pre_filter(CycleState(), pod("q")).status.code is Code.SKIP


@pytest.mark.parametrize(("waiting", "expected"), [(WANTING, True), (pod("q", spec=using("other")), False)])
def test_a_claim_wakes_the_pods_that_use_it(waiting: PodInfo, expected: bool) -> None:
    plugin = Cluster().plugin(VolumeZone)
    claim = made(PersistentVolumeClaim, claim_json("c"))
    event = EventResource.PERSISTENT_VOLUME_CLAIM
    assert wakes(plugin, event, Action.ADD, waiting, None, claim) is expected
    elsewhere = made(PersistentVolumeClaim, claim_json("c", namespace="elsewhere"))
    assert not wakes(plugin, event, Action.ADD, waiting, None, elsewhere)


def test_a_volume_wakes_pods_if_it_is_new_or_its_zone_has_changed() -> None:
    plugin = Cluster().plugin(VolumeZone)
    a, b = (made(PersistentVolume, volume_json("v", labels={ZONE: zone})) for zone in ("a", "b"))
    again = made(PersistentVolume, volume_json("v", labels={ZONE: "a", "x": "y"}))
    event = EventResource.PERSISTENT_VOLUME
    assert wakes(plugin, event, Action.ADD, WANTING, None, a)
    assert wakes(plugin, event, Action.UPDATE_OTHER, WANTING, a, b)
    assert not wakes(plugin, event, Action.UPDATE_OTHER, WANTING, a, again)


def test_a_class_wakes_pods_if_it_binds_late() -> None:
    plugin = Cluster().plugin(VolumeZone)
    for binds_late in (True, False):
        added = late(binds_late=binds_late)
        assert wakes(plugin, EventResource.STORAGE_CLASS, Action.ADD, WANTING, None, added) is binds_late
