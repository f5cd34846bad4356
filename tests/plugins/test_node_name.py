"""A pod that names its node."""

from plugins.node_name import NodeName
from scheduler.framework import SUCCESS, Action, EventResource, unresolvable
from tests.builders import node, pod
from tests.plugins.cluster import Cluster, wakes

CLUSTER = Cluster(node("a"), node("b"))
REFUSED = unresolvable("node(s) didn't match the requested node name")


def test_a_pod_that_names_no_node_may_run_anywhere() -> None:
    assert CLUSTER.verdicts(CLUSTER.plugin(NodeName), pod("p")) == {"a": SUCCESS, "b": SUCCESS}


def test_a_pod_that_names_a_node_runs_there_or_nowhere() -> None:
    assert CLUSTER.verdicts(CLUSTER.plugin(NodeName), pod("p", node="b")) == {"a": REFUSED, "b": SUCCESS}
    assert CLUSTER.verdicts(CLUSTER.plugin(NodeName), pod("p", node="c")) == {"a": REFUSED, "b": REFUSED}


def test_only_a_new_node_can_help() -> None:
    plugin = CLUSTER.plugin(NodeName)
    assert wakes(plugin, EventResource.NODE, Action.ADD, pod("p", node="c"), None, node("c"))
    assert not wakes(plugin, EventResource.NODE, Action.UPDATE_NODE_LABEL, pod("p", node="c"), node("c"), node("c"))
