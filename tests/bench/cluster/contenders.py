"""Who is measured: kube-scheduler, berth, and the API server's own ceiling."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Protocol

from tests.apiserver.stage import Berth
from tests.bench.cluster.api import Request, events_path, pods_path
from tests.bench.cluster.arena import Arena
from tests.bench.cluster.workloads.model import Workload
from tests.controlplane.binaries import pinned_version
from tests.controlplane.components import kube_scheduler
from tests.controlplane.process import Process


class Starter(Protocol):
    """Starts a contender for a run in a namespace; None instead of a process for one that is none."""

    def __call__(
        self, arena: Arena, workload: Workload, namespace: str
    ) -> AbstractAsyncContextManager[Process | None]: ...


@dataclass(frozen=True)
class Contender:
    """`scheduler` is the schedulerName of its pods, `about` says which version it is and how it is set up."""

    name: str
    scheduler: str
    start: Starter
    about: str
    is_scheduler: bool = True


@asynccontextmanager
async def _kube_scheduler(arena: Arena, workload: Workload, namespace: str) -> AsyncIterator[Process | None]:
    with kube_scheduler(arena.server) as process:
        yield process


@asynccontextmanager
async def _berth(arena: Arena, workload: Workload, namespace: str) -> AsyncIterator[Process | None]:
    kubeconfig = arena.server.kubeconfig(arena.server.folder / "berth.kubeconfig")
    with Berth(kubeconfig, arena.server.folder, "berth") as process:
        yield process


@asynccontextmanager
async def _ceiling(arena: Arena, workload: Workload, namespace: str) -> AsyncIterator[Process | None]:
    async with asyncio.TaskGroup() as group:
        group.create_task(arena.api.post_all(_outcomes(workload.count, arena.nodes, namespace)))
        yield None


def _outcomes(pods: int, nodes: int, namespace: str) -> Iterator[Request]:
    """What a scheduler writes about the pods, with nodes taken in turn: for each a Binding and then an Event."""
    for number in range(pods):
        name = f"pod-{number:05d}"
        target = {"apiVersion": "v1", "kind": "Node", "name": f"node-{number % nodes:05d}"}
        yield f"{pods_path(namespace)}/{name}/binding", {"metadata": {"name": name}, "target": target}
        event = {
            "metadata": {"name": f"{name}.ceiling"},
            "type": "Normal",
            "reason": "Scheduled",
            "action": "Binding",
            "note": f"Successfully assigned {namespace}/{name} to {target['name']}",
            "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": name},
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "reportingController": "ceiling",
            "reportingInstance": "ceiling-0",
        }
        yield events_path(namespace), event


CEILING = Contender(
    "ceiling", "nobody", _ceiling, "Bindings and Events in JSON over 32 connections, nodes taken in turn", False
)
KUBE_SCHEDULER = Contender(
    "kube-scheduler",
    "default-scheduler",
    _kube_scheduler,
    f"{pinned_version()}, default profile, clientConnection qps 5000 burst 10000 (in effect no limit), no leader election",
)
BERTH = Contender("berth", "berth", _berth, f"{version('berth')}, default profile, no leader election")
CONTENDERS = {contender.name: contender for contender in (CEILING, KUBE_SCHEDULER, BERTH)}
