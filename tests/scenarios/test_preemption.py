"""Kind 7: the more important take the place of others, with as little harm as can be (BR-075, 076, 079 to 081, 083 to 088)."""

from collections.abc import Callable

import pytest

from scheduler.messages import AwaitedEffect, DeletePod, LeadershipLost, MarkDisrupted, Outcome, Refused, Unknown
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.faults import CallPlan, Delivery, binding, deleting, marking
from scheduler.sandbox.kubelet import Pace
from tests.builders import decode_pod
from tests.scenarios.world import World

TERMINATING = "preemption: not eligible due to a terminating pod on the nominated node."


def full(*pods: tuple[str, str, int], cpu: str = "2", stop: float = 0.1) -> World:
    """A node full of pods (name, cpu, priority) that run; `stop` is how long they take to go (seconds)."""
    world = World(kubelet=True)
    assert world.kubelets is not None
    world.kubelets.pace = Pace(stop=stop)
    world.node("n1", cpu=cpu)
    world.start()
    for name, size, priority in pods:
        world.pod(name, size, priority=priority)
        world.run(2.0)
    return world


def deletions(world: World) -> list[str]:
    return [effect.name for effect in world.driver.sent if isinstance(effect, DeletePod)]


def promised(world: World, name: str) -> str | None:
    return decode_pod(world.get(name)).nominated_node or None


def exists(world: World, name: str) -> bool:
    try:
        world.get(name)
    except ApiError:
        return False
    return True


def rival(world: World, count: int) -> None:
    """Another scheduler and a controller: a pod that goes is made again, and bound as soon as there is room."""
    name = f"foreign-{count}"
    world.pod(name, "2", scheduler="other", priority=5)
    world.bind_elsewhere(name, "n1")
    uid = world.pod_uid(name)

    def look() -> None:
        if exists(world, name) and world.pod_uid(name) == uid:
            world.clock.after(0.05, look)
        else:
            rival(world, count + 1)

    world.clock.after(0.05, look)


def test_br075_two_schedulers_do_not_evict_each_others_pods_for_days() -> None:
    world = full()
    world.run(1.0)
    rival(world, 0)
    world.run(1.0)
    world.faults.calls(binding, CallPlan(before=0.2))
    world.pod("h", "2", priority=10)
    world.driver.run(600.0)
    assert 2 <= len(deletions(world)) <= 10
    assert 'room made for the pod was taken by a pod of scheduler "other"' in world.said("h")[1]


def test_br075_another_node_is_open_to_a_pod_that_has_lost_its_room() -> None:
    world = full()
    world.run(1.0)
    rival(world, 0)
    world.run(1.0)
    world.faults.calls(binding, CallPlan(before=0.2))
    world.pod("h", "2", priority=10)
    world.driver.run(5.0)
    world.node("n2", cpu="2", taints=[{"key": "k", "effect": "NoSchedule"}])
    world.pod("low", "2", spec={"tolerations": [{"key": "k", "operator": "Exists"}]})
    world.driver.run(2.0)
    world.change_node("n2", {"spec": {"taints": None}})
    world.driver.run(5.0)
    assert "low" in deletions(world)
    assert world.node_of("h") == "n2"


def test_br076_a_promise_that_cannot_be_kept_is_taken_back() -> None:
    world = full(("p0", "2", 0), cpu="4", stop=20.0)
    world.pod("p1", "3", priority=10)
    world.run(1.0)
    assert promised(world, "p1") == "n1"
    world.pod("p2", "1500m", priority=20)
    world.run(1.0)
    assert world.node_of("p2") == "n1"
    world.run(30.0)
    assert not exists(world, "p0")
    assert promised(world, "p1") is None
    assert not len(world.engine.state.nominator)
    world.pod("q", "2", priority=0)
    world.run(1.0)
    assert world.node_of("q") == "n1"


def test_an_attempt_that_changes_no_promise_writes_nothing() -> None:
    world = full(("equal", "2", 10))
    world.pod("waits", "2", priority=10)
    world.run()
    for i in range(3):
        world.change_node("n1", {"status": {"allocatable": {"pods": str(120 + i)}}}, status=True)
        world.run()
    assert world.attempts("waits") > 1
    assert len(world.patches("waits")) == 1


def test_br079_a_pod_that_a_budget_has_counted_already_breaks_nothing() -> None:
    world = full(("a1", "1", 0), ("a2", "1", 0))
    for name in ("a1", "a2"):
        world.change_pod(name, {"metadata": {"labels": {"app": "a"}}})
    world.budget("b", {"app": "a"}, 0, ("a1",))
    world.run(1.0)
    world.pod("h", "1", priority=10)
    world.run()
    assert deletions(world) == ["a1"]
    assert world.node_of("h") == "n1"


def test_br080_a_budget_is_kept_where_that_is_possible() -> None:
    world = full(("guarded", "2", 1), ("other", "2", 5), cpu="4")
    world.change_pod("guarded", {"metadata": {"labels": {"app": "a"}}})
    world.budget("b", {"app": "a"}, 0)
    world.run(1.0)
    world.pod("h", "2", priority=10)
    world.run()
    assert deletions(world) == ["other"]


def test_br081_one_delete_for_one_victim_however_slow_it_is() -> None:
    world = full(("v", "2", 0))
    world.faults.calls(deleting, CallPlan(before=20.0))
    world.faults.events(lambda resource, kind, obj: resource == "pods" and kind == "MODIFIED", Delivery((5.0,)))
    world.pod("h", "2", priority=10)
    for i in range(10):
        world.change_node("n1", {"status": {"allocatable": {"pods": str(120 + i)}}}, status=True)
        world.run(2.0)
    assert world.attempts("h") == 1
    world.run(30.0)
    assert deletions(world) == ["v"]
    assert len(world.events("v", "Preempted")) == 1
    assert world.node_of("h") == "n1"
    kinds = [type(effect) for effect in world.driver.sent if getattr(effect, "name", "") == "v"]
    assert kinds.index(MarkDisrupted) < kinds.index(DeletePod)


def test_a_victim_says_why_it_goes_before_it_goes() -> None:
    world = full(("v", "2", 0), stop=10.0)
    world.pod("h", "2", priority=10)
    world.run(1.0)
    condition = next(c for c in world.get("v")["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert (condition["status"], condition["reason"]) == ("True", "PreemptionByScheduler")
    assert condition["message"] == "berth: preempting to accommodate a higher priority pod"
    assert world.get("v")["metadata"]["deletionTimestamp"]


@pytest.mark.parametrize("answer", [Refused(403, "Forbidden", "no"), Unknown("reset")], ids=["refused", "unanswered"])
def test_br083_when_one_victim_cannot_be_evicted_the_last_one_is_spared(answer: Outcome) -> None:
    world = full(("v1", "1", 3), ("v2", "1", 2), ("v3", "1", 1), cpu="3")
    world.faults.calls(
        lambda effect: isinstance(effect, DeletePod) and effect.name == "v2", CallPlan(carried_out=False, answer=answer)
    )
    world.pod("h", "3", priority=10)
    world.run(20.0)
    assert not exists(world, "v1")
    assert exists(world, "v2")
    assert exists(world, "v3")
    assert world.node_of("h") is None
    assert len(world.events("h", "FailedPreemption")) < 10
    assert "default/v2 cannot be evicted" in world.events("h", "FailedPreemption")[0].note
    world.faults.clear()
    world.run(30.0)
    assert world.node_of("h") == "n1"


@pytest.mark.parametrize("code", [403, 409])
def test_a_failed_eviction_leaves_no_promise(code: int) -> None:
    world = full(("v", "2", 0))
    world.faults.calls(marking, CallPlan(carried_out=False, answer=Refused(code, "No", "no")))
    world.pod("h", "2", priority=10)
    world.driver.settle()
    assert not len(world.engine.state.nominator)
    assert promised(world, "h") is None


def test_br084_another_node_that_comes_free_is_taken_while_a_victim_does_not_go() -> None:
    world = full(("v", "2", 0), stop=10_000.0)
    world.pod("h", "2", priority=10)
    world.run(30.0)
    world.node("n3", cpu="2")
    world.pod("w", "2", priority=0)
    world.run(1.0)
    assert world.node_of("h") == "n3"
    assert not len(world.engine.state.nominator)
    assert deletions(world) == ["v"]


def test_br084_while_a_victim_goes_nobody_else_is_evicted() -> None:
    world = full(("v", "2", 0), stop=10_000.0)
    world.pod("h", "2", priority=10)
    world.run(1.0)
    world.node("n3", cpu="2", taints=[{"key": "k", "effect": "NoSchedule"}])
    world.pod("w", "2", spec={"tolerations": [{"key": "k", "operator": "Exists"}]})
    world.run(1.0)
    world.change_node("n3", {"spec": {"taints": None}})
    world.run(60.0)
    assert world.said("h")[1].endswith(TERMINATING)
    assert deletions(world) == ["v"]


def test_br085_the_room_is_promised_so_that_the_victims_replacement_does_not_take_it() -> None:
    world = full(("l1", "2", 0))
    world.node("n2", cpu="2")
    world.pod("l2", "2")
    world.run(2.0)
    world.pod("h", "2", priority=10)
    world.driver.settle()
    taken = promised(world, "h")
    while len(world.placed()) == 2 and world.node_of("h") is None:
        world.run(0.01)
        world.pod(f"again-{world.clock.now:.2f}", "2")
    world.run()
    assert world.node_of("h") == taken
    assert len(deletions(world)) == 1


def test_br087_the_least_important_goes_first_and_nobody_after_it() -> None:
    world = full(("b", "2", 5))
    world.node("n2", cpu="2")
    world.pod("c", "2", priority=1)
    world.run(2.0)
    world.pod("a", "2", priority=10)
    world.run()
    assert deletions(world) == ["c"]
    world.pod("c", "2", priority=1)
    world.run()
    assert deletions(world) == ["c"]
    assert world.placed().keys() == {"a", "b"}


def test_br087_a_cascade_ends_with_the_most_important_on_nodes() -> None:
    world = full(("b", "2", 5))
    world.node("n2", cpu="2")
    world.pod("c", "2", priority=1, labels={"app": "c"})
    world.run(2.0)
    world.budget("budget", {"app": "c"}, 0)
    world.run(1.0)
    world.pod("a", "2", priority=10)
    world.run()
    assert deletions(world) == ["b"]
    world.pod("b", "2", priority=5)
    world.run(60.0)
    assert deletions(world) == ["b", "c"]
    assert world.placed().keys() == {"a", "b"}


def test_br088_never_means_never() -> None:
    world = full(("v", "2", 0))
    world.pod("h", "2", priority=10, spec={"preemptionPolicy": "Never"})
    world.run(60.0)
    assert not deletions(world)
    assert world.said("h")[1].endswith("preemption: not eligible due to preemptionPolicy=Never.")
    world.pod("later", "2", priority=5, spec={"preemptionPolicy": "Never"})
    world.delete("v")
    world.run()
    assert world.node_of("h") == "n1"


def test_br088_a_victim_ends_after_its_grace_and_the_pod_is_bound() -> None:
    world = full(("v", "2", 0), stop=30.0)
    world.pod("h", "2", priority=10)
    world.run(5.0)
    world.change_node("n1", {"status": {"allocatable": {"pods": "120"}}}, status=True)
    world.run(5.0)
    assert world.said("h")[1].endswith(TERMINATING)
    world.run(30.0)
    assert world.node_of("h") == "n1"


def test_when_one_goes_evicting_the_rest_may_be_enough() -> None:
    world = full(("equal", "2", 10), ("less", "2", 0), cpu="4")
    world.pod("h", "3", priority=10)
    world.run()
    assert not deletions(world)
    world.delete("equal")
    world.run()
    assert deletions(world) == ["less"]
    assert world.node_of("h") == "n1"


def test_a_pod_that_goes_does_not_wake_whom_evictions_would_not_help() -> None:
    world = full(("small", "1", 10), ("large", "3", 10), cpu="4")
    world.pod("h", "3", priority=10)
    world.run()
    world.delete("small")
    world.run()
    assert world.attempts("h") == 1


# What may happen in between.


def test_a_delete_whose_answer_is_lost_is_carried_out_all_the_same() -> None:
    world = full(("v", "2", 0))
    world.faults.calls(deleting, CallPlan(answer=Unknown("reset")), times=1)
    world.pod("h", "2", priority=10)
    world.run()
    assert world.node_of("h") == "n1"
    assert not world.events("h", "FailedPreemption")


@pytest.mark.parametrize("stage", [marking, deleting], ids=["before it is marked", "before it is deleted"])
def test_a_victim_that_is_gone_already_is_as_good_as_evicted(stage: Callable[[AwaitedEffect], bool]) -> None:
    world = full(("v", "2", 0))
    world.faults.calls(stage, CallPlan(before=1.0))
    world.pod("h", "2", priority=10)
    world.driver.settle()
    world.delete("v")
    world.run()
    assert world.node_of("h") == "n1"
    assert not world.events("h", "FailedPreemption")


@pytest.mark.parametrize("stage", [marking, deleting], ids=["before it is marked", "before it is deleted"])
def test_a_new_pod_of_a_victims_name_is_left_alone(stage: Callable[[AwaitedEffect], bool]) -> None:
    world = full(("v", "2", 0))
    world.faults.calls(stage, CallPlan(before=1.0))
    world.pod("h", "2", priority=10)
    world.driver.settle()
    world.delete("v")
    fresh = world.pod("v", "2")
    world.run()
    assert world.pod_uid("v") == fresh
    assert not world.get("v")["metadata"].get("deletionTimestamp")
    assert world.node_of("h") == "n1"


def test_when_the_pod_is_gone_the_last_victim_is_spared() -> None:
    world = full(("v1", "1", 2), ("v2", "1", 1))
    world.faults.calls(deleting, CallPlan(before=1.0))
    world.pod("h", "2", priority=10)
    world.driver.settle()
    world.delete("h")
    world.run()
    assert deletions(world) == ["v1"]
    assert exists(world, "v2")


def test_without_the_lease_nobody_is_deleted_and_the_next_leader_begins_anew() -> None:
    world = full(("v1", "1", 2), ("v2", "1", 1))
    world.faults.calls(deleting, CallPlan(before=1.0))
    world.pod("h", "2", priority=10)
    world.driver.settle()
    world.driver.tell(LeadershipLost())
    world.run()
    assert not deletions(world)
    world.faults.clear()
    world.driver.start()
    world.run(30.0)
    assert world.node_of("h") == "n1"
    assert sorted(deletions(world)) == ["v1", "v2"]
