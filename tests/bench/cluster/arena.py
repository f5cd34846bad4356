"""One API server with nodes, on which one run after another takes place."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.bench.cluster.api import Api, JsonObject, administrator, events_path, pods_path
from tests.bench.cluster.workloads.bodies import POPULATION, PRIORITY, node, pod
from tests.bench.cluster.workloads.model import Placements, Workload
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import Binaries


class Arena:
    """An API server with so many nodes. Each run has a namespace of its own, which is empty again when it is over."""

    def __init__(self, server: ApiServer, api: Api, nodes: int) -> None:
        self.server = server
        self.api = api
        self.nodes = nodes
        self._runs = 0

    async def furnish(self) -> None:
        """Make the nodes, and what all runs share."""
        priority = {"metadata": {"name": PRIORITY}, "value": 1000}
        await self.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", priority)
        await self.api.post("/api/v1/namespaces", {"metadata": {"name": POPULATION}})
        await self.api.post_all(("/api/v1/nodes", node(number)) for number in range(self.nodes))

    async def prepare(self, workload: Workload) -> str:
        """Put back what is missing of the population; a new namespace for the run."""
        answer = await self.api.get(pods_path(POPULATION), resourceVersion="0")
        there = {found["metadata"]["name"] for found in answer["items"]}
        missing = (made for made in workload.population(self.nodes) if made["metadata"]["name"] not in there)
        await self.api.post_all((pods_path(POPULATION), made) for made in missing)
        self._runs += 1
        namespace = f"run-{self._runs}"
        await self.api.post("/api/v1/namespaces", {"metadata": {"name": namespace}})
        for app in range(workload.services):
            service = {
                "metadata": {"name": f"app-{app}"},
                "spec": {"selector": {"app": f"app-{app}"}, "ports": [{"port": 80}]},
            }
            await self.api.post(f"/api/v1/namespaces/{namespace}/services", service)
        return namespace

    async def placements(self) -> Placements:
        """All nodes, and all pods that are on one."""
        nodes = await self.api.get("/api/v1/nodes", resourceVersion="0")
        pods = await self.api.get("/api/v1/pods", fieldSelector="spec.nodeName!=")
        return Placements({found["metadata"]["name"]: found for found in nodes["items"]}, pods["items"])

    async def clear(self, namespace: str) -> None:
        """The pods and Services of a run go; its Events stay, for nobody reads them any more."""
        await self.api.delete(pods_path(namespace))
        for service in (await self.api.get(f"/api/v1/namespaces/{namespace}/services"))["items"]:
            await self.api.delete(f"/api/v1/namespaces/{namespace}/services/{service['metadata']['name']}")
        while await self.api.count(pods_path(namespace)):
            await asyncio.sleep(0.2)

    async def told(self, namespace: str, count: int) -> None:
        """Wait until so many pods of a run have been told that they fit nowhere, and the Events about it are there too."""
        await self.events(namespace, count)
        while True:
            pods = await self.api.get(pods_path(namespace), fieldSelector="spec.nodeName=", resourceVersion="0")
            if sum(_is_told(pod) for pod in pods["items"]) >= count:
                return
            await asyncio.sleep(1)

    async def events(self, namespace: str, expected: int) -> int:
        """How many Events there are of a run, once as many are there or no more come."""
        return await self.api.settled_count(events_path(namespace), expected)


def _is_told(pod: JsonObject) -> bool:
    return any(condition["type"] == "PodScheduled" for condition in pod["status"].get("conditions", ()))


@asynccontextmanager
async def arena(nodes: int) -> AsyncIterator[Arena]:
    """A fresh one, which is gone afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="berth-bench-") as folder,
        ApiServer(Binaries.locate(), Path(folder)) as server,
    ):
        async with administrator(server) as api:
            made = Arena(server, api, nodes)
            await made.furnish()
            yield made


def measured(workload: Workload, scheduler: str) -> Iterator[JsonObject]:
    """The pods of a run."""
    for number in range(workload.count):
        made = workload.pod(number)
        made["spec"]["schedulerName"] = scheduler
        yield made


def unschedulable(count: int, scheduler: str) -> Iterator[JsonObject]:
    """Pods that no node is large enough for."""
    for number in range(count):
        made = pod(number, cpu=100_000)
        made["metadata"]["name"] = f"huge-{number:05d}"
        made["spec"]["schedulerName"] = scheduler
        yield made
