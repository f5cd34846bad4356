"""berth's answers to the same questions, from the same objects as the API server has them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from plugins.registry import BUILT_IN
from scheduler.api import Kind
from scheduler.cache.rows import Rows
from scheduler.config import Configuration
from scheduler.engine import Engine
from scheduler.framework import CycleState, PodInfo, Status
from scheduler.messages import (
    Bind,
    DeletePod,
    Done,
    Effect,
    EffectDone,
    Fact,
    KindSynced,
    LeadershipGained,
    NodeSeen,
    ObjectSeen,
    PatchPodStatus,
    PodSeen,
    RecordEvent,
)
from scheduler.observer import Observer
from scheduler.runtime.filters import NodeVerdicts
from tests.parity.stage import Facts, Scores, Verdict


@dataclass(frozen=True, slots=True)
class Answer:
    """What berth decides, which nodes are feasible, and how many verdicts each plugin gave against a node."""

    verdict: Verdict
    feasible: frozenset[str]
    rejections: Mapping[str, int]


def answer(configuration: Configuration, facts: Facts, pod: PodInfo) -> Answer:
    """One attempt on this cluster."""
    engine = Engine(configuration, BUILT_IN, 0, Observer())
    known: list[Fact] = [LeadershipGained(), *map(NodeSeen, facts.nodes), *map(ObjectSeen, facts.others)]
    known += [*map(PodSeen, facts.pods), PodSeen(pod), *map(KindSynced, Kind)]
    for fact in known:
        engine.handle(fact, 0.0)
    feasible, scores, rejections = _rows(engine, pod)
    done = _perform(engine)
    decided = next((e for e in done if isinstance(e, Bind | PatchPodStatus) and e.uid == pod.uid), None)
    assert decided is not None, f"nothing was decided about {pod.key}: {engine.story(pod.uid)}"
    decision = decided.node_name if isinstance(decided, Bind) else decided.message
    nominated = decided.nominated_node or "" if isinstance(decided, PatchPodStatus) else ""
    victims = frozenset(effect.name for effect in done if isinstance(effect, DeletePod))
    return Answer(Verdict(decision, scores, nominated, victims), feasible, rejections)


def _perform(engine: Engine) -> list[Effect]:
    """All that one attempt asks for; everything succeeds."""
    done: list[Effect] = []
    while effects := engine.advance(0.0, 0 if done else 1):
        for effect in effects:
            done.append(effect)
            if not isinstance(effect, RecordEvent):
                engine.handle(EffectDone(effect.effect_id, Done()), 0.0)
    return done


def _rows(engine: Engine, pod: PodInfo) -> tuple[frozenset[str], Scores, Mapping[str, int]]:
    runtime = engine.state.profiles[pod.spec.scheduler_name]
    state = CycleState()
    outcome = runtime.run_pre_filter(state, pod)
    rows = Rows.everything(engine.state.cache.nodes)
    if not outcome.status.ok:
        return frozenset(), {}, {outcome.status.plugin: len(rows)}
    verdicts = runtime.run_filters(state, pod, rows)
    assert isinstance(verdicts, NodeVerdicts), verdicts
    rejections = Counter(status.plugin for status in map(verdicts.status_at, range(len(rows))) if not status.ok)
    passing = rows.subset(verdicts.feasible())
    names = [name for name in passing.names() if outcome.node_names is None or name in outcome.node_names]
    if len(names) < 2:
        return frozenset(names), {}, rejections
    runtime.run_scores(state, pod, passing)
    found: Scores = {}
    for plugin, weight, scores in runtime._scores.by_plugin(state, pod, passing):
        assert not isinstance(scores, Status), scores
        for name, score in zip(passing.names(), scores, strict=True):
            found[plugin, name] = weight * int(score)
    return frozenset(names), found, rejections
