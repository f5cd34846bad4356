"""Taints and tolerations."""

import pytest

from plugins.taint_toleration import TaintToleration
from scheduler.framework import Action, EventResource, Node, unresolvable
from tests.builders import JsonObject, node, pod, taint
from tests.plugins.cluster import Cluster, wakes

REFUSED = unresolvable("node(s) had untolerated taint(s)")
GPU = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}


def passes(taints: list[JsonObject], tolerations: list[JsonObject]) -> bool:
    cluster = Cluster(node("n", taints=taints))
    verdict = cluster.verdicts(cluster.plugin(TaintToleration), pod("p", spec={"tolerations": tolerations}))["n"]
    assert verdict.ok or verdict == REFUSED
    return verdict.ok


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([], False),
        ([{"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoSchedule"}], True),
        ([{"key": "gpu", "value": "a100"}], True),
        ([{"key": "gpu", "operator": "Exists"}], True),
        ([{"operator": "Exists"}], True),
        ([{"operator": "Exists", "effect": "NoExecute"}], False),
        ([{"key": "gpu", "value": "h100"}], False),
        ([{"key": "gpu", "value": "a100", "effect": "PreferNoSchedule"}], False),
        ([{"key": "gpu", "operator": "Lt", "value": "5"}], False),
        ([{"key": "other", "operator": "Exists"}, {"key": "gpu", "operator": "Exists"}], True),
    ],
)
def test_a_taint_is_tolerated_by_key_value_and_effect(tolerations: list[JsonObject], expected: bool) -> None:
    assert passes([GPU], tolerations) is expected


def test_every_forbidding_taint_must_be_tolerated() -> None:
    both = [taint("a"), taint("b", "NoExecute")]
    assert not passes(both, [{"key": "a", "operator": "Exists"}])
    assert passes(both, [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}])


def test_a_preference_forbids_nothing() -> None:
    assert passes([taint("a", "PreferNoSchedule")], [])


def test_the_node_with_the_fewest_untolerated_preferences_is_liked_best() -> None:
    def disliked(*keys: str) -> list[JsonObject]:
        return [taint(key, "PreferNoSchedule") for key in keys]

    cluster = Cluster(
        node("clean"),
        node("one", taints=disliked("a")),
        node("three", taints=disliked("a", "b", "c")),
        node("forbidden", taints=[taint("a")]),
    )
    plugin = cluster.plugin(TaintToleration)
    assert cluster.scores(plugin, pod("p")) == {"clean": 100, "one": 67, "three": 0, "forbidden": 100}
    tolerant = pod("p", spec={"tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]})
    assert cluster.scores(plugin, tolerant) == {"clean": 100, "one": 100, "three": 0, "forbidden": 100}


def test_a_toleration_for_another_effect_does_not_make_up_for_a_preference() -> None:
    cluster = Cluster(node("clean"), node("tainted", taints=[taint("a", "PreferNoSchedule")]))
    half = pod("p", spec={"tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}]})
    assert cluster.scores(cluster.plugin(TaintToleration), half) == {"clean": 100, "tainted": 0}


def test_without_taints_all_nodes_are_liked_alike() -> None:
    cluster = Cluster(node("a"), node("b"))
    assert cluster.scores(cluster.plugin(TaintToleration), pod("p")) == {"a": 100, "b": 100}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, node("n"), True),
        (None, node("n", taints=[GPU]), False),
        (node("n", taints=[GPU]), node("n"), True),
        (node("n", taints=[GPU]), node("n", taints=[taint("gpu", "PreferNoSchedule")]), True),
        (node("n", taints=[GPU]), node("n", taints=[taint("other")]), False),
        (node("n"), node("n", taints=[taint("x", "PreferNoSchedule")]), False),
    ],
)
def test_a_node_whose_taints_are_tolerated_now_wakes_a_pod(old: Node | None, new: Node, expected: bool) -> None:
    action = Action.UPDATE_NODE_TAINT if old else Action.ADD
    plugin = Cluster().plugin(TaintToleration)
    assert wakes(plugin, EventResource.NODE, action, pod("p"), old, new) is expected


def test_any_new_toleration_of_its_own_wakes_a_pod() -> None:
    plugin = Cluster().plugin(TaintToleration)
    now = pod("p", spec={"tolerations": [{"key": "x", "operator": "Exists"}]})
    assert wakes(plugin, EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATIONS, pod("p"), pod("p"), now)
