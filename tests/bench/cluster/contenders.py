"""Who is measured: kube-scheduler, berth, and the API server's own ceiling."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp

from tests.apiserver.stage import Berth
from tests.bench.cluster.load import outcomes, post_all
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.components import kube_scheduler
from tests.controlplane.process import Process

Running = AbstractAsyncContextManager[Process | None]
Contender = Callable[[ApiServer, aiohttp.ClientSession, int, int], Running]


@asynccontextmanager
async def run_kube_scheduler(
    server: ApiServer, _session: aiohttp.ClientSession, _nodes: int, _pods: int
) -> AsyncIterator[Process | None]:
    with kube_scheduler(server) as process:
        yield process


@asynccontextmanager
async def run_berth(
    server: ApiServer, _session: aiohttp.ClientSession, _nodes: int, _pods: int
) -> AsyncIterator[Process | None]:
    kubeconfig = server.kubeconfig(server.folder / "berth.kubeconfig")
    with Berth(kubeconfig, server.folder, "berth") as process:
        yield process


@asynccontextmanager
async def run_ceiling(
    _server: ApiServer, session: aiohttp.ClientSession, nodes: int, pods: int
) -> AsyncIterator[Process | None]:
    """Bindings and Events without deciding: what the API server would take from a scheduler that costs nothing."""
    async with asyncio.TaskGroup() as group:
        group.create_task(post_all(session, outcomes(pods, nodes)))
        yield None


CONTENDERS: dict[str, tuple[Contender, str]] = {
    "ceiling": (run_ceiling, "nobody"),
    "kube-scheduler": (run_kube_scheduler, "default-scheduler"),
    "berth": (run_berth, "berth"),
}
