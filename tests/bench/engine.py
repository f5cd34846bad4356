"""What a decision costs without any API: `make bench-engine`. CPU time from a pod's turn to its Binding and the answer to it.

Every contender decides on the same pods with the default plugins, all nodes scored. Times are also given as multiples of a fixed
loop of the same interpreter, which tells slow code from a slow machine.
"""

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import click
import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from plugins.registry import BUILT_IN
from scheduler.api import Kind
from scheduler.config import default
from scheduler.engine import Engine
from scheduler.framework import Code, PodInfo
from scheduler.messages import Bind, Done, EffectDone, Fact, KindSynced, LeadershipGained, NodeSeen, ObjectSeen, PodSeen
from scheduler.objects import FOLLOWED
from scheduler.observer import Observer
from tests.builders import JsonObject, node, pod

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


@dataclass(frozen=True)
class Workload:
    """Pods of so many apps (0: each of another); `spec` is what the pods of an app say, `services` that each app has one."""

    name: str
    apps: int
    spec: Callable[[str], JsonObject] = lambda _: {}
    services: bool = False

    def pods(self, count: int) -> Iterator[PodInfo]:
        """The pods to be placed."""
        for i in range(count):
            app = i % (self.apps or count)
            labels = {"app": f"app{app}"}
            yield pod(f"p{i}", f"{100 + app}m", "10Mi", labels=labels, spec=self.spec(f"app{app}"))


def spread(key: str, what: str) -> Callable[[str], JsonObject]:
    """Pods of an app spread over a topology."""

    def spec(app: str) -> JsonObject:
        constraint = {"topologyKey": key, "maxSkew": 5, "whenUnsatisfiable": what}
        return {"topologySpreadConstraints": [{**constraint, "labelSelector": {"matchLabels": {"app": app}}}]}

    return spec


def terms(kind: str, key: str, *, required: bool) -> Callable[[str], JsonObject]:
    """Pods of an app that mind each other."""

    def spec(app: str) -> JsonObject:
        term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
        if required:
            return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
        weighted = [{"weight": 10, "podAffinityTerm": term}]
        return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}}

    return spec


WORKLOADS = (
    Workload("one shape", 1),
    Workload("100 shapes", 100),
    Workload("every pod another shape", 0),
    Workload("zone spread, hard", 5, spread(ZONE, "DoNotSchedule")),
    Workload("zone spread, soft", 5, spread(ZONE, "ScheduleAnyway")),
    Workload("spread by default (services)", 5, services=True),
    Workload("hostname anti-affinity, required", 5, terms("podAntiAffinity", HOST, required=True)),
    Workload("zone affinity, required", 5, terms("podAffinity", ZONE, required=True)),
    Workload("hostname anti-affinity, preferred", 5, terms("podAntiAffinity", HOST, required=False)),
)


class Points(Observer):
    """Adds up the time of each extension point, by the wall clock: to ask for CPU time takes too long to be done so often."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._began = 0.0

    def point_started(self, profile: str, point: str) -> None:
        """Start the clock."""
        self._began = time.perf_counter()

    def point_finished(self, profile: str, point: str, code: Code) -> None:
        """Add it up."""
        self.seconds[point] += time.perf_counter() - self._began


@dataclass(frozen=True)
class Size:
    """Nodes, pods in the backlog, and pods that are on nodes already."""

    nodes: int
    pods: int
    bound: int


def points(workload: Workload, size: Size) -> dict[str, float]:
    """Microseconds that each extension point takes of a decision; in a run of its own, for measuring takes time too."""
    measured = Points()
    decide(workload, size, measured)
    return {point: 1e6 * seconds / size.pods for point, seconds in measured.seconds.items()}


def decide(workload: Workload, size: Size, observer: Observer) -> float:
    """Decide on a backlog; answers microseconds of CPU a decision."""
    nodes, pods, bound = size.nodes, size.pods, size.bound
    engine = Engine(default(BUILT_IN), BUILT_IN, 0, observer)
    for fact in _cluster(workload, nodes, bound, engine):
        engine.handle(fact, 0.0)
    for waiting in workload.pods(pods):
        engine.handle(PodSeen(waiting), 1.0)
    began, placed = time.process_time(), 0
    while placed < pods:
        binds = [effect for effect in engine.advance(2.0, 1000) if isinstance(effect, Bind)]
        assert binds, f"{workload.name}: only {placed} of {pods} pods were placed"
        placed += len(binds)
        for bind in binds:
            engine.handle(EffectDone(bind.effect_id, Done()), 2.0)
    return 1e6 * (time.process_time() - began) / pods


def _cluster(workload: Workload, nodes: int, bound: int, engine: Engine) -> Iterator[Fact]:
    yield LeadershipGained()
    for i in range(nodes):
        labels = {ZONE: f"zone{i % 3}"}
        yield NodeSeen(node(f"n{i}", cpu="32", memory="128Gi", labels=labels))
    for i in range(bound):
        yield PodSeen(pod(f"b{i}", "100m", "10Mi", labels={"app": f"bound{i % 200}"}, node=f"n{i % nodes}"))
    if workload.services:
        decoder = FOLLOWED[Kind.SERVICE].decoder()
        for i in range(workload.apps):
            meta = {"name": f"s{i}", "namespace": "default", "uid": f"s{i}", "resourceVersion": "1"}
            service = {"metadata": meta, "spec": {"selector": {"app": f"app{i}"}}}
            yield ObjectSeen(decoder.decode(msgspec.json.encode(service)))
    yield from (KindSynced(kind) for kind in engine.kinds)


def reference() -> float:
    """Microseconds of a fixed loop: what this interpreter and numpy take for a bit of everything a decision consists of."""
    numbers = np.arange(5000)
    began = time.process_time()
    for _ in range(200):
        found = {i: str(i) for i in range(200)}
        sum(len(text) for text in found.values())
        (numbers * 3 // 7).max()
    return 1e6 * (time.process_time() - began) / 200


@click.command()
@click.option("--nodes", type=click.IntRange(1), multiple=True, default=(5000,), show_default=True)
@click.option("--pods", type=click.IntRange(1), default=2000, show_default=True, help="The backlog.")
@click.option("--bound", type=click.IntRange(0), default=0, show_default=True, help="Pods that are on nodes already.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True)
@click.option("--only", default="", help="Workloads with this in their name.")
def main(nodes: tuple[int, ...], pods: int, bound: int, rounds: int, only: str) -> None:
    """Measure decisions per second, and where their time goes."""
    console = Console()
    unit = statistics.median(reference() for _ in range(5))
    table = Table("workload", "nodes", "decisions/s", "us", "x reference", "where the us go")
    for workload in (w for w in WORKLOADS if only in w.name):
        for size in (Size(number, pods, bound) for number in nodes):
            cost = statistics.median(decide(workload, size, Observer()) for _ in range(rounds))
            parts = ", ".join(f"{point} {us:.0f}" for point, us in points(workload, size).items())
            row = (f"{1e6 / cost:.0f}", f"{cost:.0f}", f"{cost / unit:.1f}", parts)
            table.add_row(workload.name, str(size.nodes), *row)
            console.print(f"{workload.name}, {size.nodes} nodes: {row[0]} decisions/s", highlight=False)
    console.print(table)


if __name__ == "__main__":
    main()
