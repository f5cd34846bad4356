"""What plugins may ask of the engine: the `Handle` of the framework."""

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from scheduler import binding, consulting, eviction, volume_writes
from scheduler.api import ApiObject, PersistentVolume, PersistentVolumeClaim
from scheduler.cache.rows import Rows
from scheduler.framework import CycleState, Evictable, NodeInfo, NodeRows, PodInfo, Progress, Status, TermKind, Victims
from scheduler.preemption import dry_run
from scheduler.runtime.promises import PodFilters
from scheduler.state import State
from scheduler.tasks import Suspension

A = TypeVar("A", bound=ApiObject)
T = TypeVar("T")


class Host(Protocol):
    """The engine, as far as the handle needs it."""

    state: State
    shared: dict[type, object]

    def start(self, coroutine: Coroutine[Suspension[Any], Any, None]) -> None:
        """Run something on the engine's own account, while scheduling goes on."""


class PluginHandle:
    """What plugins may ask of the engine: `framework.Handle`."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def rows(self) -> NodeRows:
        """All nodes."""
        return Rows.everything(self._host.state.cache.nodes)

    def row(self, node_name: str) -> NodeRows:
        """One node as a set of rows."""
        table = self._host.state.cache.nodes
        row = table.row_of(node_name)
        return Rows(table, np.array([] if row is None else [row], np.int64), table)

    def node(self, name: str) -> NodeInfo | None:
        """The node of this name."""
        return self._host.state.cache.nodes.by_name(name)

    def find(self, kind: type[A], namespace: str, name: str) -> A | None:
        """The object of this kind and name."""
        return self._host.state.objects.find(kind, namespace, name)

    def all(self, kind: type[A]) -> Collection[A]:
        """All objects of a kind."""
        return self._host.state.objects.all(kind)

    def topology_keys(self, kind: TermKind) -> Collection[str]:
        """The topology keys in terms of a kind that pods on nodes have."""
        return self._host.state.cache.nodes.counts.topology_keys(kind)

    def changed(self, kind: type[ApiObject], since: int) -> tuple[int, Collection[tuple[str, str]] | None]:
        """What has changed of a kind."""
        return self._host.state.objects.changed(kind.kind, since)

    def allow(self, uid: str, plugin: str) -> bool:
        """Let a waiting pod go on."""
        return self._host.state.permits.allow(uid, plugin)

    def reject(self, uid: str, plugin: str, reason: str) -> bool:
        """Refuse a waiting pod."""
        return self._host.state.permits.reject(uid, reason, plugin)

    def waiting(self) -> Sequence[PodInfo]:
        """The pods that wait on Permit."""
        return self._host.state.permits.pods()

    def activate(self, uid: str) -> None:
        """Make a pod active whatever refused it."""
        self._host.state.queue.activate(uid, self._host.state.now)

    def nominated_node(self, uid: str) -> str:
        """The node that a waiting pod was promised."""
        return self._host.state.nominator.node_of(uid)

    def random_below(self, limit: int) -> int:
        """A seeded random number."""
        return int(self._host.state.rng.integers(limit))

    def dry_run(
        self, state: CycleState, pod: PodInfo, rows: NodeRows, evictable: Evictable
    ) -> Sequence[tuple[PodInfo, ...] | Status]:
        """What evicting pods from these nodes would do."""
        if not isinstance(rows, Rows):
            raise TypeError(
                f"dry_run was given {type(rows).__name__}, allowed: rows that the handle or PostFilter has given"
            )
        known = self._host.state
        runtime = known.profiles[pod.spec.scheduler_name]
        outcomes = dry_run(PodFilters(runtime, state, pod, known.promised(pod)), rows, evictable)
        for name, room in eviction.lost_rooms(known, pod).items():
            if (position := rows.position_of(name)) is not None:
                outcomes[position] = eviction.lost(room)
                if not room.told:
                    room.told = True
                    self._host.start(eviction.try_after(known, pod.uid, room.until))
        return outcomes

    def preempt(self, pod: PodInfo, node_name: str, victims: Sequence[PodInfo], plugin: str) -> None:
        """Evict pods, so that this one can have the node."""
        self._host.start(eviction.preempt(self._host.state, pod, node_name, victims, plugin))

    def preempting(self, uid: str) -> bool:
        """Whether evictions for this pod are under way."""
        return self._host.state.preempting(uid)

    def shared(self, kind: type[T]) -> T:
        """One value of a type for all plugins."""
        value = self._host.shared.setdefault(kind, kind())
        if not isinstance(value, kind):
            raise TypeError(f"found {type(value).__name__}, allowed: {kind.__name__}")
        return value

    async def bind_volume(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> Status:
        """Write whose a volume is."""
        return await volume_writes.bind_volume(self._host.state, volume, claim)

    async def select_node(self, claim: PersistentVolumeClaim, node_name: str) -> Status:
        """Write where a claim's volume is wanted."""
        return await volume_writes.select_node(self._host.state, claim, node_name)

    async def until(self, pod: PodInfo, node_name: str, check: Callable[[], Progress], seconds: float) -> Status | None:
        """Wait for others."""
        return await volume_writes.until(self._host.state, pod, node_name, check, seconds)

    async def bind(self, pod: PodInfo, node_name: str, annotations: Mapping[str, str]) -> Status:
        """Write the Binding."""
        return await binding.bind(self._host.state, pod, node_name, annotations)

    async def process_preemption(
        self, pod: PodInfo, candidates: Mapping[str, Victims]
    ) -> Mapping[str, Victims] | Status:
        """Ask the extenders that have a say."""
        return await consulting.process_preemption(self._host.state, pod, candidates)
