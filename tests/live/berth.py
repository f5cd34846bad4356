"""A whole scheduler in a test's event loop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp

from plugins.registry import BUILT_IN
from scheduler.config import Extender, LeaderElection, default
from scheduler.framework import Plugin
from scheduler.live.credentials import Credentials
from scheduler.live.parts import Options, Parts
from scheduler.live.process import SchedulerProcess
from scheduler.live.server import Address
from tests.controlplane.ports import free_port

QUICK = LeaderElection(True, 3.0, 2.0, 0.2, "berth", "default")


class Berth:
    """A scheduler in this event loop."""

    def __init__(self, parts: Parts, port: int) -> None:
        self.parts = parts
        self.url = f"http://127.0.0.1:{port}"
        self.stop = asyncio.Event()
        self.status = asyncio.ensure_future(SchedulerProcess(parts).run(self.stop))

    async def end(self) -> int:
        self.stop.set()
        return await self.status

    async def get(self, path: str) -> tuple[int, str]:
        async with aiohttp.ClientSession(self.url) as session, session.get(path) as response:
            return response.status, await response.text()

    @property
    def leads(self) -> bool:
        return self.parts.leadership.valid() and self.parts.engine.ready


Start = Callable[..., Berth]


@asynccontextmanager
async def starter(kubeconfig: Path) -> AsyncIterator[Start]:
    """Starts schedulers on one cluster, which end with the context."""
    running: list[Berth] = []

    def make(
        election: LeaderElection = QUICK,
        namespace: str = "",
        plugins: dict[str, type[Plugin]] | None = None,
        extenders: Sequence[Extender] = (),
        file: Path | None = None,
    ) -> Berth:
        registry = {**BUILT_IN, **(plugins or {})}
        configuration = replace(default(registry), leader_election=election, extenders=extenders)
        port = free_port()
        options = Options(
            configuration,
            registry,
            namespace,
            Address("127.0.0.1", port),
            0,
            look_again=0.2,
            path=file,
            look_again_at_file=0.05,
        )
        running.append(Berth(Parts(options, Credentials(str(kubeconfig), None)), port))
        return running[-1]

    try:
        yield make
    finally:
        for berth in running:
            await berth.end()
