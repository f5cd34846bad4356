"""A cluster in which a pod is tried, and what that costs others."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from plugins.registry import BUILT_IN
from scheduler.api import ApiObject
from scheduler.config import load
from scheduler.engine import Engine
from scheduler.framework import Node, PodInfo
from scheduler.messages import (
    DeletePod,
    Done,
    Effect,
    EffectDone,
    Fact,
    KindSynced,
    LeadershipGained,
    MarkDisrupted,
    NodeSeen,
    ObjectSeen,
    PatchPodStatus,
    PodSeen,
    RecordEvent,
)
from scheduler.observer import Observer
from tests.builders import pod

LOW, MID, HIGH, HIGHEST = 0, 100, 1000, 10000

CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{{pluginConfig: [{{name: DefaultPreemption, args: {{{args}}}}}]}}]
"""


def running(name: str, node: str, cpu: str, priority: int, *, started: int | None = None, **fields: Any) -> PodInfo:
    """A pod on a node; `started` are seconds after some moment."""
    status = dict(fields.pop("status", {}))
    if started is not None:
        status["startTime"] = f"2026-01-01T00:{started // 60:02d}:{started % 60:02d}Z"
    return pod(name, cpu, node=node, priority=priority, status=status, **fields)


@dataclass
class Attempt:
    """What came of trying a pod: the node it was promised, who was evicted for it, what its condition says."""

    node: str | None = None
    victims: set[str] = field(default_factory=set)
    message: str = ""
    events: list[RecordEvent] = field(default_factory=list)

    def note(self, effect: Effect) -> None:
        """Take an effect into account."""
        match effect:
            case PatchPodStatus():
                self.node, self.message = effect.nominated_node, effect.message
            case DeletePod():
                self.victims.add(effect.uid)
            case RecordEvent():
                self.events.append(effect)


class Preempting:
    """Nodes, the pods on them and budgets; every effect is carried out at once, but victims stay where they are."""

    def __init__(
        self,
        nodes: Iterable[Node],
        pods: Iterable[PodInfo],
        budgets: Iterable[ApiObject] = (),
        *,
        args: str = "",
        seed: int = 0,
    ) -> None:
        self.engine = Engine(load(CONFIGURATION.format(args=args), "test", BUILT_IN), BUILT_IN, seed, Observer())
        facts: list[Fact] = [LeadershipGained(), *map(NodeSeen, nodes), *map(PodSeen, pods), *map(ObjectSeen, budgets)]
        for fact in [*facts, *map(KindSynced, self.engine.kinds)]:
            self.engine.handle(fact, 0.0)

    def attempt(self, preemptor: PodInfo) -> Attempt:
        """Try a pod."""
        self.engine.handle(PodSeen(preemptor), 0.0)
        tried = Attempt()
        effects: Collection[Effect] = self.engine.advance(0.0, 1)
        while effects:
            for effect in effects:
                tried.note(effect)
                if not isinstance(effect, RecordEvent):
                    self.engine.handle(EffectDone(effect.effect_id, Done()), 0.0)
            effects = self.engine.advance(0.0, 0)
        self.engine.validate()
        return tried

    def marked(self, preemptor: PodInfo) -> list[MarkDisrupted]:
        """The first patches of victims, before anything is answered."""
        self.engine.handle(PodSeen(preemptor), 0.0)
        return [effect for effect in self.engine.advance(0.0, 1) if isinstance(effect, MarkDisrupted)]
