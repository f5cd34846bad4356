"""Gates keep a pod out of the queue."""

from plugins.scheduling_gates import SchedulingGates
from scheduler.framework import Action, Code, EventResource
from tests.builders import pod
from tests.plugins.cluster import Cluster, wakes


def test_a_pod_without_gates_may_enter() -> None:
    assert Cluster().plugin(SchedulingGates).pre_enqueue(pod("p")).ok


def test_gates_are_named_in_their_order() -> None:
    status = Cluster().plugin(SchedulingGates).pre_enqueue(pod("p", gates=("quota.example/ok", "a")))
    assert status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert status.message == "waiting for scheduling gates: [quota.example/ok a]"


def test_the_end_of_the_last_gate_is_what_wakes_a_pod() -> None:
    plugin = Cluster().plugin(SchedulingGates)
    gated, free = pod("p", gates=("a",)), pod("p")
    assert wakes(plugin, EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_GATES_ELIMINATED, gated, gated, free)
    assert not wakes(plugin, EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_LABEL, gated, gated, free)
    assert not wakes(plugin, EventResource.NODE, Action.ADD, gated, None, None)
