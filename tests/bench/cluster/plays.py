"""How pods come to a contender that is ready."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.bench.cluster.api import CONNECTIONS, Api, JsonObject, pods_path
from tests.bench.cluster.log import Log
from tests.bench.cluster.workloads.bodies import POPULATION
from tests.bench.cluster.workloads.model import Arrive, Backlog, Churn, Rolling, Workload

_LOOK_EVERY = 0.01


@dataclass(frozen=True)
class Stage:
    """Where a run takes place, and where it is taken down."""

    api: Api
    namespace: str
    log: Log

    async def create(self, pod: JsonObject) -> None:
        """A pod comes."""
        await self.api.post(pods_path(self.namespace), pod)
        self.log.made[pod["metadata"]["name"]] = time.monotonic()

    async def create_all(self, pods: Iterable[JsonObject]) -> None:
        """Pods come as fast as the API server takes them."""
        pending = iter(pods)

        async def worker() -> None:
            for pod in pending:
                await self.create(pod)

        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(worker())

    async def create_at(self, per_second: int, pods: Iterable[JsonObject]) -> None:
        """Pods come at a steady rate."""
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for number, pod in enumerate(pods):
                await asyncio.sleep(max(0.0, began + number / per_second - time.monotonic()))
                group.create_task(self.create(pod))


async def play(stage: Stage, workload: Workload, pods: Iterator[JsonObject]) -> None:
    """Let the pods of a workload come, and whatever else belongs to it happen; returns when all were bound."""
    match workload.play:
        case Arrive(per_second=per_second):
            await (stage.create_at(per_second, pods) if per_second else stage.create_all(pods))
        case Churn(alive=alive):
            async with asyncio.TaskGroup() as group:
                group.create_task(stage.create_all(pods))
                group.create_task(_finish(stage, workload.count, alive))
        case Rolling(deployments=deployments, surge=surge):
            await _roll(stage, list(pods), deployments, surge)
        case Backlog():
            pass
    await stage.log.pods(workload.count)


async def _finish(stage: Stage, count: int, alive: int) -> None:
    """The oldest pods finish once there are more than so many."""
    gone = 0
    async with asyncio.TaskGroup() as group:
        while gone < count - alive:
            await asyncio.sleep(_LOOK_EVERY)
            for name in stage.log.order[gone : max(gone, len(stage.log.order) - alive)]:
                group.create_task(stage.api.delete(f"{pods_path(stage.namespace)}/{name}"))
                gone += 1


async def _roll(stage: Stage, pods: list[JsonObject], deployments: int, surge: int) -> None:
    """Each Deployment replaces its pods, so many at a time."""

    async def worker(numbers: Iterator[int]) -> None:
        for number in numbers:
            await stage.create(pods[number])
            await stage.log.pod(pods[number]["metadata"]["name"])
            await stage.api.delete(f"{pods_path(POPULATION)}/old-{number:06d}")

    async with asyncio.TaskGroup() as group:
        for deployment in range(deployments):
            numbers = iter(range(deployment, len(pods), deployments))
            for _ in range(surge):
                group.create_task(worker(numbers))
