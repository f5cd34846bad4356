"""Kind 11: events missed, doubled and out of order; nodes that come back; restarts and new leaders (BR-135, 136, 137, 139)."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.api import Kind
from scheduler.messages import KindStale, KindSynced, LeadershipGained, LeadershipLost, PodGone, Unknown
from scheduler.sandbox.faults import CallPlan, Delivery, any_event, binding
from tests.scenarios.world import World


@pytest.mark.parametrize("recreated", [False, True])
def test_br135_a_deletion_missed_by_the_watch_is_found_by_the_next_list(recreated: bool) -> None:
    world = World()
    world.node("n1", cpu="2")
    world.node("n2", cpu="2", unschedulable=True)
    world.start()
    world.pod("a", cpu="2")
    world.pod("b", cpu="2")
    world.run()
    holder = next(iter(world.placed()))
    waiting = "b" if holder == "a" else "a"
    world.driver.break_watch("pods")
    world.delete(holder)
    if recreated:
        world.pod(holder, cpu="2", node="n2", scheduler="other")
    world.driver.run(15.0)
    assert world.node_of(waiting) is None
    world.driver.relist("pods")
    world.driver.settle()
    assert world.node_of(waiting) == "n1"


def test_br135_deletions_of_what_was_never_there_or_is_gone_already_do_no_harm() -> None:
    world = World()
    world.node("n1", cpu="2")
    world.start()
    world.faults.calls(binding, CallPlan(before=1.0), times=1)
    uid = world.pod("assumed", cpu="2")
    world.run(0.5)
    for gone in (uid, uid, "never seen"):
        world.driver.tell(PodGone(gone))
    assert world.used("n1") == 0
    world.run()


@pytest.mark.parametrize("order", list(itertools.permutations(["node back", "pod changes", "pod gone"])))
def test_br136_a_node_that_is_made_again_still_holds_its_pods(order: tuple[str, ...]) -> None:
    world = World()
    world.node("n1", cpu="4")
    world.start()
    world.pod("a", cpu="3", labels={"v": "1"})
    world.run()
    world.cluster.delete("nodes", None, "n1")
    world.pod("p", cpu="2")
    world.run()
    assert not world.bindings("p")
    there = True
    for step in order:
        match step:
            case "node back":
                world.node("n1", cpu="4")
            case "pod changes" if there:
                world.change_pod("a", {"metadata": {"labels": {"v": "2"}}})
            case "pod gone":
                world.delete("a")
                there = False
        world.run()
    assert world.node_of("p") == "n1"
    assert world.used("n1") == 2000


def test_br136_while_the_pod_is_there_the_new_node_is_full() -> None:
    world = World()
    world.node("n1", cpu="4")
    world.start()
    world.pod("a", cpu="3")
    world.run()
    world.cluster.delete("nodes", None, "n1")
    world.node("n1", cpu="4")
    world.pod("p", cpu="2")
    world.run()
    assert world.why("p") == ("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")


def test_br139_a_new_leader_decides_only_on_what_it_has_read_since() -> None:
    world = World()
    world.node("n1", cpu="2")
    world.start()
    world.driver.stop()
    world.pod("a", cpu="2", node="n1", scheduler="berth")
    world.pod("b", cpu="2")
    world.driver.tell(LeadershipGained())
    world.driver.settle()
    assert not world.bindings()
    world.driver.start()
    world.run()
    assert not world.bindings()
    assert world.why("b") == ("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")


def test_nothing_is_decided_while_a_kind_is_out_of_date() -> None:
    world = World()
    world.node("n1")
    world.start()
    world.driver.tell(KindStale(Kind.NODE))
    world.pod("p")
    world.run()
    assert not world.bindings()
    world.driver.tell(KindSynced(Kind.NODE))
    world.driver.settle()
    assert world.node_of("p") == "n1"


def test_inv10_nothing_is_sent_after_leadership_is_lost() -> None:
    world = World()
    world.node("n1", cpu="2")
    world.start()
    world.faults.calls(binding, CallPlan(before=1.0))
    world.pod("p", cpu="1")
    world.run(0.5)
    world.driver.tell(LeadershipLost())
    world.run()
    assert not world.bindings()
    assert world.used("n1") == 0
    world.driver.start()
    world.run()
    assert world.node_of("p") == "n1"


def test_a_watch_that_is_behind_a_read_does_not_take_a_bound_pod_off_its_node() -> None:
    world = World()
    world.node("n1", cpu="2")
    world.start()
    world.faults.calls(binding, CallPlan(before=1.0, answer=Unknown("no answer")), times=1)
    world.pod("p", cpu="2")
    world.driver.settle()
    world.faults.events(any_event, Delivery((5.0,)), times=1)
    world.change_pod("p", {"metadata": {"labels": {"changed": "before-it-was-bound"}}})
    for _ in range(8):
        world.driver.run(1.0)
        assert world.used("n1") == 2000
    assert not world.notes.anomalies


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_late_doubled_and_overtaking_events_end_where_a_fresh_list_would(data: st.DataObject) -> None:
    world = World(kubelet=True)
    for i in range(3):
        world.node(f"n{i}", cpu="2")
    world.start()
    delays = st.lists(st.sampled_from([0.0, 0.1, 1.0, 3.0]), min_size=1, max_size=2).map(tuple)
    for i in range(data.draw(st.integers(1, 12))):
        delivery = Delivery(data.draw(delays), may_overtake=data.draw(st.booleans()))
        world.faults.events(any_event, delivery, times=data.draw(st.integers(1, 4)))
        world.pod(f"p{i}", cpu=data.draw(st.sampled_from(["500m", "1", "2"])))
        if data.draw(st.booleans()) and (placed := sorted(world.placed())):
            world.delete(data.draw(st.sampled_from(placed)), grace=1)
        world.driver.run(data.draw(st.sampled_from([0.0, 0.2, 2.0])))
    world.faults.clear()
    world.run(60.0)
    world.driver.relist_all()
    world.run(60.0)
    world.engine.validate()
    world.at_rest()
