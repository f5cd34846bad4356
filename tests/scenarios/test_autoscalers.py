"""Kind 12: what autoscalers read, and nodes that come and go (BR-147, 149, 151, 152, 172)."""

from typing import Any

import pytest

from scheduler.messages import Refused
from scheduler.queue.entry import Part
from scheduler.sandbox.faults import CallPlan, binding
from tests.builders import taint
from tests.scenarios.world import World


def test_br147_a_pod_that_more_nodes_would_help_says_unschedulable() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.start()
    world.pod("p", cpu="2")
    world.driver.settle()
    assert world.why("p") == ("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")


def test_br147_without_any_node_too_and_the_first_node_helps_at_once() -> None:
    world = World().start()
    world.pod("p", cpu="2")
    world.driver.settle()
    assert world.why("p") == ("Unschedulable", "no nodes available to schedule pods")
    world.node("n1")
    world.driver.settle()
    assert world.node_of("p") == "n1"


def test_br147_an_internal_error_does_not_ask_for_nodes() -> None:
    world = World()
    world.node("n1")
    world.start()
    world.faults.calls(binding, CallPlan(carried_out=False, answer=Refused(500, "InternalError", "boom")), times=1)
    world.pod("p", cpu="2")
    world.driver.settle()
    assert world.why("p")[0] == "SchedulerError"


def test_br149_a_gated_pod_does_not_ask_for_nodes() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.start()
    world.pod("p", cpu="8", gates=("quota",))
    world.run(600.0)
    assert world.why("p")[0] == "SchedulingGated"
    assert world.engine.state.queue.sizes()[Part.GATED] == 1
    assert not world.patches("p")


@pytest.mark.parametrize("field_first", [True, False])
def test_br151_a_cordon_counts_as_soon_as_the_field_is_set(field_first: bool) -> None:
    world = World()
    world.node("n1", unschedulable=True)
    world.start()
    world.pod("p")
    world.pod("d", spec={"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]})
    world.run()
    assert world.why("p") == ("Unschedulable", "0/1 nodes are available: 1 node(s) were unschedulable.")
    assert world.node_of("d") == "n1"
    cordon_taint = taint("node.kubernetes.io/unschedulable")
    world.change_node("n1", {"spec": {"taints": [cordon_taint]}})
    steps: list[dict[str, Any]] = [{"spec": {"unschedulable": False}}, {"spec": {"taints": []}}]
    for patch in steps if field_first else reversed(steps):
        world.run()
        assert world.node_of("p") is None
        world.change_node("n1", patch)
    world.driver.settle()
    assert world.node_of("p") == "n1"


def test_br152_a_taint_that_comes_back_is_respected_after_the_refusal() -> None:
    world = World(kubelet=True)
    world.node("n1", cpu="2", taints=[taint("startup", "NoExecute")])
    world.start()
    world.pod("p", cpu="2")
    world.run()
    world.change_node("n1", {"spec": {"taints": []}})
    world.driver.run(0.05)
    assert world.node_of("p") == "n1"
    world.change_node("n1", {"spec": {"taints": [taint("startup", "NoExecute")]}})
    world.run(1.0)
    assert world.notes.refused == ["TaintToleration"]
    assert world.used("n1") == 0
    world.pod("p2", cpu="2")
    world.run()
    assert world.why("p2") == ("Unschedulable", "0/1 nodes are available: 1 node(s) had untolerated taint(s).")
    world.change_node("n1", {"spec": {"taints": []}})
    world.driver.settle()
    assert world.node_of("p2") == "n1"


def test_br172_the_conditions_time_moves_only_with_its_status() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.start()
    world.pod("p", cpu="2", gates=("a", "b"))
    world.run(5.0)

    def condition() -> dict[str, object]:
        (found,) = [c for c in world.get("p")["status"]["conditions"] if c["type"] == "PodScheduled"]
        return dict(found)

    gated = condition()
    assert (gated["reason"], world.bindings("p")) == ("SchedulingGated", [])
    world.change_pod("p", {"spec": {"schedulingGates": None}})
    world.run(5.0)
    waiting = condition()
    assert waiting["reason"] == "Unschedulable"
    assert waiting["lastTransitionTime"] == gated["lastTransitionTime"]
    world.node("n2")
    world.run(5.0)
    bound = condition()
    assert bound["status"] == "True"
    assert bound["lastTransitionTime"] != gated["lastTransitionTime"]
