"""What binding a pod does, and when it is refused."""

import pytest

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.fields import integer_at, labels_of, objects_at, string_map_at, text_at, uid_of, value_at
from scheduler.sandbox.patches import MERGE_PATCH
from tests.sandbox.builders import binding, node, pod


def test_a_bound_pod_has_its_node_the_condition_and_what_the_binding_carried(cluster: Cluster) -> None:
    cluster.create("nodes", node("n1", {"topology.kubernetes.io/zone": "a"}))
    created = cluster.create("pods", pod("p"))
    cluster.patch("pods", "default", "p", {"status": {"nominatedNodeName": "n2"}}, MERGE_PATCH, subresource="status")
    cluster.bind("default", "p", binding("p", "n1", uid=uid_of(created), annotations={"gpu": "0"}, labels={"x": "y"}))
    bound = cluster.get("pods", "default", "p")
    assert text_at(bound, "spec", "nodeName") == "n1"
    assert string_map_at(bound, "metadata", "annotations") == {"gpu": "0"}
    assert labels_of(bound) == {"x": "y", "topology.kubernetes.io/zone": "a"}
    assert value_at(bound, "status", "nominatedNodeName") is None
    condition = objects_at(bound, "status", "conditions")[0]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")
    assert integer_at(bound, "metadata", "generation") == 1


def test_a_pod_is_bound_once(cluster: Cluster) -> None:
    cluster.create("pods", pod("p"))
    cluster.bind("default", "p", binding("p", "n1"))
    with pytest.raises(ApiError) as refused:
        cluster.bind("default", "p", binding("p", "n1"))
    assert (refused.value.code, refused.value.reason) == (409, "Conflict")
    assert refused.value.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"'
    )


def test_a_binding_for_an_earlier_pod_of_the_name_is_refused(cluster: Cluster) -> None:
    old = cluster.create("pods", pod("p"))
    cluster.delete("pods", "default", "p")
    new = cluster.create("pods", pod("p"))
    with pytest.raises(ApiError) as refused:
        cluster.bind("default", "p", binding("p", "n1", uid=uid_of(old)))
    assert refused.value.code == 409
    assert f"UID in object meta: {uid_of(new)}" in refused.value.message
    assert text_at(cluster.get("pods", "default", "p"), "spec", "nodeName") == ""


def test_a_pod_that_is_being_deleted_or_gated_or_gone_is_not_bound(cluster: Cluster) -> None:
    held = pod("held")
    held["metadata"] = {"name": "held", "finalizers": ["example.org/hold"]}
    cluster.create("pods", held)
    cluster.delete("pods", "default", "held")
    cluster.create("pods", pod("gated", schedulingGates=[{"name": "example.org/gate"}]))
    refusals = {}
    for name in ("held", "gated", "gone"):
        with pytest.raises(ApiError) as refused:
            cluster.bind("default", name, binding(name, "n1"))
        refusals[name] = (refused.value.code, refused.value.message.rpartition(": ")[2])
    assert refusals == {
        "held": (409, "pod held is being deleted, cannot be assigned to a host"),
        "gated": (409, "pod gated has non-empty .spec.schedulingGates"),
        "gone": (404, 'pods "gone" not found'),
    }


def test_a_binding_without_a_target_is_an_internal_error(cluster: Cluster) -> None:
    cluster.create("pods", pod("p"))
    with pytest.raises(ApiError) as refused:
        cluster.bind("default", "p", {"metadata": {"name": "p"}})
    assert (refused.value.code, refused.value.message) == (500, "target.name: Required value")
