"""What one preemption decision costs: `make bench-preemption`. CPU time of a whole attempt, from the pod's turn to its effects.

Each node has 4 CPUs and four pods of 900m, so that three of them have to go for a pod of 3 CPUs. A tenth of all nodes are
candidates (minCandidateNodesPercentage), and each of them is looked at once more for every pod on it.
"""

import statistics
import sys
import time

import click

from plugins.registry import BUILT_IN
from scheduler.config import default
from scheduler.engine import Engine
from scheduler.messages import (
    Done,
    EffectDone,
    Fact,
    KindSynced,
    LeadershipGained,
    MarkDisrupted,
    NodeSeen,
    PodSeen,
    RecordEvent,
)
from scheduler.observer import Observer
from tests.builders import node, pod

PODS_A_NODE = 4
MOST_MILLISECONDS = 50.0


@click.command()
@click.option("--nodes", default=5000, show_default=True, help="Nodes, with four low-priority pods each.")
@click.option("--decisions", default=21, show_default=True, help="Pods that preempt, one after the other.")
def main(nodes: int, decisions: int) -> None:
    """Measure; exit status 1 if the promise is not kept."""
    engine = filled(nodes)
    spent = [decide(engine, number) for number in range(decisions)]
    median, worst = statistics.median(spent), max(spent)
    click.echo(
        f"{nodes} nodes, {PODS_A_NODE * nodes} pods: median {median:.1f} ms, worst {worst:.1f} ms of CPU a decision"
    )
    sys.exit(0 if median < MOST_MILLISECONDS else 1)


def filled(nodes: int) -> Engine:
    """An engine that leads a cluster without room."""
    engine = Engine(default(BUILT_IN), BUILT_IN, 0, Observer())
    facts: list[Fact] = [LeadershipGained()]
    facts += [NodeSeen(node(f"n{i}", cpu="4", memory="32Gi")) for i in range(nodes)]
    for i in range(PODS_A_NODE * nodes):
        status = {"phase": "Running", "startTime": f"2026-01-01T00:{i // 60 % 60:02d}:{i % 60:02d}Z"}
        low = pod(f"low{i}", "900m", "500Mi", priority=i % 3, node=f"n{i // PODS_A_NODE}", status=status)
        facts.append(PodSeen(low))
    for fact in [*facts, *map(KindSynced, engine.kinds)]:
        engine.handle(fact, 0.0)
    return engine


def decide(engine: Engine, number: int) -> float:
    """Milliseconds of CPU for one more pod, less important than those before, so that the nodes they were promised count."""
    engine.handle(PodSeen(pod(f"high{number}", "3000m", "500Mi", priority=1000 - number)), 1.0)
    began = time.process_time()
    effects = engine.advance(1.0, 1)
    spent = 1000 * (time.process_time() - began)
    assert sum(isinstance(effect, MarkDisrupted) for effect in effects) == 2, "all but the last of three victims"
    while effects:
        for effect in effects:
            if not isinstance(effect, RecordEvent):
                engine.handle(EffectDone(effect.effect_id, Done()), 1.0)
        effects = engine.advance(1.0, 0)
    return spent


if __name__ == "__main__":
    main()
