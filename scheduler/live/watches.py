"""What is followed, which may change while it is: the reflectors, one a kind."""

import asyncio
from collections.abc import Callable, Sequence

from scheduler.api import Kind
from scheduler.live import sources
from scheduler.live.client import Transport
from scheduler.live.reflector import AnyReflector, Patience, Reflector
from scheduler.messages import Fact
from scheduler.objects import Manifests, NodeDecoder, PodDecoder


class Watches:
    """Runs the reflectors of the kinds it was told to follow; `deliver` is given what they observe."""

    def __init__(
        self, transport: Transport, pods: PodDecoder, nodes: NodeDecoder, deliver: Callable[[Sequence[Fact]], None]
    ) -> None:
        self._transport = transport
        self._pods = pods
        self._nodes = nodes
        self._deliver = deliver
        self._reflectors: dict[Kind, AnyReflector] = {}
        self._changed = asyncio.Event()
        self._running = False

    @property
    def reflectors(self) -> Sequence[AnyReflector]:
        """Those of the kinds that are followed now, pods first."""
        return tuple(self._reflectors.values())

    def follow(self, kinds: frozenset[Kind], manifests: Manifests) -> None:
        """Follow these kinds and no others. If other objects than before are wanted whole, they are listed again."""
        if manifests != self._pods.manifests:
            self._pods.manifests = self._nodes.manifests = manifests
            self.relist()
        beside = sorted(kinds - {Kind.POD, Kind.NODE})
        self._reflectors = {
            kind: self._reflectors.get(kind) or self._make(kind) for kind in (Kind.POD, Kind.NODE, *beside)
        }
        self._changed.set()

    def relist(self) -> None:
        """List afresh whatever has been listed: it may be out of date."""
        if self._running:
            for reflector in self._reflectors.values():
                reflector.relist()

    async def run(self) -> None:
        """Follow until cancelled."""
        self._running = True
        running: dict[AnyReflector, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                self._changed.clear()
                wanted = set(self._reflectors.values())
                for reflector in running.keys() - wanted:
                    running.pop(reflector).cancel()
                for reflector in self.reflectors:
                    if reflector not in running:
                        running[reflector] = group.create_task(reflector.run())
                await self._changed.wait()

    def _make(self, kind: Kind) -> AnyReflector:
        match kind:
            case Kind.POD:
                return Reflector(sources.pods(self._pods), self._transport, Patience(), self._deliver)
            case Kind.NODE:
                return Reflector(sources.nodes(self._nodes), self._transport, Patience(), self._deliver)
            case _:
                return Reflector(sources.others(kind), self._transport, Patience(), self._deliver)
