"""Room on nodes: the filter, its reasons and what wakes a pod. Scores are in test_scoring_strategy.py."""

from collections.abc import Mapping

import pytest

from plugins.node_resources_fit import NodeResourcesFit
from scheduler.framework import SUCCESS, Action, EventResource, Node, PodInfo, Status, unresolvable, unschedulable
from tests.builders import JsonObject, container, node, pod
from tests.plugins.cluster import Cluster, problems, wakes

GPU = "nvidia.com/gpu"


def busy(name: str = "other", **requests: str) -> PodInfo:
    return pod(name, requests.pop("cpu", None), requests.pop("memory", None), node="n", resources=requests)


def verdict(wanting: PodInfo, on: Node, *others: PodInfo, **args: object) -> Status:
    cluster = Cluster(on, pods=others)
    return cluster.verdicts(cluster.plugin(NodeResourcesFit, **args), wanting)["n"]


NODE = node("n", "4", "8Gi", pods="3", resources={"ephemeral-storage": "10Gi", GPU: "2", "hugepages-2Mi": "64Mi"})


@pytest.mark.parametrize(
    ("wanting", "others", "expected"),
    [
        (pod("p"), [], SUCCESS),
        (pod("p", "4", "8Gi"), [], SUCCESS),
        (pod("p", "2"), [busy(cpu="2")], SUCCESS),
        (pod("p", "2001m"), [busy(cpu="2")], unschedulable("Insufficient cpu")),
        (pod("p", memory="5Gi"), [busy(memory="4Gi")], unschedulable("Insufficient memory")),
        (pod("p", "4001m"), [], unresolvable("Insufficient cpu")),
        (pod("p", resources={"ephemeral-storage": "11Gi"}), [], unresolvable("Insufficient ephemeral-storage")),
        (pod("p", resources={GPU: "1"}), [busy(**{GPU: "2"})], unschedulable(f"Insufficient {GPU}")),
        (pod("p", resources={GPU: "3"}), [], unresolvable(f"Insufficient {GPU}")),
        (pod("p", resources={"hugepages-2Mi": "65Mi"}), [], unresolvable("Insufficient hugepages-2Mi")),
        (pod("p", resources={"example.com/none": "1"}), [], unresolvable("Insufficient example.com/none")),
        (pod("p"), [busy("a"), busy("b"), busy("c")], unschedulable("Too many pods")),
    ],
)
def test_what_is_short_is_said_and_whether_eviction_could_help(
    wanting: PodInfo, others: list[PodInfo], expected: Status
) -> None:
    assert verdict(wanting, NODE, *others) == expected


def test_all_shortages_are_listed_native_ones_first_and_others_by_name() -> None:
    wanting = pod("p", "3", "8Gi", resources={GPU: "2", "example.com/a": "1", "ephemeral-storage": "11Gi"})
    others = [busy("a", cpu="2", memory="1Gi", **{GPU: "1"}), busy("b"), busy("c")]
    assert verdict(wanting, NODE, *others) == unresolvable(
        "Too many pods",
        "Insufficient cpu",
        "Insufficient memory",
        "Insufficient ephemeral-storage",
        "Insufficient example.com/a",
        f"Insufficient {GPU}",
    )


def test_a_pod_that_requests_nothing_fits_a_node_that_is_over_committed() -> None:
    shrunk = node("n", "1", pods="5")
    assert verdict(pod("p"), shrunk, busy(cpu="3")) == SUCCESS
    assert verdict(pod("p", "0"), shrunk, busy(cpu="3")) == SUCCESS
    assert verdict(pod("p", memory="1Gi"), shrunk, busy(cpu="3")) == SUCCESS
    assert verdict(pod("p", "1m"), shrunk, busy(cpu="3")) == unschedulable("Insufficient cpu")


def test_a_node_that_says_nothing_of_pods_takes_none() -> None:
    assert verdict(pod("p"), node("n", pods="0")) == unschedulable("Too many pods")


def test_each_node_has_its_own_reasons() -> None:
    cluster = Cluster(
        node("big", "8", "8Gi"),
        node("small", "1", "8Gi"),
        node("slim", "8", "1Gi"),
        node("tiny", "1", "1Gi"),
        node("n", "2"),
    )
    assert cluster.verdicts(cluster.plugin(NodeResourcesFit), pod("p", "2", "2Gi")) == {
        "big": SUCCESS,
        "small": unresolvable("Insufficient cpu"),
        "slim": unresolvable("Insufficient memory"),
        "tiny": unresolvable("Insufficient cpu", "Insufficient memory"),
        "n": SUCCESS,
    }


def test_the_same_shortage_is_for_good_on_one_node_and_not_on_another() -> None:
    cluster = Cluster(node("n", "4"), node("small", "1"), pods=[busy(cpu="3")])
    assert cluster.verdicts(cluster.plugin(NodeResourcesFit), pod("p", "2")) == {
        "n": unschedulable("Insufficient cpu"),
        "small": unresolvable("Insufficient cpu"),
    }


def test_more_resources_than_a_machine_word_has_bits() -> None:
    many = {f"example.com/r{i:03}": "1" for i in range(100)}
    assert verdict(pod("p", resources=many), node("n", resources=many)) == SUCCESS
    last = {**many, "example.com/r099": "2"}
    assert verdict(pod("p", resources=last), node("n", resources=many)) == unresolvable("Insufficient example.com/r099")


def test_an_amount_beyond_all_nodes_is_refused_and_not_an_error() -> None:
    assert verdict(pod("p", memory="100E"), node("n")) == unresolvable("Insufficient memory")


def test_pods_that_claim_more_than_there_is_in_the_world_take_just_all_of_their_node() -> None:
    cluster = Cluster(node("n"), node("m"), pods=[busy(name, cpu="100E", memory="9E") for name in ("a", "b")])
    plugin = cluster.plugin(NodeResourcesFit)
    reasons = unschedulable("Insufficient cpu", "Insufficient memory")
    assert cluster.verdicts(plugin, pod("p", "1", "1Gi")) == {"n": reasons, "m": SUCCESS}
    scores = cluster.scores(plugin, pod("p"))
    assert scores is not None
    assert scores["n"] == 0 < scores["m"] <= 100


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        # two containers beside each other
        ({"containers": [container("1", name="a"), container("1", name="b")]}, 2),
        # init containers run one after another, before the others
        ({"initContainers": [container("3", name="i"), container("2", name="j")]}, 3),
        # a sidecar runs on beside the others, and beside the init containers after it
        ({"initContainers": [container("1", name="s", restart_policy="Always"), container("3", name="i")]}, 4),
        ({"initContainers": [container("3", name="i"), container("1", name="s", restart_policy="Always")]}, 3),
        # pod-level requests replace the sum, and overhead comes on top of them
        ({"resources": {"requests": {"cpu": "500m"}}, "overhead": {"cpu": "500m"}}, 1),
        ({"overhead": {"cpu": "250m"}}, 1.25),
    ],
)
def test_what_a_pod_needs(spec: JsonObject, expected: float) -> None:
    base: JsonObject = {"containers": [container("1")]}
    wanting = pod("p", spec={**base, **spec})
    enough, less = f"{int(expected * 1000)}m", f"{int(expected * 1000) - 1}m"
    assert verdict(wanting, node("n", enough)) == SUCCESS
    assert verdict(wanting, node("n", less)) == unresolvable("Insufficient cpu")


@pytest.mark.parametrize(
    ("args", "ignored"),
    [
        ({"ignoredResources": ["example.com/a"]}, {"example.com/a"}),
        ({"ignoredResourceGroups": ["example.com"]}, {"example.com/a", "example.com/b"}),
        ({"ignoredResources": ["cpu", "hugepages-2Mi"], "ignoredResourceGroups": ["hugepages-2Mi"]}, set()),
    ],
)
def test_extended_resources_can_be_left_to_others(args: Mapping[str, object], ignored: set[str]) -> None:
    for resource in ("example.com/a", "example.com/b", "other.example/a", "hugepages-2Mi"):
        expected = SUCCESS if resource in ignored else unresolvable(f"Insufficient {resource}")
        assert verdict(pod("p", resources={resource: "1"}), node("n"), **args) == expected


def test_ignoring_resources_ignores_no_other_shortage() -> None:
    wanting = pod("p", "9", resources={"example.com/a": "1"})
    assert verdict(wanting, node("n"), ignoredResources=["example.com/a"]) == unresolvable("Insufficient cpu")


def test_arguments_that_cannot_be() -> None:
    assert problems(NodeResourcesFit, ignoredResources=["a/b/c"], ignoredResourceGroups=["example.com/a"]) == [
        'ignoredResources[0]: found "a/b/c", allowed: a resource name such as example.com/widget',
        'ignoredResourceGroups[0]: found "example.com/a", allowed: the part of a name before the slash',
    ]


# What wakes a pod.


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        pytest.param([], True, id="the node is empty now"),
        pytest.param([pod("big", "3500m", node="n")], False, id="too little room is left"),
        pytest.param([pod("a", node="n"), pod("b", node="n")], False, id="all places are taken"),
    ],
)
def test_a_pod_that_goes_wakes_those_that_fit_on_its_node_now(left: list[PodInfo], expected: bool) -> None:
    plugin = Cluster(node("n", "4", pods="2"), node("empty", "64"), pods=left).plugin(NodeResourcesFit)
    gone = pod("gone", "1", node="n")
    assert wakes(plugin, EventResource.ASSIGNED_POD, Action.DELETE, pod("p", "1"), gone, None) is expected


def test_a_decision_that_was_undone_may_help_anywhere() -> None:
    plugin = Cluster().plugin(NodeResourcesFit)
    assert wakes(plugin, EventResource.ASSIGNED_POD, Action.DELETE, pod("p", "1"), pod("undone", "1"), None)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (busy(cpu="2"), busy(cpu="1"), True),
        (busy(cpu="2", memory="2Gi"), busy(cpu="2", memory="1Gi"), False),
        (busy(**{GPU: "2"}), busy(**{GPU: "1"}), False),
        (busy(cpu="1"), busy(cpu="2"), False),
    ],
)
def test_a_pod_that_shrinks_must_free_what_is_wanted(old: PodInfo, new: PodInfo, expected: bool) -> None:
    plugin = Cluster(node("n", "64", "64Gi")).plugin(NodeResourcesFit)
    event = (EventResource.ASSIGNED_POD, Action.UPDATE_POD_SCALE_DOWN)
    assert wakes(plugin, *event, pod("p", "1"), old, new) is expected


def test_a_pod_that_wants_less_itself_is_woken() -> None:
    plugin = Cluster().plugin(NodeResourcesFit)
    event = (EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_SCALE_DOWN)
    assert wakes(plugin, *event, pod("p", "1"), pod("p", "2"), pod("p", "1"))


@pytest.mark.parametrize(
    ("wanting", "old", "new", "expected"),
    [
        (pod("p", "2"), None, node("n", "2"), True),
        (pod("p", "2"), None, node("n", "1"), False),
        (pod("p", "2"), node("n", "2"), node("n", "3"), True),
        (pod("p", "2"), node("n", "1"), node("n", "1500m"), False),
        (pod("p", "2"), node("n", "4", "1Gi"), node("n", "4", "2Gi"), False),
        (pod("p", "2"), node("n", pods="1"), node("n", pods="2"), True),
        (pod("p"), node("n"), node("n", "64"), False),
        (pod("p"), None, node("n", pods="0"), False),
        (pod("p", resources={GPU: "1"}), node("n"), node("n", resources={GPU: "1"}), True),
    ],
)
def test_a_node_must_be_large_enough_and_have_more_of_what_is_wanted(
    wanting: PodInfo, old: Node | None, new: Node, expected: bool
) -> None:
    plugin = Cluster().plugin(NodeResourcesFit)
    action = Action.UPDATE_NODE_ALLOCATABLE if old else Action.ADD
    assert wakes(plugin, EventResource.NODE, action, wanting, old, new) is expected


def test_a_new_node_need_not_have_what_is_ignored() -> None:
    plugin = Cluster().plugin(NodeResourcesFit, ignoredResources=["example.com/a"])
    wanting = pod("p", resources={"example.com/a": "1"})
    assert wakes(plugin, EventResource.NODE, Action.ADD, wanting, None, node("n"))
