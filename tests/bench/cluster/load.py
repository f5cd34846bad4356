"""What a run schedules, and how it gets to the API server and is seen to be bound."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager

import aiohttp

from tests.controlplane.apiserver import ApiServer

CONNECTIONS = 32
QUIET_SECONDS = 5.0
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
PODS = "/api/v1/namespaces/default/pods"
ADDED = b'{"type":"ADDED"'  # of a watch for pods with a node: a pod that has just got one
Request = tuple[str, dict[str, object]]  # path and body of a POST


def nodes(count: int) -> Iterator[Request]:
    """Nodes of the size that kube-scheduler's own benchmark uses (scheduler_perf, node-default.yaml)."""
    for number in range(count):
        name = f"node-{number:05d}"
        labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % 3}"}
        room = {"cpu": "4", "memory": "32Gi", "pods": "110"}
        status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
        yield "/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": status}


def plain_pods(count: int, scheduler: str) -> Iterator[Request]:
    """Pods that ask for room and nothing else, in five sizes."""
    for number in range(count):
        size = number % 5 + 1
        requests = {"cpu": f"{50 * size}m", "memory": f"{100 * size}Mi"}
        container = {"name": "pause", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}
        metadata = {"name": f"pod-{number:05d}", "labels": {"app": f"app-{size}"}}
        yield (
            "/api/v1/namespaces/default/pods",
            {
                "metadata": metadata,
                "spec": {"schedulerName": scheduler, "containers": [container]},
            },
        )


def outcomes(pod_count: int, node_count: int) -> Iterator[Request]:
    """What a scheduler writes about those pods, with nodes taken in turn: for each a Binding and then an Event."""
    for number in range(pod_count):
        name = f"pod-{number:05d}"
        target = {"apiVersion": "v1", "kind": "Node", "name": f"node-{number % node_count:05d}"}
        yield f"{PODS}/{name}/binding", {"metadata": {"name": name}, "target": target}
        yield (
            "/apis/events.k8s.io/v1/namespaces/default/events",
            {
                "metadata": {"name": f"{name}.ceiling"},
                "type": "Normal",
                "reason": "Scheduled",
                "action": "Binding",
                "note": f"Successfully assigned default/{name} to {target['name']}",
                "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": name},
                "eventTime": "2026-01-01T00:00:00.000000Z",
                "reportingController": "ceiling",
                "reportingInstance": "ceiling-0",
            },
        )


@asynccontextmanager
async def administrator(server: ApiServer) -> AsyncIterator[aiohttp.ClientSession]:
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=str(server.ca_file)), limit=0)
    headers = {"Authorization": f"Bearer {server.token}"}
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(server.url, connector=connector, headers=headers, timeout=timeout) as session:
        yield session


async def post_all(session: aiohttp.ClientSession, requests: Iterable[Request]) -> None:
    """Send them over a few connections; the first refusal ends it."""
    pending = iter(requests)

    async def worker() -> None:
        for path, body in pending:
            async with session.post(path, json=body, raise_for_status=True) as response:
                await response.read()

    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(worker())


@asynccontextmanager
async def bound_pods(session: aiohttp.ClientSession) -> AsyncIterator[AsyncIterator[int]]:
    """The number of pods bound so far, at each Binding from now on.

    Lines are counted, not decoded: this shares the machine with what it measures.
    """
    parameters = {"fieldSelector": "spec.nodeName!=", "watch": "true", "resourceVersion": "0"}
    async with session.get("/api/v1/pods", params=parameters, raise_for_status=True, read_bufsize=2**20) as response:
        yield _counted(response.content)


async def _counted(lines: aiohttp.StreamReader) -> AsyncIterator[int]:
    count = 0
    async for line in lines:
        if line.startswith(ADDED):
            count += 1
            yield count


async def events_written(session: aiohttp.ClientSession, expected: int) -> int:
    """Wait for one Event a pod, or until no more come; how many there are."""
    last, since = 0, time.monotonic()
    while last < expected and time.monotonic() - since < QUIET_SECONDS:
        await asyncio.sleep(0.1)
        async with session.get(EVENTS, params={"limit": "1"}, raise_for_status=True) as response:
            answer = await response.json()
        count = len(answer["items"]) + answer["metadata"].get("remainingItemCount", 0)
        if count > last:
            last, since = count, time.monotonic()
    return last
