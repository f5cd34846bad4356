"""What a workload consists of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

JsonObject = dict[str, Any]
Rule = Callable[["Placements"], str | None]
"""A hard rule of a workload: what is wrong with the placements, or None."""

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
ZONES = 3


@dataclass(frozen=True)
class Placements:
    """What the API server says at the end: nodes by name, and the pods on them."""

    nodes: dict[str, JsonObject]
    pods: list[JsonObject]

    def zone_of(self, pod: JsonObject) -> str:
        """The zone of a pod's node."""
        zone: str = self.nodes[pod["spec"]["nodeName"]]["metadata"]["labels"][ZONE]
        return zone


@dataclass(frozen=True)
class Backlog:
    """All pods are there when the contender starts; the clock runs from the first Binding to the last one."""


@dataclass(frozen=True)
class Arrive:
    """The contender is ready when the first pod comes; the clock runs from then on. `per_second` 0: as fast as can be."""

    per_second: int = 0


@dataclass(frozen=True)
class Churn:
    """As `Arrive` at full speed, and of those bound only so many stay: the oldest finish."""

    alive: int


@dataclass(frozen=True)
class Rolling:
    """Each pod replaces one of the population, `surge` at a time in each of the Deployments: it comes, and when it is bound the
    old one goes.
    """

    deployments: int
    surge: int


Play = Backlog | Arrive | Churn | Rolling


def _none(_: int) -> Iterator[JsonObject]:
    return iter(())


@dataclass(frozen=True)
class Workload:
    """`pod(i)` is the i-th measured pod, `population(nodes)` are pods that run already, `in_front` unschedulable pods that come
    before the measured ones, and are settled before the clock starts if they come first of all (`settled`). `services` is for
    how many apps there is a Service. `with_ceiling`: Bindings and Events alone are a contender.
    """

    name: str
    about: str
    pod: Callable[[int], JsonObject]
    count: int = 2000
    play: Play = Backlog()
    population: Callable[[int], Iterator[JsonObject]] = _none
    in_front: int = 0
    settled: bool = False
    services: int = 0
    rules: tuple[Rule, ...] = ()

    @property
    def with_ceiling(self) -> bool:
        """Whether Bindings alone make sense: where nothing has to happen between them."""
        return isinstance(self.play, Backlog)

    def sized(self, count: int | None) -> "Workload":
        """The same with another number of pods."""
        return self if count is None else replace(self, count=count)
