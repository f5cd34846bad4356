"""A cluster as a plain value: what is in it, and which pods are asked about, one after another."""

from collections.abc import Sequence
from dataclasses import dataclass

import yaml

from scheduler.api import Kind
from tests.builders import JsonObject
from tests.parity.neighbours import Neighbours
from tests.parity.priorities import Priorities
from tests.parity.storage import Storage
from tests.parity.worlds import World

NODES = 12
THEMES: Sequence[tuple[type[World], str]] = (
    (World, "defaults"),
    (Neighbours, "defaults"),
    (Storage, "defaults"),
    (Priorities, "defaults"),
    (World, "most-allocated"),
    (Neighbours, "defaults"),
    (World, "by-utilization"),
    (Storage, "defaults"),
)


@dataclass(frozen=True)
class Cluster:
    """`profile` is the schedulerName of the asked pods; running pods have a node from the start."""

    seed: int
    profile: str
    nodes: tuple[JsonObject, ...]
    objects: tuple[tuple[Kind, JsonObject], ...]
    running: tuple[JsonObject, ...]
    asked: tuple[JsonObject, ...]

    def yaml(self) -> str:
        """Everything, to be read."""
        documents = [*self.nodes, *(obj for _, obj in self.objects), *self.running, *self.asked]
        return yaml.safe_dump_all(documents, sort_keys=False)


def draw(seed: int) -> Cluster:
    """The cluster of a seed: its theme, and everything in it."""
    kind, profile = THEMES[seed % len(THEMES)]
    world = kind(seed)
    nodes = world.nodes(NODES)
    objects = world.objects()
    running = [world.running(f"r{i:02}", f"n{i % NODES:02}") for i in range(world.running_count)]
    asked = [world.pod(f"p{i:02}") for i in range(world.asked_count)]
    for pod in asked:
        pod["spec"]["schedulerName"] = profile
    return Cluster(seed, profile, tuple(nodes), tuple(objects), tuple(running), tuple(asked))
