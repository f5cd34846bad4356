"""Kind 3: what waits is tried again by the event that helps it, and by nothing else (BR-027, 028, 029, 032, 033, 035)."""

import pytest

from plugins.registry import load_registry
from scheduler.config import load
from scheduler.engine import Engine
from scheduler.framework import SUCCESS as PASS
from scheduler.framework import CycleState, Filter, NodeInfo, Plugin, PodInfo, Status, unschedulable
from scheduler.messages import Refused
from scheduler.queue.entry import Part
from scheduler.sandbox.driver import SandboxDriver
from scheduler.sandbox.faults import CallPlan, binding
from tests.builders import taint
from tests.scenarios.world import BERTH, World

ANY_NODE_TAINT = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}


def pinned(name: str) -> dict[str, object]:
    """A node affinity for one node by name."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    }


@pytest.mark.parametrize(
    ("blocked", "spec"),
    [
        pytest.param({"labels": {"disk": "hdd"}}, {"nodeSelector": {"disk": "ssd"}}, id="NodeAffinity"),
        pytest.param({"cpu": "1"}, {}, id="NodeResourcesFit"),
        pytest.param({"unschedulable": True}, {}, id="NodeUnschedulable"),
        pytest.param({"taints": [taint("k")]}, {}, id="TaintToleration"),
    ],
)
def test_br027_a_node_that_comes_tainted_and_is_untainted_later(
    blocked: dict[str, object], spec: dict[str, object]
) -> None:
    world = World()
    world.node("n1", **blocked)
    world.start()
    world.pod("p", cpu="2", spec=spec)
    world.run(5.0)
    world.node("n2", labels={"disk": "ssd"}, taints=[taint("node.kubernetes.io/not-ready")])
    world.run(5.0)
    assert world.node_of("p") is None
    world.change_node("n2", {"spec": {"taints": []}})
    world.driver.settle()
    assert world.node_of("p") == "n2"


def test_br028_a_toleration_that_is_added_helps_at_once() -> None:
    world = World()
    world.node("n1", unschedulable=True)
    world.start()
    world.pod("p")
    world.run()
    world.change_pod("p", {"metadata": {"annotations": {"unrelated": "edit"}}})
    world.run(1.0)
    assert world.attempts("p") == 1
    tolerations = [*world.get("p")["spec"]["tolerations"], ANY_NODE_TAINT]
    world.change_pod("p", {"spec": {"tolerations": tolerations}})
    world.driver.settle()
    assert world.node_of("p") == "n1"


def test_br028_gates_that_are_removed_one_by_one_let_the_pod_in_with_the_last() -> None:
    world = World()
    world.node("n1")
    world.start()
    world.pod("p", gates=("a", "b"))
    world.change_pod("p", {"spec": {"schedulingGates": [{"name": "b"}]}})
    world.run()
    assert world.engine.state.queue.sizes()[Part.GATED] == 1
    world.change_pod("p", {"spec": {"schedulingGates": None}})
    world.driver.settle()
    assert world.node_of("p") == "n1"


def test_br028_a_pod_that_is_scaled_down_fits_at_once() -> None:
    world = World()
    world.node("n1", cpu="2")
    world.start()
    world.pod("p", cpu="3")
    world.run()
    world.resize("p", "1")
    world.driver.settle()
    assert world.node_of("p") == "n1"


def test_br028_a_pod_that_is_scaled_down_while_it_is_being_bound_makes_room_for_others() -> None:
    world = World()
    world.node("n1", cpu="2")
    world.start()
    world.faults.calls(binding, CallPlan(before=5.0), times=1)
    world.pod("p", cpu="2")
    world.driver.settle()
    world.pod("q", cpu="1")
    world.driver.settle()
    assert world.node_of("q") is None
    world.resize("p", "500m")
    world.driver.settle()
    assert world.node_of("q") == "n1"


class Moody(Filter):
    """Refuses until told otherwise, and registers no events."""

    name = "Moody"
    refuses = True

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        return unschedulable("not in the mood") if Moody.refuses else PASS


def test_br029_a_plugin_without_registered_events_is_asked_again_after_any_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Moody, "refuses", True)
    registry: dict[str, type[Plugin]] = {**load_registry(), "Moody": Moody}
    text = f"{BERTH}\nprofiles: [{{plugins: {{multiPoint: {{enabled: [{{name: Moody}}]}}}}}}]\n"
    world = World()
    world.engine = Engine(load(text, "test", registry), registry, 1, world.notes)
    world.driver = SandboxDriver(world.cluster, world.engine, world.clock, world.faults, world.engine.validate)
    world.node("n1")
    world.start()
    world.pod("p")
    world.driver.settle()
    assert world.why("p") == ("Unschedulable", "0/1 nodes are available: 1 not in the mood.")
    monkeypatch.setattr(Moody, "refuses", False)
    world.change_node("n1", {"metadata": {"labels": {"any": "change"}}})
    world.driver.settle()
    assert world.node_of("p") == "n1"


def test_br032_those_that_failed_first_are_served_first() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.start()
    world.pod("x", cpu="1")
    for name in "abc":
        world.run(1.0)
        world.pod(name, cpu="1")
    world.run()
    order, holder = [], "x"
    world.delete("x")
    world.pod("d", cpu="1")
    for _ in range(4):
        world.run()
        (holder,) = world.placed()
        order.append(holder)
        world.delete(holder)
    assert order == ["a", "b", "c", "d"]


def test_br033_a_binding_that_always_fails_is_not_tried_in_a_hurry() -> None:
    world = World()
    world.node("n1")
    world.node("busy")
    world.start()
    world.faults.calls(binding, CallPlan(carried_out=False, answer=Refused(403, "Forbidden", "no")))
    world.pod("p", cpu="1")
    for i in range(600):
        world.pod(f"noise-{i}", node="busy", scheduler="other")
        world.driver.run(1.0)
        world.delete(f"noise-{i}")
    assert 30 <= world.attempts("p") <= 65
    assert len(world.patches("p")) == 1
    assert len({event.note for event in world.events("p", "FailedScheduling")}) == 1


def test_br035_no_pod_owes_its_node_to_the_flush() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.start()
    for name in ("a", "b", "c"):
        world.pod(name, cpu="1")
    for _ in range(3):
        world.run(400.0)
        (holder,) = world.placed()
        world.delete(holder)
        world.driver.settle()
    assert world.engine.state.bound_after_flush == 0


def test_br167_nodes_that_prefilter_ruled_out_are_counted() -> None:
    world = World()
    for i in range(1, 6):
        world.node(f"n{i}", cpu="1")
    world.start()
    world.pod("p", cpu="2", spec=pinned("n1"))
    world.driver.settle()
    message = "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    assert world.why("p") == ("Unschedulable", message)
