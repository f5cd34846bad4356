"""berth's answers to the same questions, from the same objects as the API server has them."""

from collections.abc import Sequence
from dataclasses import dataclass

from plugins.registry import BUILT_IN
from scheduler.api import ApiObject, Kind
from scheduler.cache.rows import Rows
from scheduler.config import Configuration
from scheduler.engine import Engine
from scheduler.framework import CycleState, Node, PodInfo, Status
from scheduler.messages import Bind, Fact, KindSynced, LeadershipGained, NodeSeen, ObjectSeen, PatchPodStatus, PodSeen
from scheduler.observer import Observer
from scheduler.runtime.filters import NodeVerdicts
from tests.parity.oracle import Scores


@dataclass(frozen=True, slots=True)
class Answer:
    """Where the pod may run, how the nodes are scored, and the decision: a node's name or a message."""

    feasible: frozenset[str]
    scores: Scores
    decision: str


def answer(
    configuration: Configuration,
    nodes: Sequence[Node],
    bound: Sequence[PodInfo],
    pod: PodInfo,
    others: Sequence[ApiObject] = (),
) -> Answer:
    """One attempt on this cluster."""
    engine = Engine(configuration, BUILT_IN, 0, Observer())
    facts: list[Fact] = [LeadershipGained(), *map(NodeSeen, nodes), *map(ObjectSeen, others), *map(PodSeen, bound)]
    facts.append(PodSeen(pod))
    for fact in [*facts, *map(KindSynced, Kind)]:
        engine.handle(fact, 0.0)
    feasible, scores = _rows(engine, pod)
    effects = engine.advance(0.0, 1)
    (decision,) = (_text(effect) for effect in effects if isinstance(effect, Bind | PatchPodStatus))
    return Answer(feasible, scores, decision)


def _text(effect: Bind | PatchPodStatus) -> str:
    return effect.node_name if isinstance(effect, Bind) else effect.message


def _rows(engine: Engine, pod: PodInfo) -> tuple[frozenset[str], Scores]:
    runtime = engine.state.profiles[pod.spec.scheduler_name]
    state = CycleState()
    outcome = runtime.run_pre_filter(state, pod)
    rows = Rows.everything(engine.state.cache.nodes)
    verdicts = runtime.run_filters(state, pod, rows)
    if not outcome.status.ok or not isinstance(verdicts, NodeVerdicts):
        return frozenset(), {}
    passing = rows.subset(verdicts.feasible())
    names = [name for name in passing.names() if outcome.node_names is None or name in outcome.node_names]
    if len(names) < 2:
        return frozenset(names), {}
    runtime.run_scores(state, pod, passing)
    found: Scores = {}
    for plugin, weight, scores in runtime._scores.by_plugin(state, pod, passing):
        assert not isinstance(scores, Status), scores
        for name, score in zip(passing.names(), scores, strict=True):
            found[plugin, name] = weight * int(score)
    return frozenset(names), found
