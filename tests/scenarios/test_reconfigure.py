"""A configuration that is changed while scheduling goes on: nothing is lost, and what waits is judged by the new rules."""

from collections.abc import Mapping, Sequence

import pytest

from plugins.registry import BUILT_IN
from scheduler.api import Service
from scheduler.config import ConfigError, Configuration, load
from scheduler.framework import (
    SUCCESS,
    Code,
    CycleState,
    Filter,
    Handle,
    NodeInfo,
    Permit,
    PermitResult,
    Plugin,
    PluginArgs,
    PodInfo,
    PreBind,
    PreEnqueue,
    QueueSort,
    Status,
    unschedulable,
)
from scheduler.messages import Refused
from scheduler.queue.entry import Part
from scheduler.sandbox.faults import CallPlan, binding
from tests.scenarios.world import World


class Nowhere(Filter):
    """Refuses every node, and nothing would change its mind."""

    name = "Nowhere"

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        return unschedulable("nowhere")


class Closed(PreEnqueue):
    """Lets nothing into the queue."""

    name = "Closed"

    def pre_enqueue(self, pod: PodInfo) -> Status:
        return unschedulable("closed")


class ByName(QueueSort):
    """Later names first; its keys cannot be compared with those of PrioritySort."""

    name = "ByName"

    def sort_key(self, pod: PodInfo, queued_at: float) -> tuple[float | str, ...]:
        return (-ord(pod.name[0]), "later first")


class Patient(Permit):
    """Has every pod wait."""

    name = "Patient"

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        return PermitResult(Status(Code.WAIT), timeout=600.0)


class Slow(PreBind):
    """Takes its time."""

    name = "Slow"

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        return await self.handle.until(pod, node_name, tuple, 60.0) or SUCCESS


class Broken(Filter):
    """Cannot be set up."""

    name = "Broken"

    def __init__(self, args: PluginArgs, handle: Handle) -> None:
        raise RuntimeError("no licence")

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        return SUCCESS


class Served(Filter):
    """Nodes are fine as long as there is any Service."""

    name = "Served"
    needs = frozenset({Service})

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        return SUCCESS if self.handle.all(Service) else unschedulable("no service")


OWN: tuple[type[Plugin], ...] = (Nowhere, Closed, ByName, Patient, Slow, Broken, Served)
REGISTRY: Mapping[str, type[Plugin]] = {**BUILT_IN, **{plugin.name: plugin for plugin in OWN}}


def configured(*plugins: str, names: Sequence[str] = ("berth",), sort: str = "", more: str = "") -> Configuration:
    """The defaults and these plugins in profiles of these names."""
    points = f"multiPoint: {{enabled: [{', '.join(f'{{name: {name}}}' for name in plugins)}]}}"
    if sort:
        points += f", queueSort: {{enabled: [{{name: {sort}}}], disabled: [{{name: '*'}}]}}"
    profiles = "".join(f"\n  - {{schedulerName: {name}, plugins: {{{points}}}}}" for name in names)
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    return load(f"{head}{more}\nprofiles:{profiles}", "test", REGISTRY)


def world(*plugins: str) -> World:
    """One node, and a scheduler with these plugins."""
    made = World(configured(*plugins), registry=REGISTRY)
    made.node("n1")
    return made.start()


def test_what_a_plugin_refused_is_tried_again_without_it() -> None:
    w = world("Nowhere")
    w.pod("a", "1")
    w.run()
    assert "nowhere" in w.why("a")[1]
    w.driver.reconfigure(configured())
    w.run()
    assert w.node_of("a") == "n1"


def test_a_gate_that_is_taken_away_opens_and_one_that_is_added_closes() -> None:
    w = world("Closed")
    w.pod("a", "1")
    w.run()
    w.driver.reconfigure(configured("Nowhere"))
    w.run()
    assert "nowhere" in w.why("a")[1]
    w.driver.reconfigure(configured("Closed"))
    entry = w.engine.state.queue.get(w.pod_uid("a"))
    assert entry is not None
    assert entry.part is Part.GATED


def test_another_order_holds_for_what_waits_already() -> None:
    w = World(configured(), registry=REGISTRY)
    w.start()
    for name in ("a", "c", "b"):
        w.pod(name, "1")
    w.run()
    w.driver.reconfigure(configured(sort="ByName"))
    w.node("n1")
    w.run()
    assert [bind.name for bind in w.bindings()] == ["c", "b", "a"]


def test_pods_of_a_name_that_is_no_longer_served_leave_and_those_of_a_new_one_come() -> None:
    w = world("Nowhere")
    w.pod("mine", "1")
    w.pod("theirs", "1", scheduler="other")
    w.run()
    w.driver.reconfigure(configured(names=["other"]))
    w.run()
    assert w.node_of("theirs") == "n1"
    assert w.engine.state.queue.get(w.pod_uid("mine")) is None
    w.driver.reconfigure(configured(names=["berth", "other"]))
    w.run()
    assert w.node_of("mine") == "n1"


def test_who_waits_on_permit_is_undone_and_tried_by_the_new_rules() -> None:
    w = world("Patient")
    w.pod("a", "1")
    w.run()
    assert w.used("n1") == 1000
    w.driver.reconfigure(configured())
    w.run()
    assert w.node_of("a") == "n1"
    assert w.used("n1") == 1000


def test_what_waits_to_be_prepared_goes_free_when_nobody_serves_it_any_more() -> None:
    w = world("Slow")
    w.pod("a", "1")
    w.run(5.0)
    assert w.used("n1") == 1000
    w.driver.reconfigure(configured(names=["other"]))
    w.run(5.0)
    assert w.used("n1") == 0
    w.driver.reconfigure(configured())
    w.run()
    assert w.node_of("a") == "n1"


def test_a_binding_that_was_sent_counts_whatever_the_configuration_is_then() -> None:
    w = world()
    w.faults.calls(binding, CallPlan(after=5.0))
    w.pod("a", "1")
    w.run(2.0)
    w.driver.reconfigure(configured(names=["other"]))
    w.run()
    assert w.node_of("a") == "n1"
    assert len(w.events("a", "Scheduled")) == 1
    assert w.used("n1") == 1000


def test_a_configuration_that_cannot_be_put_into_force_changes_nothing() -> None:
    w = world()
    w.pod("big", "100")
    w.run()
    before = w.engine.state.profiles
    with pytest.raises(ConfigError, match='plugin "Broken": __init__ failed: RuntimeError: no licence'):
        w.driver.reconfigure(configured("Broken", names=["berth", "other"]))
    assert w.engine.state.profiles is before
    w.pod("a", "1")
    w.run()
    assert w.node_of("a") == "n1"


def test_what_a_new_plugin_needs_is_known_before_anything_is_decided() -> None:
    w = world()
    w.cluster.create(
        "services", {"metadata": {"name": "web", "namespace": "default"}, "spec": {"ports": [{"port": 80}]}}
    )
    w.pod("big", "100")
    w.run()
    plain = w.engine.kinds
    w.driver.reconfigure(configured("Served"))
    w.pod("a", "1")
    w.run()
    assert w.node_of("a") == "n1"
    w.driver.reconfigure(configured())
    assert w.engine.kinds == plain


def test_a_profile_that_stays_the_same_is_not_disturbed() -> None:
    w = World(configured("Patient", names=["berth"]), registry=REGISTRY)
    w.node("n1")
    w.start()
    w.pod("a", "1")
    w.run()
    runtime = w.engine.state.profiles["berth"]
    w.driver.reconfigure(configured("Patient", names=["berth", "other"], more="podMaxBackoffSeconds: 20"))
    w.run()
    assert w.engine.state.profiles["berth"] is runtime
    assert w.engine.summary().assumed == 1


def test_backoffs_are_as_long_as_the_new_configuration_says() -> None:
    w = world()
    w.driver.reconfigure(configured(more="podInitialBackoffSeconds: 60\npodMaxBackoffSeconds: 60"))
    w.faults.calls(binding, CallPlan(carried_out=False, answer=Refused(409, "Conflict", "not now")), times=1)
    w.pod("a", "1")
    w.run(50.0)
    assert w.node_of("a") is None
    w.run(20.0)
    assert w.node_of("a") == "n1"
