"""Victims are enough and none too many, and asking all nodes at once is asking one after the other."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.cache.rows import Rows
from scheduler.engine import Engine
from scheduler.framework import CycleState, NodeInfo, PodInfo, Status
from scheduler.handle import PluginHandle
from scheduler.messages import NodeSeen, PodGone, PodSeen
from scheduler.runtime.filters import NodeVerdicts
from scheduler.runtime.hypotheses import Hypotheses
from scheduler.runtime.promises import PodFilters
from tests.builders import container, node, pod
from tests.plugins.preempting import Preempting, running

PRIORITY = 10
PORT = [{"containerPort": 80, "hostPort": 80}]

ON_A_NODE = st.tuples(st.sampled_from(["500m", "1", "2"]), st.integers(0, 12), st.booleans(), st.integers(0, 50))
NODES = st.lists(
    st.tuples(st.sampled_from(["2", "4", "6"]), st.integers(1, 6), st.lists(ON_A_NODE, max_size=6)),
    min_size=1,
    max_size=8,
)
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["pod goes", "pod comes", "promise", "promise kept", "node grows", "another pod"]),
        st.integers(0, 7),
    ),
    min_size=1,
    max_size=6,
)
PROMISES = st.lists(st.tuples(st.integers(0, 7), st.integers(8, 12), st.sampled_from(["500m", "2"])), max_size=4)


class Asked:
    """A cluster, and a pod that is asked about."""

    def __init__(
        self,
        nodes: Sequence[tuple[str, int, list[tuple[str, int, bool, int]]]],
        promises: Sequence[tuple[int, int, str]],
        cpu: str,
        *,
        port: bool,
    ) -> None:
        made = [node(f"n{i}", size, pods=str(most)) for i, (size, most, _) in enumerate(nodes)]
        pods = [
            running(
                f"p{i}-{k}", f"n{i}", cpu, prio, started=at, containers=[container(cpu, ports=PORT if taken else None)]
            )
            for i, (_, _, on_it) in enumerate(nodes)
            for k, (cpu, prio, taken, at) in enumerate(on_it)
        ]
        self.engine: Engine = Preempting(made, pods).engine
        for i, (where, prio, size) in enumerate(promises):
            status = {"nominatedNodeName": f"n{where}"}
            promised = pod(f"promised{i}", size, priority=prio, scheduler="other", status=status)
            self.engine.handle(PodSeen(promised), 0.0)
        self._cpu, self._port = cpu, port
        self.pod = pod("p", priority=PRIORITY, containers=[container(cpu, ports=PORT if port else None)])
        self.turn()

    def turn(self) -> None:
        """An attempt for the pod begins."""
        state = self.engine.state
        self.cycle = CycleState()
        assert state.profiles["berth"].run_pre_filter(self.cycle, self.pod).status.ok
        self._filters = PodFilters(state.profiles["berth"], self.cycle, self.pod, state.promised(self.pod))

    def verdicts(self) -> dict[str, Status]:
        """What the filters say of each node, promises counted."""
        rows = Rows.everything(self.engine.state.cache.nodes)
        verdicts = self._filters.run(rows)
        assert isinstance(verdicts, NodeVerdicts)
        return {name: verdicts.status_at(position) for position, name in enumerate(rows.names())}

    def answers(self) -> tuple[dict[str, tuple[PodInfo, ...] | Status], dict[str, Status]]:
        """Both."""
        return self.dry_run(), self.verdicts()

    def fresh_answers(self) -> tuple[dict[str, tuple[PodInfo, ...] | Status], dict[str, Status]]:
        """The same without what is known from asking before."""
        runtime = self.engine.state.profiles["berth"]
        known = runtime.crowded, runtime.evictions
        runtime.crowded, runtime.evictions = Hypotheses(), Hypotheses()
        answers = self.answers()
        runtime.crowded, runtime.evictions = known
        return answers

    def happens(self, change: tuple[str, int], number: int) -> None:
        """Something changes on a node."""
        what, where = change
        state = self.engine.state
        info = state.cache.nodes.by_name(f"n{where}")
        if info is None:
            return
        match what:
            case "pod goes" if info.pods:
                self.engine.handle(PodGone(min(info.pods)), 0.0)
            case "pod comes":
                self.engine.handle(
                    PodSeen(running(f"new{number}", info.name, "500m", number % 12, started=number)), 0.0
                )
            case "promise":
                status = {"nominatedNodeName": info.name}
                later = pod(f"later{number}", "500m", priority=8 + number % 5, scheduler="other", status=status)
                self.engine.handle(PodSeen(later), 0.0)
            case "promise kept" if promised := min((other.uid for other in state.nominator.on(info.name)), default=""):
                self.engine.handle(PodGone(promised), 0.0)
            case "node grows":
                self.engine.handle(
                    NodeSeen(node(info.name, "8", pods="6", metadata={"resourceVersion": str(1000 + number)})), 0.0
                )
            case "another pod":
                ports = PORT if self._port else None
                self.pod = pod(f"p{number}", priority=8 + number % 4, containers=[container(self._cpu, ports=ports)])

    def dry_run(self) -> dict[str, tuple[PodInfo, ...] | Status]:
        """All nodes at once."""
        handle = PluginHandle(self.engine)
        rows = handle.rows()
        return dict(zip(rows.names(), handle.dry_run(self.cycle, self.pod, rows, evictable), strict=True))

    def fits(self, name: str, without: Sequence[PodInfo]) -> bool:
        """Whether one node would take the pod without these."""
        table = self.engine.state.cache.nodes
        scratch = table.scratch(np.array([table.known_row(name)]))
        for gone in without:
            scratch.remove_pod(name, gone.uid)
        verdicts = self._filters.run(Rows(scratch, scratch.live(), table))
        assert isinstance(verdicts, NodeVerdicts)
        return verdicts.status_at(0).ok


def evictable(info: NodeInfo) -> list[PodInfo]:
    """Those of lower priority, the most important first."""
    below = [other for other in info.pods.values() if other.spec.priority < PRIORITY]
    return sorted(below, key=lambda other: (-other.spec.priority, other.running_since))


ASKED = st.builds(
    lambda nodes, promises, cpu, port: Asked(nodes, promises, cpu, port=port),
    NODES,
    PROMISES,
    st.sampled_from(["1", "3", "5"]),
    st.booleans(),
)


@settings(max_examples=60)
@given(ASKED)
def test_without_its_victims_a_node_takes_the_pod_and_with_any_of_them_it_does_not(asked: Asked) -> None:
    for name, outcome in asked.dry_run().items():
        if isinstance(outcome, Status):
            info = asked.engine.state.cache.nodes.by_name(name)
            assert info is not None
            assert not (gone := evictable(info)) or not asked.fits(name, gone)
            continue
        assert asked.fits(name, outcome)
        for spared in outcome:
            assert not asked.fits(name, [victim for victim in outcome if victim is not spared])


@settings(max_examples=60)
@given(ASKED)
def test_in_lock_step_is_one_node_after_the_other(asked: Asked) -> None:
    for name, outcome in asked.dry_run().items():
        info = asked.engine.state.cache.nodes.by_name(name)
        assert info is not None
        gone = evictable(info)
        if not gone or not asked.fits(name, gone):
            assert isinstance(outcome, Status)
            continue
        for victim in evictable(info):
            without = [other for other in gone if other is not victim]
            gone = without if asked.fits(name, without) else gone
        assert outcome == tuple(gone)


@settings(max_examples=40)
@given(ASKED)
def test_asking_leaves_no_trace(asked: Asked) -> None:
    table = asked.engine.state.cache.nodes
    before = (table.generation.copy(), {row: dict(table.info(row).pods) for row in table.live().tolist()})
    asked.dry_run()
    asked.engine.validate()
    assert (table.generation == before[0]).all()
    assert {row: table.info(row).pods for row in table.live().tolist()} == before[1]


@settings(max_examples=150)
@given(ASKED, CHANGES)
def test_what_is_known_from_pods_asked_about_before_is_what_comes_out_now(
    asked: Asked, changes: list[tuple[str, int]]
) -> None:
    asked.answers()
    for number, change in enumerate(changes):
        asked.happens(change, number)
        asked.turn()
        assert asked.answers() == asked.fresh_answers()
