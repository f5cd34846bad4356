"""Where the volumes of a pod can be used, found or made, after kube-scheduler's volumebinding tests."""

import pytest

from plugins.volume_binding import VolumeBinding
from plugins.volume_binding.writing import Plan
from scheduler.api import (
    ApiObject,
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from scheduler.framework import SUCCESS, Action, Code, CycleState, EventResource, PodInfo, Status, unresolvable
from tests.builders import JsonObject, node, pod
from tests.plugins.cluster import Cluster, problems, wakes
from tests.volumes import HOSTNAME, ZONE, claim_json, class_json, csi_node_json, made, using, volume_json, where

MISMATCH = "node(s) didn't match PersistentVolume's node affinity"
NOTHING = "node(s) didn't find available persistent volumes to bind"
NO_ROOM = "node(s) did not have enough free storage"
NOT_THERE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
LATE = made(StorageClass, class_json("local"))
MADE = made(StorageClass, class_json("csi", "csi.example.com"))


def volume(name: str, size: str = "10Gi", *, on: str = "n1", **fields: object) -> PersistentVolume:
    return made(PersistentVolume, volume_json(name, size, on=where(HOSTNAME, on), **fields))  # type: ignore[arg-type]  # as volume_json takes them


def claim(name: str, size: str = "5Gi", **fields: object) -> PersistentVolumeClaim:
    return made(PersistentVolumeClaim, claim_json(name, size, **fields))  # type: ignore[arg-type]  # as claim_json takes them


def two_nodes(*objects: ApiObject) -> Cluster:
    return Cluster(*(node(n, labels={ZONE: zone}) for n, zone in (("n1", "a"), ("n2", "b"))), objects=objects)


def verdicts(cluster: Cluster, wanting: PodInfo) -> dict[str, Status]:
    return cluster.verdicts(cluster.plugin(VolumeBinding), wanting)


def chosen(cluster: Cluster, wanting: PodInfo, node_name: str = "n1") -> dict[str, str]:
    """The volume that each claim would get on a node; empty for one that is to be made."""
    plugin = cluster.plugin(VolumeBinding)
    state = CycleState()
    assert plugin.pre_filter(state, wanting).status.ok
    assert plugin.reserve(state, wanting, node_name).ok
    plan = state.get(Plan)
    plugin.unreserve(state, wanting, node_name)
    assert plan is not None
    return {c.name: v.name for v, c in plan.bindings} | {c.name: "" for c in plan.provisions}


def uses(*claims: str, name: str = "p", **volumes: JsonObject) -> PodInfo:
    return pod(name, spec=using(*claims, **volumes))


@pytest.mark.parametrize(
    ("wanting", "objects", "expected"),
    [
        (uses("c"), [], 'persistentvolumeclaim "c" not found'),
        (
            uses(scratch={"ephemeral": {}}),
            [],
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"',
        ),
        (
            uses(scratch={"ephemeral": {}}),
            [claim("p-scratch")],
            "PVC default/p-scratch was not created for pod default/p (pod is not owner)",
        ),
        (
            uses("c"),
            [claim("c", volume="v", phase="Lost")],
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        (
            uses("c"),
            [claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
            'persistentvolumeclaim "c" is being deleted',
        ),
        (uses("c"), [claim("c", storage_class=None)], "pod has unbound immediate PersistentVolumeClaims"),
        (uses("c"), [claim("c")], "pod has unbound immediate PersistentVolumeClaims"),
        (
            uses("c"),
            [claim("c"), made(StorageClass, class_json("local", late=False))],
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        (
            uses("c"),
            [claim("c", volume="v", bound=False), LATE],
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ],
)
def test_some_claims_must_be_seen_to_before_any_node_is(
    wanting: PodInfo, objects: list[ApiObject], expected: str
) -> None:
    plugin = two_nodes(*objects).plugin(VolumeBinding)
    assert plugin.pre_filter(CycleState(), wanting).status == unresolvable(expected)


def test_pods_without_claims_are_not_looked_at() -> None:
    plugin = two_nodes().plugin(VolumeBinding)
    assert plugin.pre_filter(CycleState(), uses(data={"emptyDir": {}})).status.code is Code.SKIP


def test_a_bound_volume_must_be_usable_on_the_node() -> None:
    cluster = two_nodes(claim("c", volume="v"), volume("v"))
    assert verdicts(cluster, uses("c")) == {"n1": SUCCESS, "n2": unresolvable(MISMATCH)}


def test_a_volume_without_node_affinity_can_be_used_everywhere() -> None:
    cluster = two_nodes(claim("c", volume="v"), made(PersistentVolume, volume_json("v")))
    assert verdicts(cluster, uses("c")) == {"n1": SUCCESS, "n2": SUCCESS}


def test_a_claim_bound_to_nothing_fits_nowhere() -> None:
    cluster = two_nodes(claim("a", volume="v"), volume("v"), claim("b", volume="gone"))
    assert verdicts(cluster, uses("a", "b")) == {"n1": unresolvable(NOT_THERE), "n2": unresolvable(MISMATCH)}


def test_a_claim_that_waits_takes_the_smallest_volume_that_is_large_enough() -> None:
    volumes = [volume("tiny", "1Gi"), volume("large", "50Gi"), volume("fits", "6Gi"), volume("there", "5Gi", on="n2")]
    cluster = two_nodes(LATE, claim("c"), *volumes)
    assert verdicts(cluster, uses("c")) == {"n1": SUCCESS, "n2": SUCCESS}
    assert chosen(cluster, uses("c")) == {"c": "fits"}
    assert chosen(cluster, uses("c"), "n2") == {"c": "there"}


@pytest.mark.parametrize(
    "unfit",
    [
        volume("v", "4Gi"),
        volume("v", phase="Released"),
        volume("v", storage_class="other"),
        volume("v", modes=("ReadOnlyMany",)),
        volume("v", spec={"volumeMode": "Block"}),
        volume("v", spec={"volumeAttributesClassName": "gold"}),
        volume("v", claim={"namespace": "default", "name": "other", "uid": "other"}),
        volume("v", claim={"namespace": "default", "name": "c", "uid": "an-older-one"}),
        volume("v", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
        volume("v", on="n2"),
    ],
)
def test_a_volume_that_is_not_for_the_claim_is_not_taken(unfit: PersistentVolume) -> None:
    cluster = two_nodes(LATE, claim("c"), unfit)
    assert verdicts(cluster, uses("c"))["n1"] == unresolvable(NOTHING)


def test_a_claims_selector_must_match_the_volume() -> None:
    picky = claim("c", spec={"selector": {"matchLabels": {"tier": "fast"}}})
    cluster = two_nodes(LATE, picky, volume("slow"), volume("fast", "20Gi", labels={"tier": "fast"}))
    assert chosen(cluster, uses("c")) == {"c": "fast"}


def test_a_volume_that_is_meant_for_the_claim_is_taken_whatever_else_there_is() -> None:
    meant = volume("meant", "50Gi", claim={"namespace": "default", "name": "c"}, phase="Pending")
    cluster = two_nodes(LATE, claim("c"), volume("smaller"), volume("there", on="n2"), meant)
    assert chosen(cluster, uses("c")) == {"c": "meant"}
    assert verdicts(cluster, uses("c"))["n2"] == unresolvable(NOTHING)


def test_each_claim_of_a_pod_gets_a_volume_of_its_own_the_smallest_first() -> None:
    cluster = two_nodes(
        LATE,
        claim("big", "8Gi"),
        claim("small", "2Gi"),
        volume("v3", "3Gi"),
        volume("v9", "9Gi"),
        volume("w9", "9Gi", on="n2"),
    )
    both = uses("big", "small")
    assert chosen(cluster, both) == {"small": "v3", "big": "v9"}
    assert verdicts(cluster, both)["n2"] == unresolvable(NOTHING)


def test_volumes_are_found_by_any_node_affinity() -> None:
    zonal = made(PersistentVolume, volume_json("zonal", "7Gi", on=where(ZONE, "a", "c")))
    anywhere = made(PersistentVolume, volume_json("anywhere", "8Gi"))
    cluster = two_nodes(LATE, claim("c"), volume("local", "9Gi"), zonal, anywhere, claim("d"), claim("e"))
    assert chosen(cluster, uses("c")) == {"c": "zonal"}
    assert chosen(cluster, uses("c"), "n2") == {"c": "anywhere"}
    assert chosen(cluster, uses("c", "d", "e")) == {"c": "zonal", "d": "anywhere", "e": "local"}


def test_a_claim_named_twice_needs_one_volume() -> None:
    cluster = two_nodes(LATE, claim("c"), volume("v"))
    (once,) = using("c")["volumes"]
    twice = pod("p", spec={"volumes": [once, {**once, "name": "again"}]})
    assert chosen(cluster, twice) == {"c": "v"}


def test_a_claim_without_a_volume_is_made_where_its_class_allows() -> None:
    topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}]
    zonal = made(StorageClass, {**class_json("csi", "csi.example.com"), "allowedTopologies": topologies})
    cluster = two_nodes(zonal, claim("c", storage_class="csi"))
    assert verdicts(cluster, uses("c")) == {"n1": SUCCESS, "n2": unresolvable(NOTHING)}
    assert chosen(cluster, uses("c")) == {"c": ""}


def test_a_volume_that_is_there_is_taken_before_one_is_made() -> None:
    cluster = two_nodes(MADE, claim("c", storage_class="csi"), volume("v", storage_class="csi"))
    assert chosen(cluster, uses("c")) == {"c": "v"}
    assert chosen(cluster, uses("c"), "n2") == {"c": ""}


def test_a_claim_whose_node_is_selected_waits_for_it_there() -> None:
    cluster = two_nodes(MADE, claim("c", storage_class="csi", selected_node="n2"))
    assert verdicts(cluster, uses("c")) == {"n1": unresolvable(NOTHING), "n2": SUCCESS}


TELLS = made(CsiDriver, {"metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": True}})


def pool(capacity: str | None, labels: dict[str, str] | None, *, largest: str | None = None) -> CsiStorageCapacity:
    body: JsonObject = {"metadata": {"name": f"pool-{capacity}-{largest}-{labels}", "namespace": "kube-system"}}
    if capacity is not None:
        body["capacity"] = capacity
    if largest is not None:
        body["maximumVolumeSize"] = largest
    if labels is not None:
        body["nodeTopology"] = {"matchLabels": labels}
    return made(CsiStorageCapacity, {**body, "storageClassName": "csi"})


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        ([], {}),
        ([pool("10Gi", {HOSTNAME: "n1"})], {"n1"}),
        ([pool("4Gi", {HOSTNAME: "n1"})], {}),
        ([pool("10Gi", {HOSTNAME: "n1"}), pool("10Gi", {HOSTNAME: "n2"})], {"n1", "n2"}),
        ([pool("10Gi", {ZONE: "b", HOSTNAME: "n2"})], {"n2"}),
        ([pool("10Gi", {})], {"n1", "n2"}),
        ([pool("10Gi", None)], {}),
        ([pool(None, {})], {}),
        ([pool("10Gi", {}, largest="1Gi")], {}),
        ([pool("1Gi", {}, largest="10Gi")], {"n1", "n2"}),
    ],
)
def test_a_driver_that_tells_its_room_is_believed(pools: list[CsiStorageCapacity], expected: set[str]) -> None:
    cluster = two_nodes(MADE, TELLS, claim("c", storage_class="csi"), *pools)
    said = verdicts(cluster, uses("c"))
    assert {name for name, status in said.items() if status.ok} == set(expected)
    assert {status for status in said.values() if not status.ok} <= {unresolvable(NO_ROOM)}


def test_all_that_is_wrong_with_a_node_is_told() -> None:
    taken = volume("v", on="n2", claim={"namespace": "default", "name": "bound", "uid": "bound"}, phase="Bound")
    cluster = two_nodes(LATE, claim("bound", volume="v"), taken, claim("late"))
    said = verdicts(cluster, uses("bound", "late"))
    assert said == {"n1": unresolvable(MISMATCH, NOTHING), "n2": unresolvable(NOTHING)}


def test_where_a_driver_has_taken_over_its_own_labels_count() -> None:
    source = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
    old = made(PersistentVolume, volume_json("v", source=source, on=where(ZONE, "a")))
    own = {"topology.ebs.csi.aws.com/zone": "a"}
    cluster = Cluster(
        node("old", labels={ZONE: "a"}),
        node("new", labels={ZONE: "a", **own}),
        node("unready", labels={ZONE: "a"}),
        objects=[
            claim("c", volume="v"),
            old,
            *(made(CsiNode, csi_node_json(name, migrated="kubernetes.io/aws-ebs")) for name in ("new", "unready")),
        ],
    )
    assert verdicts(cluster, uses("c")) == {"old": SUCCESS, "new": SUCCESS, "unready": unresolvable(MISMATCH)}


def test_what_one_pod_has_reserved_is_not_there_for_another_until_it_gives_it_back() -> None:
    cluster = two_nodes(LATE, claim("c"), claim("d"), volume("v"))
    plugin, other_profile = cluster.plugin(VolumeBinding), cluster.plugin(VolumeBinding)
    first, second = uses("c", name="first"), uses("d", name="second")
    state = CycleState()
    plugin.pre_filter(state, first)
    assert plugin.reserve(state, first, "n1").ok
    assert cluster.verdicts(other_profile, second)["n1"] == unresolvable(NOTHING)
    for _ in range(2):
        plugin.unreserve(state, first, "n1")
        assert cluster.verdicts(other_profile, second)["n1"].ok


def test_pods_that_share_a_claim_go_where_the_first_one_has_had_it_made() -> None:
    cluster = two_nodes(MADE, claim("c", storage_class="csi"))
    plugin = cluster.plugin(VolumeBinding)
    state = CycleState()
    first, second = uses("c", name="first"), uses("c", name="second")
    plugin.pre_filter(state, first)
    assert plugin.reserve(state, first, "n2").ok
    assert cluster.verdicts(plugin, second) == {"n1": unresolvable(NOTHING), "n2": SUCCESS}


def test_arguments_are_checked() -> None:
    assert problems(VolumeBinding) == []
    assert problems(VolumeBinding, bindTimeoutSeconds=0) == []
    assert problems(VolumeBinding, bindTimeoutSeconds=-1) == ["bindTimeoutSeconds: found -1, allowed: 0 and more"]
    (unexpected,) = problems(VolumeBinding, shape=[{"utilization": 0, "score": 10}])
    assert unexpected.startswith("shape: ")


WAITING = uses("c")
CLAIM = claim("c")


@pytest.mark.parametrize(
    ("resource", "action", "old", "new", "expected"),
    [
        (EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD, None, CLAIM, True),
        (EventResource.PERSISTENT_VOLUME_CLAIM, Action.UPDATE_OTHER, CLAIM, CLAIM, True),
        (EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD, None, claim("other"), False),
        (EventResource.PERSISTENT_VOLUME_CLAIM, Action.ADD, None, claim("c", namespace="elsewhere"), False),
        (EventResource.PERSISTENT_VOLUME, Action.ADD, None, volume("v"), True),
        (EventResource.STORAGE_CLASS, Action.ADD, None, LATE, True),
        (EventResource.STORAGE_CLASS, Action.UPDATE_OTHER, LATE, LATE, False),
        (EventResource.CSI_NODE, Action.ADD, None, made(CsiNode, csi_node_json("n")), True),
        (
            EventResource.CSI_NODE,
            Action.UPDATE_OTHER,
            made(CsiNode, csi_node_json("n")),
            made(CsiNode, csi_node_json("n", migrated="kubernetes.io/cinder")),
            True,
        ),
        (
            EventResource.CSI_NODE,
            Action.UPDATE_OTHER,
            made(CsiNode, csi_node_json("n")),
            made(CsiNode, csi_node_json("n", {"x": 1})),
            False,
        ),
        (EventResource.CSI_STORAGE_CAPACITY, Action.ADD, None, pool("1Gi", {}), True),
        (EventResource.CSI_STORAGE_CAPACITY, Action.UPDATE_OTHER, pool("1Gi", {}), pool("2Gi", {}), True),
        (EventResource.CSI_STORAGE_CAPACITY, Action.UPDATE_OTHER, pool("2Gi", {}), pool("1Gi", {}), False),
        (EventResource.NODE, Action.UPDATE_NODE_LABEL, node("n"), node("n"), True),
        (EventResource.NODE, Action.UPDATE_NODE_TAINT, node("n"), node("n"), False),
    ],
)
def test_what_may_bring_a_volume_wakes_the_pod(
    resource: EventResource, action: Action, old: object, new: object, expected: bool
) -> None:
    assert wakes(Cluster().plugin(VolumeBinding), resource, action, WAITING, old, new) is expected
