"""Kind 2: Bindings that fail, time out, conflict, or come too late (BR-009, 011, 013, 015, 016, 017, 019, 020, 021)."""

import itertools

import pytest

from scheduler.messages import Refused, Unknown
from scheduler.queue.entry import Part
from scheduler.sandbox.faults import CallPlan, Delivery, binding, patching, pod_event, reading
from tests.scenarios.world import World


def small(seed: int = 1) -> World:
    world = World(seed=seed)
    world.node("n1", cpu="2")
    return world.start()


def test_br009_a_failed_binding_is_tried_again_after_a_backoff() -> None:
    world = small()
    world.faults.calls(binding, CallPlan(carried_out=False, answer=Refused(403, "Forbidden", "no")), times=1)
    world.pod("p", cpu="1")
    world.driver.settle()
    assert world.used("n1") == 0
    assert world.why("p") == ("SchedulerError", "binding rejected: no (HTTP 403)")
    world.run()
    assert world.node_of("p") == "n1"


def test_br009_an_attempt_that_crashes_anywhere_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    world = small()
    forget = world.engine.state.cache.forget
    crashes = iter([True])

    def raising(uid: str) -> bool:
        forget(uid)
        if next(crashes, False):
            raise RuntimeError("clean-up failed")
        return False

    monkeypatch.setattr(world.engine.state.cache, "forget", raising)
    world.faults.calls(binding, CallPlan(carried_out=False, answer=Refused(403, "Forbidden", "no")), times=1)
    world.pod("p", cpu="1")
    world.driver.settle()
    assert world.used("n1") == 0
    assert world.notes.anomalies == ["attempt crashed: RuntimeError: clean-up failed"]
    monkeypatch.undo()
    world.run()
    assert world.node_of("p") == "n1"


@pytest.mark.parametrize("carried_out", [True, False])
def test_br011_an_unanswered_binding_is_settled_by_reading(carried_out: bool) -> None:
    world = small()
    world.faults.events(pod_event, Delivery((5.0,)))
    world.faults.calls(binding, CallPlan(carried_out=carried_out, answer=Unknown("reset"), after=0.1), times=1)
    world.pod("p", cpu="1")
    world.run(30.0)
    assert world.node_of("p") == "n1"
    assert world.used("n1") == 1000
    assert len(world.bindings("p")) == (1 if carried_out else 2)
    assert len(world.events("p", "Scheduled")) == 1
    assert bool(world.events("p", "FailedScheduling")) is not carried_out


def test_br011_nothing_is_freed_before_the_outcome_is_known() -> None:
    world = small()
    world.faults.calls(binding, CallPlan(carried_out=False, answer=Unknown("timeout")), times=1)
    world.faults.calls(reading, CallPlan(carried_out=False, answer=Unknown("timeout")), times=3)
    world.pod("p", cpu="1")
    world.run(5.0)
    assert world.used("n1") == 1000
    world.pod("q", cpu="2")
    world.run(1.0)
    assert world.node_of("q") is None
    world.run(30.0)
    assert world.node_of("p") == "n1" or world.node_of("q") == "n1"


@pytest.mark.parametrize("order", list(itertools.permutations(["answer", "watch"])))
@pytest.mark.parametrize("answer", [Refused(503, "ServiceUnavailable", "busy"), Unknown("reset")])
def test_br013_answer_and_watch_end_the_same_in_either_order(order: tuple[str, str], answer: Refused | Unknown) -> None:
    world = small()
    late = {name: 1.0 * i for i, name in enumerate(order)}
    world.faults.events(lambda resource, kind, obj: kind == "MODIFIED", Delivery((late["watch"],)))
    world.faults.calls(binding, CallPlan(answer=answer, after=late["answer"]), times=1)
    world.pod("p", cpu="1")
    world.run(30.0)
    assert world.node_of("p") == "n1"
    assert world.used("n1") == 1000
    assert world.engine.state.queue.get(str(world.pod_uid("p"))) is None


def test_br015_an_old_decision_does_not_bind_the_new_pod_of_that_name() -> None:
    world = World()
    world.node("n1", cpu="1")
    world.start()
    world.faults.calls(binding, CallPlan(before=1.0), times=1)
    world.faults.events(lambda resource, kind, obj: kind == "DELETED", Delivery((5.0,)))
    old = world.pod("x", cpu="1")
    world.run(0.5)
    world.delete("x")
    new = world.pod("x", cpu="6")
    world.node("n2", cpu="8")
    world.run(30.0)
    assert [bind.uid for bind in world.bindings("x")] == [old, new]
    assert world.node_of("x") == "n2"
    assert world.used("n1") == 0


def test_br016_a_pod_deleted_before_its_binding_makes_no_noise() -> None:
    world = small()
    world.faults.calls(binding, CallPlan(before=1.0), times=1)
    world.faults.events(lambda resource, kind, obj: kind == "DELETED", Delivery((5.0,)))
    world.pod("p", cpu="1")
    world.run(0.5)
    world.delete("p")
    world.run(2.0)
    assert world.used("n1") == 0
    assert not world.patches("p")
    assert not world.events("p", "FailedScheduling")
    world.run(10.0)


def test_br016_a_pod_that_is_being_deleted_is_not_tried() -> None:
    world = small()
    world.pod("p", cpu="1", metadata={"finalizers": ["example.com/keep"]}, gates=("wait",))
    world.delete("p")
    world.change_pod("p", {"spec": {"schedulingGates": None}})
    world.run()
    assert not world.bindings("p")
    assert world.engine.state.queue.sizes()[Part.ACTIVE] == 0


def test_br017_a_pod_that_changes_while_it_is_bound_is_bound_once() -> None:
    world = small()
    world.faults.calls(binding, CallPlan(before=1.0, after=1.0))
    world.pod("p", cpu="1")
    world.run(0.5)
    world.change_pod("p", {"metadata": {"labels": {"touched": "yes"}}})
    world.run()
    assert len(world.bindings("p")) == 1
    info = world.engine.state.cache.nodes.by_name("n1")
    assert info is not None
    assert [dict(pod.labels) for pod in info.pods.values()] == [{"touched": "yes"}]


def test_br019_what_is_popped_and_dropped_is_not_in_flight() -> None:
    world = small()
    world.faults.calls(binding, CallPlan(before=1.0))
    for i in range(20):
        world.pod(f"p{i}", cpu="1m")
    world.run(0.5)
    for i in range(20):
        world.delete(f"p{i}")
    for i in range(200):
        world.change_node("n1", {"metadata": {"labels": {"n": str(i)}}})
    world.run()
    assert world.engine.summary().in_flight == 0
    world.engine.validate()


@pytest.mark.parametrize(
    "answer",
    [Refused(409, "Conflict", "conflict"), Refused(404, "NotFound", "gone"), Refused(500, "InternalError", "broken")],
)
def test_br020_a_definite_failure_gives_everything_back(answer: Refused) -> None:
    world = small()
    world.faults.calls(binding, CallPlan(carried_out=False, answer=answer, after=0.2), times=1)
    world.pod("p", cpu="2")
    world.run(0.3)
    assert world.used("n1") == 0
    world.pod("q", cpu="2")
    world.driver.settle()
    assert world.node_of("q") == "n1"


def test_br021_a_slow_binding_is_sent_once() -> None:
    world = small()
    world.faults.calls(binding, CallPlan(after=60.0))
    world.pod("p", cpu="1")
    world.run(120.0)
    assert len(world.bindings("p")) == 1
    assert len(world.events("p", "Scheduled")) == 1
    assert not world.events("p", "FailedScheduling")


def test_room_that_is_gone_at_the_moment_of_sending_is_not_booked_twice() -> None:
    world = World()
    world.node("n1", cpu="2")
    world.start()
    world.faults.calls(binding, CallPlan(before=1.0), times=1)
    world.pod("p", cpu="2")
    world.run(0.5)
    world.pod("a", cpu="2", node="n1", scheduler="other")
    world.run(2.0)
    assert not world.bindings("p")
    assert world.why("p") == ("Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")
    world.delete("a")
    world.run()
    assert world.node_of("p") == "n1"


def test_a_status_patch_that_failed_is_written_again_with_the_next_attempt() -> None:
    world = small()
    world.faults.calls(patching, CallPlan(carried_out=False, answer=Refused(500, "InternalError", "broken")), times=1)
    world.pod("p", cpu="64")
    world.run(1.0)
    assert world.why("p") == ("", "")
    world.node("n2", cpu="1")
    world.change_node("n1", {"status": {"allocatable": {"cpu": "3"}}}, status=True)
    world.node("n3", cpu="64", unschedulable=True)
    world.run()
    assert world.why("p")[0] == "Unschedulable"
