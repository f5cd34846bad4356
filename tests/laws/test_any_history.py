"""Whatever happens to a cluster and to the calls: once it is over, all is placed that can be, and nothing is left behind."""

from dataclasses import replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from plugins.registry import load_registry
from scheduler.api import Kind
from scheduler.config import default
from scheduler.engine import Engine
from scheduler.framework import PodInfo
from scheduler.messages import (
    Bind,
    KindSynced,
    LeadershipGained,
    MarkDisrupted,
    NodeSeen,
    PodSeen,
    Refused,
    Unknown,
    Withdrawn,
)
from scheduler.observer import Observer
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.faults import CallPlan, Delivery, any_event, binding, deleting, marking, patching, reading
from scheduler.sandbox.kubelet import Pace
from tests.builders import container, decode_node, decode_pod, taint
from tests.scenarios.world import World

NODES = st.sampled_from(["n0", "n1", "n2"])
PODS = st.integers(0, 11).map(lambda i: f"p{i}")
CPU = st.sampled_from(["500m", "1", "2", "3"])
CALLS = [binding, reading, patching, marking, deleting]
LOST = Unknown("no answer")
ANSWERS: st.SearchStrategy[CallPlan] = st.builds(
    CallPlan,
    before=st.sampled_from([0.0, 0.5, 4.0]),
    carried_out=st.booleans(),
    answer=st.sampled_from(
        [None, LOST, Refused(500, "InternalError", "broken"), Refused(409, "Conflict", "no"), Withdrawn("no lease")]
    ),
    after=st.sampled_from([0.0, 0.5, 4.0]),
)


def honest(plan: CallPlan) -> bool:
    """A server that refuses has changed nothing, one that was not asked too, and what it did is not left unsaid as done."""
    refused = isinstance(plan.answer, Refused | Withdrawn)
    return not (refused and plan.carried_out) and not (plan.answer is None and not plan.carried_out)


SHAPES: list[dict[str, Any]] = [
    {},
    {"labels": {"app": "a"}},
    {"spec": {"nodeSelector": {"zone": "a"}}},
    {"spec": {"tolerations": [{"key": "k", "operator": "Exists"}]}},
    {"priority": 10},
    {"gates": ("example.com/wait",)},
    {"containers": [container("1", ports=[{"containerPort": 80, "hostPort": 80}])]},
    {"metadata": {"finalizers": ["example.com/slow"]}},
    {"scheduler": "other"},
    {"scheduler": "other", "status": {"nominatedNodeName": "n1"}, "priority": 5},
]


class AnyHistory(RuleBasedStateMachine):
    """Three nodes, a dozen pods, a second scheduler, and everything that can go wrong."""

    kubelet = False
    configuration = default(load_registry())

    @initialize(seed=st.integers(0, 3))
    def begin(self, seed: int) -> None:
        self.world = World(self.configuration, seed=seed, kubelet=self.kubelet)
        self.prepare()
        self.world.node("n0", cpu="4", labels={"zone": "a"})
        self.world.node("n1", cpu="2")
        self.world.start()
        self.leading = True

    # What users, controllers and another scheduler do. What the API refuses does not happen.

    @rule(name=PODS, cpu=CPU, shape=st.sampled_from(SHAPES))
    def create(self, name: str, cpu: str, shape: dict[str, Any]) -> None:
        self._try(lambda: self.world.pod(name, cpu, **shape))

    @rule(name=PODS, grace=st.sampled_from([0, 0, 30]))
    def delete(self, name: str, grace: int) -> None:
        self._try(lambda: self.world.delete(name, grace=grace))

    @rule(name=PODS)
    def let_go(self, name: str) -> None:
        self._try(lambda: self.world.change_pod(name, {"metadata": {"finalizers": None}}))

    @rule(allowed=st.integers(0, 1))
    def guard(self, allowed: int) -> None:
        self._try(lambda: self.world.budget("guard", {"app": "a"}, allowed))

    @rule(name=PODS, value=st.sampled_from(["a", "b"]))
    def label(self, name: str, value: str) -> None:
        self._try(lambda: self.world.change_pod(name, {"metadata": {"labels": {"app": value}}}))

    @rule(name=PODS, cpu=CPU)
    def resize(self, name: str, cpu: str) -> None:
        self._try(lambda: self.world.resize(name, cpu))

    @rule(name=PODS)
    def open_gate(self, name: str) -> None:
        self._try(lambda: self.world.change_pod(name, {"spec": {"schedulingGates": []}}))

    @rule(name=PODS)
    def tolerate(self, name: str) -> None:
        more = {"spec": {"tolerations": [{"key": "k", "operator": "Exists"}]}}
        self._try(lambda: self.world.change_pod(name, more))

    @rule(name=PODS, node=NODES)
    def bind_elsewhere(self, name: str, node: str) -> None:
        self._try(lambda: self.world.bind_elsewhere(name, node))

    @rule(
        name=PODS, phase=st.sampled_from(["Running", "Succeeded", "Failed"]), reason=st.sampled_from(["", "OutOfcpu"])
    )
    def report(self, name: str, phase: str, reason: str) -> None:
        if name in self.world.placed() and not decode_pod(self.world.get(name)).terminal:
            status = {"phase": phase, "reason": reason if phase == "Failed" else ""}
            self._try(lambda: self.world.change_pod(name, {"status": status}, status=True))

    @rule(node=NODES, cpu=CPU, zone=st.sampled_from(["a", "b"]), tainted=st.booleans())
    def add_node(self, node: str, cpu: str, zone: str, *, tainted: bool) -> None:
        taints = [taint("k")] if tainted else None
        self._try(lambda: self.world.node(node, cpu=cpu, labels={"zone": zone}, taints=taints))

    @rule(node=NODES)
    def remove_node(self, node: str) -> None:
        self._try(lambda: self.world.cluster.delete("nodes", None, node))

    @rule(node=NODES, cordoned=st.booleans())
    def cordon(self, node: str, *, cordoned: bool) -> None:
        self._try(lambda: self.world.change_node(node, {"spec": {"unschedulable": cordoned}}))

    @rule(node=NODES, tainted=st.booleans())
    def taint(self, node: str, *, tainted: bool) -> None:
        self._try(lambda: self.world.change_node(node, {"spec": {"taints": [taint("k")] if tainted else None}}))

    @rule(node=NODES, cpu=CPU)
    def change_allocatable(self, node: str, cpu: str) -> None:
        self._try(lambda: self.world.change_node(node, {"status": {"allocatable": {"cpu": cpu}}}, status=True))

    @rule(node=NODES, zone=st.sampled_from(["a", "b", None]))
    def change_zone(self, node: str, zone: str | None) -> None:
        self._try(lambda: self.world.change_node(node, {"metadata": {"labels": {"zone": zone}}}))

    # What goes wrong between the cluster and the scheduler.

    @rule(seconds=st.sampled_from([0.0, 0.3, 1.5, 12.0, 40.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.driver.run(seconds)

    @rule(
        test=st.sampled_from(CALLS),
        plan=ANSWERS.filter(honest),
        times=st.integers(1, 3),
    )
    def calls_go_wrong(self, test: Any, plan: CallPlan, times: int) -> None:
        self.world.faults.calls(test, plan, times)

    @rule(delays=st.sampled_from([(0.5,), (3.0,), (0.0, 0.0), (0.0, 2.0)]), times=st.integers(1, 5))
    def events_are_late_or_doubled(self, delays: tuple[float, ...], times: int) -> None:
        self.world.faults.events(any_event, Delivery(delays), times)

    @rule(resource=st.sampled_from(["pods", "nodes"]))
    def watch_breaks(self, resource: str) -> None:
        self.world.driver.break_watch(resource)

    @rule(resource=st.sampled_from(["pods", "nodes"]))
    def relist(self, resource: str) -> None:
        if self.leading:
            self.world.driver.relist(resource)
            self.world.driver.settle()

    @rule()
    def lose_or_gain_the_lease(self) -> None:
        if self.leading:
            self.world.driver.stop()
        else:
            self.world.driver.start()
        self.leading = not self.leading
        self.world.driver.settle()

    def teardown(self) -> None:
        """All is well again; a minute later nothing is left to do, and nothing is left over."""
        if not hasattr(self, "leading"):
            return
        world = self.world
        world.faults.clear()
        self.recover()
        if self.leading:
            for resource in ("pods", "nodes"):
                world.driver.relist(resource)
        else:
            world.driver.start()
        world.driver.run(60.0)
        world.at_rest()
        self._all_that_can_be_placed_is_placed()
        self._nothing_is_left_over()

    def prepare(self) -> None:
        """What else there is, before anything happens."""

    def recover(self) -> None:
        """Whatever else may be broken is in order again."""

    def _all_that_can_be_placed_is_placed(self) -> None:
        """INV-11: a scheduler without a past would bind nothing either."""
        registry = load_registry()
        fresh = Engine(replace(self.configuration, extenders=()), registry, 0, Observer())
        held = self.world.engine.state.holds.held(self.world.clock.now)
        facts: list[Any] = [LeadershipGained()]
        nodes = [decode_node(obj) for obj in self.world.cluster.list("nodes")[0]]
        facts += [NodeSeen(node) for node in nodes if node.name not in held]
        facts += [PodSeen(pod) for pod in self._pods()]
        for fact in [*facts, *(KindSynced(kind) for kind in Kind)]:
            fresh.handle(fact, 0.0)
        effects = fresh.advance(0.0, 1000)
        would = [effect.name for effect in effects if isinstance(effect, Bind)]
        assert not would, f"a fresh scheduler would place {would}: {[self._story(name) for name in would]}"
        if self.kubelet:
            would = [effect.name for effect in effects if isinstance(effect, MarkDisrupted)]
            assert not would, (
                f"a fresh scheduler would evict {would}: {[self._story(pod.name) for pod in self._pods()]}"
            )

    def _nothing_is_left_over(self) -> None:
        state = self.world.engine.state
        pods = {pod.uid: pod for pod in self._pods()}
        assert self.world.engine.summary().in_flight == 0
        assert state.cache.assumed_count == 0
        assert not self.world.engine._tasks(), "attempts go on"
        assert not state.deciding
        assert not state.consulting
        assert set(state.cache.bound_pods()) == {uid for uid, pod in pods.items() if pod.node_name and not pod.terminal}
        assert {e.key for e in state.queue.entries()} == {
            uid for uid, pod in pods.items() if waits(pod) and not pod.terminating
        }
        assert not state.patches
        assert not state.permits.pods()
        assert not state.preemptions
        assert not state.preparing
        assert set(state.unstarted) <= {uid for uid, pod in pods.items() if pod.node_name and pod.phase == "Pending"}
        assert set(state.nominator.uids()) <= {uid for uid, pod in pods.items() if not pod.node_name}
        assert not state.bound_after_flush, "the flush was needed"
        crashes = [note for note in self.world.notes.anomalies if "crashed" in note]
        assert not crashes
        assert not self.world.notes.raised

    def _pods(self) -> list[PodInfo]:
        return [decode_pod(obj) for obj in self.world.cluster.list("pods")[0]]

    def _story(self, name: str) -> list[str]:
        lines = self.world.engine.story(self.world.pod_uid(name))
        return [f"{line.at}: {line.what} {line.detail}" for line in lines]

    def _try(self, call: Any) -> None:
        try:
            call()
        except ApiError:
            return
        self.world.driver.settle()


def waits(pod: PodInfo) -> bool:
    """Whether a pod waits for this scheduler."""
    return pod.spec.scheduler_name == "berth" and not pod.node_name and not pod.terminal


class AnyHistoryWithKubelets(AnyHistory):
    """The same with kubelets that admit, refuse, start and stop pods."""

    kubelet = True


class AnyHistoryOfAFullCluster(AnyHistory):
    """The same where room has to be made."""

    kubelet = True

    @initialize(seed=st.integers(0, 3), stop=st.sampled_from([0.1, 5.0]))
    def begin(self, seed: int, stop: float) -> None:
        super().begin(seed)
        assert self.world.kubelets is not None
        self.world.kubelets.pace = Pace(stop=stop)
        for i in range(6):
            self.world.pod(f"p{i}", "1", priority=i % 3, labels={"app": "ab"[i % 2]})
        self.world.driver.run(1.0)

    @rule(name=PODS, cpu=st.sampled_from(["1", "2", "3"]), priority=st.integers(1, 12))
    def create_important(self, name: str, cpu: str, priority: int) -> None:
        self._try(lambda: self.world.pod(name, cpu, priority=priority, labels={"app": "b"}))

    @rule(test=st.sampled_from([marking, deleting]), plan=ANSWERS.filter(honest), name=PODS, cpu=CPU)
    def an_eviction_goes_wrong(self, test: Any, plan: CallPlan, name: str, cpu: str) -> None:
        self.world.faults.calls(test, plan, 1)
        self._try(lambda: self.world.pod(name, cpu, priority=20))


TestAnyHistory = AnyHistory.TestCase
TestAnyHistoryWithKubelets = AnyHistoryWithKubelets.TestCase
TestAnyHistoryOfAFullCluster = AnyHistoryOfAFullCluster.TestCase
TestAnyHistory.settings = settings(max_examples=40, stateful_step_count=50)
TestAnyHistoryWithKubelets.settings = settings(max_examples=40, stateful_step_count=50)
TestAnyHistoryOfAFullCluster.settings = settings(max_examples=40, stateful_step_count=50)
