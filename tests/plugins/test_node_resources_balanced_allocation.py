"""Balance between resources. Expected numbers are worked out by hand from the formula of 1.36."""

import pytest

from plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from scheduler.framework import Node, PodInfo
from tests.builders import node, pod
from tests.plugins.cluster import Cluster, problems

GPU = "nvidia.com/gpu"
NODE = node("n", "10", "10Gi", resources={GPU: "10", "ephemeral-storage": "10Gi"})


def score(wanting: PodInfo, *names: str, on: Node = NODE, others: tuple[PodInfo, ...] = ()) -> int | None:
    cluster = Cluster(on, pods=others)
    args = {"resources": [{"name": name} for name in names]} if names else {}
    scores = cluster.scores(cluster.plugin(NodeResourcesBalancedAllocation, **args), wanting)
    return None if scores is None else scores["n"]


def test_a_pod_that_keeps_the_balance_makes_no_difference() -> None:
    assert score(pod("p", "2", "2Gi")) == 75
    assert score(pod("p", "1", "1Gi"), others=(pod("other", "3", "3Gi", node="n"),)) == 75


def test_a_pod_that_tilts_the_balance_scores_less() -> None:
    # before: 0 apart, 100; after: 0.6 and 0.2, half the difference is 0.2, 80; 50 + (50 + 80 - 100) / 2
    assert score(pod("p", "6", "2Gi")) == 65
    assert score(pod("p", "10")) == 50


def test_a_pod_that_restores_it_scores_more() -> None:
    others = (pod("other", "8", "2Gi", node="n"),)
    # before: 0.8 and 0.2, 70; after: 0.9 and 0.9, 100
    assert score(pod("p", "1", "7Gi"), others=others) == 90


def test_a_fraction_is_at_most_one() -> None:
    others = (pod("other", "9", "5Gi", node="n"),)
    # before: 0.9 and 0.5, 80; after: 1 and 1, 100
    assert score(pod("p", "9", "9Gi"), others=others) == 85


def test_only_real_requests_count() -> None:
    others = (pod("other", "1", node="n"),)  # memory has no default here
    # before: 0.1 and 0, 95; after: 0.1 and 0.1, 100
    assert score(pod("p", memory="1Gi"), others=others) == 77


@pytest.mark.parametrize("wanting", [pod("p"), pod("p", "0"), pod("p", resources={GPU: "1"})])
def test_a_pod_that_requests_none_of_the_resources_is_not_scored(wanting: PodInfo) -> None:
    assert score(wanting) is None


def test_more_than_two_resources_are_compared_by_their_standard_deviation() -> None:
    # after: 0.2, 0.4, 0.6: deviation sqrt((0.04 + 0 + 0.04) / 3) = 0.1633, 83; 50 + (50 + 83 - 100) / 2
    wanting = pod("p", "2", "4Gi", resources={"ephemeral-storage": "6Gi"})
    assert score(wanting, "cpu", "memory", "ephemeral-storage") == 66


def test_an_extended_resource_counts_only_if_the_pod_asks_for_it() -> None:
    holder = (pod("other", resources={GPU: "9"}, node="n"),)
    assert score(pod("p", "2", "2Gi"), "cpu", "memory", GPU, others=holder) == 75
    # before: 0, 0, 0.9: deviation 0.4243, 57; after: 0.2, 0.2, 1: 0.3771, 62
    wanting = pod("p", "2", "2Gi", resources={GPU: "1"})
    assert score(wanting, "cpu", "memory", GPU, others=holder) == 77


def test_a_resource_the_node_does_not_have_drops_out() -> None:
    bare = node("n", "10", "10Gi")
    wanting = pod("p", "6", "2Gi", resources={GPU: "1"})
    assert score(wanting, "cpu", "memory", GPU, on=bare) == 65  # as with two resources
    assert score(wanting, "cpu", GPU, on=bare) == 75  # one resource is always in balance
    assert score(wanting, GPU, on=bare) == 75


def test_nodes_with_and_without_a_resource_are_scored_in_one_go() -> None:
    cluster = Cluster(NODE, node("bare", "10", "10Gi"))
    resources = [{"name": name} for name in ("cpu", "memory", GPU)]
    plugin = cluster.plugin(NodeResourcesBalancedAllocation, resources=resources)
    # n: 0.6, 0.2, 0.1: deviation 0.2160, 78
    assert cluster.scores(plugin, pod("p", "6", "2Gi", resources={GPU: "1"})) == {"n": 64, "bare": 65}


def test_arguments_that_cannot_be() -> None:
    resources = [{"name": "cpu", "weight": 2}, {"name": "memory", "weight": 0}, {"name": "cpu"}]
    assert problems(NodeResourcesBalancedAllocation, resources=resources) == [
        "resources[0].weight: found 2, allowed: 1",
        'resources[2].name: found "cpu" again, allowed: once',
    ]
