"""Kind 1: other schedulers, static pods, kubelets that refuse (BR-001, 003, 004, 007, 008)."""

import pytest

from scheduler.sandbox.faults import CallPlan, Delivery, EventTest, binding
from scheduler.sandbox.fields import JsonObject, name_of
from scheduler.sandbox.owner import Owner
from tests.builders import pod_json
from tests.scenarios.world import World


def event_of(name: str) -> EventTest:
    """Watch events of one pod."""

    def test(resource: str, kind: str, obj: JsonObject) -> bool:
        return resource == "pods" and name_of(obj) == name

    return test


def test_br001_two_schedulers_race_for_one_slot() -> None:
    world = World(kubelet=True)
    world.node("n1", cpu="2")
    world.pod("a", cpu="2", scheduler="other")
    world.start()
    world.faults.events(event_of("a"), Delivery((0.3,), may_overtake=True), times=1)
    world.bind_elsewhere("a", "n1")
    world.pod("b", cpu="2")
    world.run(0.05)
    assert world.node_of("b") == "n1"
    world.run(1.0)
    assert world.notes.refused == ["OutOfcpu"]
    assert world.used("n1") == 2000
    world.pod("b2", cpu="2")
    world.run()
    assert world.why("b2") == ("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")
    assert not world.bindings("b2")
    world.delete("a")
    world.run(0.5)
    assert len(world.bindings("b2")) == 1


def test_br003_static_pods_that_appear_late_are_waited_for_after_a_refusal() -> None:
    world = World(kubelet=True)
    world.node("n1", cpu="2")
    world.start()
    # The kubelet runs a static pod of which the API knows nothing yet.
    hidden = pod_json("m", cpu="1100m", node="n1", scheduler="other")
    world.faults.events(event_of("m"), Delivery((2.0,), may_overtake=True))
    world.cluster.create("pods", hidden)
    world.run(0.2)
    owner = Owner(world.cluster, world.clock, pod_json("p", cpu="1"), replicas=2, delay=0.1)
    world.run(1.5)
    assert world.notes.refused
    refused = len(world.notes.refused)
    world.run(30.0)
    assert len(world.notes.refused) == refused
    waiting = [name for name in owner.created if world.node_of(name) is None]
    assert waiting


def test_br003_pods_with_a_node_count_from_their_first_event_even_before_their_node() -> None:
    world = World().start()
    world.pod("m", cpu="1100m", node="n1", scheduler="other")
    world.run(1.0)
    world.node("n1", cpu="2")
    world.pod("p", cpu="1")
    world.run()
    assert world.node_of("p") is None
    assert world.used("n1") == 1100


def test_br004_another_component_binds_our_pod_first() -> None:
    world = World()
    world.node("n1")
    world.node("n2")
    world.start()
    world.faults.calls(binding, CallPlan(before=0.5))
    world.faults.events(lambda resource, kind, obj: kind == "MODIFIED", Delivery((2.0,)))
    world.pod("p", cpu="3")
    world.run(0.2)
    other = "n1" if world.used("n2") else "n2"
    world.bind_elsewhere("p", other)
    world.run(0.5)
    assert len(world.bindings("p")) == 1
    assert (world.used("n1"), world.used("n2")) == ((3000, 0) if other == "n1" else (0, 3000))
    world.run(5.0)
    assert world.node_of("p") == other
    assert world.used(other) == 3000
    assert world.used("n1") + world.used("n2") == 3000
    assert world.why("p")[0] == ""
    assert not world.patches("p")
    world.pod("q", cpu="2")
    world.run()
    assert world.node_of("q") not in (None, other)


@pytest.mark.parametrize("latency", [0.0, 0.5, 5.0])
def test_br007_a_burst_is_decided_with_earlier_decisions_counted(latency: float) -> None:
    world = World()
    world.node("n1", memory="70Gi")
    world.node("n2", memory="70Gi")
    world.faults.calls(binding, CallPlan(before=latency, after=latency))
    world.faults.events(lambda resource, kind, obj: kind == "MODIFIED", Delivery((2.0,)))
    for i in range(30):
        world.pod(f"p{i}", memory="32Gi")
    world.start()
    world.run(30.0)
    placed = list(world.placed().values())
    assert (placed.count("n1"), placed.count("n2")) == (2, 2)
    assert len(world.bindings()) == 4


def test_br008_short_pods_are_released_once_each() -> None:
    world = World(kubelet=True)
    world.node("n1", cpu="1")
    world.start()
    for i in range(60):
        world.pod(f"p{i}", cpu="100m")
        world.run(0.05)
        assert 0 <= world.used("n1") <= 1000
        for name in [name for name in world.placed() if world.get(name)["status"].get("phase") == "Running"][:1]:
            assert world.kubelets is not None
            world.kubelets.finish(name)
            world.run(0.01)
            world.delete(name)
    world.run()
    for name in world.placed():
        world.delete(name)
    world.run()
    assert world.used("n1") == 0
