"""Binding."""

from plugins.registry import BUILT_IN
from scheduler.api import Kind
from scheduler.config import default
from scheduler.engine import Engine
from scheduler.messages import Bind, Fact, KindSynced, LeadershipGained, NodeSeen, PodSeen
from scheduler.observer import Observer
from tests.builders import node, pod


def test_a_scheduled_pod_is_bound_by_uid() -> None:
    engine = Engine(default(BUILT_IN), BUILT_IN, 0, Observer())
    waiting = pod("p", "1")
    facts: list[Fact] = [LeadershipGained(), NodeSeen(node("n")), PodSeen(waiting), *map(KindSynced, Kind)]
    for fact in facts:
        engine.handle(fact, 0.0)
    binds = [effect for effect in engine.advance(0.0, 10) if isinstance(effect, Bind)]
    assert [(bind.uid, bind.namespace, bind.name, bind.node_name) for bind in binds] == [("p", "default", "p", "n")]
