"""What the runtime keeps is what it would work out afresh, and what-if leaves no trace."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.registry import load_registry
from scheduler.cache.rows import Rows
from scheduler.config import default
from scheduler.engine import Engine
from scheduler.framework import CycleState, PodInfo
from scheduler.messages import NodeGone, NodeSeen, PodGone, PodSeen
from scheduler.observer import Observer
from scheduler.runtime.filters import NodeVerdicts
from scheduler.runtime.ranking import Ranking
from tests.builders import container, node, pod, taint

STEP = st.tuples(
    st.sampled_from(["node", "node", "cordon", "taint", "no node", "pod", "pod", "no pod"]),
    st.integers(0, 70),
    st.sampled_from(["1", "2", "4"]),
)
STEPS = st.lists(STEP, min_size=1, max_size=120)


def waiting() -> list[PodInfo]:
    """Pods that each look at something else."""
    ports = [{"containerPort": 80, "hostPort": 80}]
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    preferred = [{"weight": 5, "preference": term}]
    return [
        pod("plain", "1"),
        pod("large", "3", "6Gi"),
        pod("port", containers=[container("1", ports=ports)]),
        pod("zone", "1", spec={"nodeSelector": {"zone": "a"}}),
        pod(
            "likes", spec={"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}
        ),
        pod("tolerates", "1", spec={"tolerations": [{"key": "k", "operator": "Exists"}]}),
    ]


class Pair:
    """An engine that has been asked all along, so that it keeps results."""

    def __init__(self) -> None:
        registry = load_registry()
        self.engine = Engine(default(registry), registry, 0, Observer())
        self._registry = registry
        self._version = 1
        self._rng = np.random.default_rng(0)

    def apply(self, what: str, number: int, cpu: str) -> None:
        self._version += 1
        version = {"resourceVersion": str(self._version)}
        name = f"n{number % 9}" if number < 60 else f"n{number}"
        labels = {"zone": "ab"[number % 2]}
        handle = self.engine.handle
        match what:
            case "node" | "cordon" | "taint":
                uid = {"uid": f"{name}-{self._version}", **version}
                taints = [taint("k")] if what == "taint" else None
                made = node(name, cpu, labels=labels, taints=taints, unschedulable=what == "cordon", metadata=uid)
                handle(NodeSeen(made), 0.0)
            case "no node":
                known = self.engine.state.cache.nodes.by_name(name)
                if known is not None:
                    handle(NodeGone(name, known.node.uid), 0.0)
            case "pod":
                ports = [{"containerPort": 80, "hostPort": 80}] if number % 4 == 0 else None
                uid = {"uid": f"u{self._version}", **version}
                handle(
                    PodSeen(pod(f"q{number}", node=name, containers=[container(cpu, ports=ports)], metadata=uid)), 0.0
                )
            case "no pod":
                on = next(iter(self.engine.state.cache.bound_pods()), None)
                if on is not None:
                    handle(PodGone(on), 0.0)

    def verdicts(self, asked: PodInfo, *, kept: bool) -> tuple[list[tuple[str, object]], list[int]]:
        """Each node's verdict, and the totals of the feasible ones; from kept results or from rows nobody keeps."""
        table = self.engine.state.cache.nodes
        runtime = self.engine.state.profiles["berth"]
        index = table.live() if kept else table.live().copy()
        cycle = CycleState()
        assert runtime.run_pre_filter(cycle, asked).status.ok
        rows = Rows(table, index, table)
        found = runtime.run_filters(cycle, asked, rows)
        assert isinstance(found, NodeVerdicts)
        feasible = found.feasible_rows()
        named = [(name, found.status_at(i)) for i, name in enumerate(rows.names())]
        if not kept:
            scratch = table.scratch(feasible.index)
            feasible = Rows(scratch, scratch.live(), table)
        ranking = runtime.run_scores(cycle, asked, feasible)
        assert isinstance(ranking, Ranking)
        totals = ranking.totals()
        if len(totals):
            best = feasible.index.tolist().index(ranking.best(self._rng))
            assert totals[best] == totals.max()
        assert len(totals) == sum(status.ok for _, status in named)
        return [(name, (status.code, status.reasons)) for name, status in named], totals.tolist()


@settings(max_examples=60)
@given(STEPS)
def test_kept_results_equal_fresh_ones_after_any_history(steps: list[tuple[str, int, str]]) -> None:
    pair, asked = Pair(), waiting()
    for i, (what, number, cpu) in enumerate(steps):
        pair.apply(what, number, cpu)
        if i % 3 == 0:
            one = asked[i // 3 % len(asked)]
            assert pair.verdicts(one, kept=True) == pair.verdicts(one, kept=False)
    for one in [*asked, *asked, *asked]:
        assert pair.verdicts(one, kept=True) == pair.verdicts(one, kept=False)


@settings(max_examples=30)
@given(STEPS, st.lists(STEP, min_size=60, max_size=120))
def test_kept_results_equal_fresh_ones_after_much_has_changed_at_once(
    steps: list[tuple[str, int, str]], burst: list[tuple[str, int, str]]
) -> None:
    pair, asked = Pair(), waiting()
    for step in [*[("node", number, "4") for number in range(71)], *steps]:
        pair.apply(*step)
    for one in [*asked, *asked]:
        pair.verdicts(one, kept=True)
    for step in burst:
        pair.apply(*step)
    for one in [*asked, *asked]:
        assert pair.verdicts(one, kept=True) == pair.verdicts(one, kept=False)


@settings(max_examples=40)
@given(STEPS)
def test_a_what_if_leaves_no_trace(steps: list[tuple[str, int, str]]) -> None:
    pair = Pair()
    for step in steps:
        pair.apply(*step)
    table = pair.engine.state.cache.nodes
    before = table.generation.copy()
    scratch = table.scratch(table.live())
    for row in scratch.live().tolist():
        name = scratch.info(row).name
        for uid in list(scratch.info(row).pods):
            scratch.remove_pod(name, uid)
        scratch.add_pod(name, pod(f"guest-{name}", "1"))
    pair.engine.validate()
    assert (table.generation == before).all()
