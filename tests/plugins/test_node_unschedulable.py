"""Cordoned nodes."""

import pytest

from plugins.node_unschedulable import NodeUnschedulable
from scheduler.framework import SUCCESS, Action, EventResource, Node, unresolvable
from tests.builders import JsonObject, node, pod, taint
from tests.plugins.cluster import Cluster, wakes

KEY = "node.kubernetes.io/unschedulable"
CLUSTER = Cluster(node("open"), node("cordoned", unschedulable=True))
REFUSED = unresolvable("node(s) were unschedulable")


def test_cordoned_nodes_are_refused() -> None:
    assert CLUSTER.verdicts(CLUSTER.plugin(NodeUnschedulable), pod("p")) == {"open": SUCCESS, "cordoned": REFUSED}


@pytest.mark.parametrize(
    ("toleration", "passes"),
    [
        ({"key": KEY, "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"key": KEY, "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": KEY, "value": "", "effect": "NoSchedule"}, True),
        ({"key": KEY, "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": KEY, "value": "yes"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_whoever_tolerates_the_cordon_may_run_there(toleration: JsonObject, passes: bool) -> None:
    tolerant = pod("p", spec={"tolerations": [toleration]})
    verdicts = CLUSTER.verdicts(CLUSTER.plugin(NodeUnschedulable), tolerant)
    assert verdicts == {"open": SUCCESS, "cordoned": SUCCESS if passes else REFUSED}


def test_the_taint_alone_is_not_this_plugins_business() -> None:
    cluster = Cluster(node("n", taints=[taint(KEY)]))
    assert cluster.verdicts(cluster.plugin(NodeUnschedulable), pod("p")) == {"n": SUCCESS}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, node("n"), True),
        (None, node("n", unschedulable=True), False),
        (node("n", unschedulable=True), node("n"), True),
        (node("n"), node("n"), False),
        (node("n"), node("n", unschedulable=True), False),
    ],
)
def test_a_node_that_opens_wakes_a_pod(old: Node | None, new: Node, expected: bool) -> None:
    action = Action.UPDATE_NODE_TAINT if old else Action.ADD
    plugin = CLUSTER.plugin(NodeUnschedulable)
    assert wakes(plugin, EventResource.NODE, action, pod("p"), old, new) is expected


def test_the_right_toleration_wakes_a_pod() -> None:
    plugin = CLUSTER.plugin(NodeUnschedulable)
    for key, expected in ((KEY, True), ("other", False)):
        now = pod("p", spec={"tolerations": [{"key": key, "operator": "Exists"}]})
        event = (EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATIONS)
        assert wakes(plugin, *event, pod("p"), pod("p"), now) is expected
