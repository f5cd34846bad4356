"""The harness's way to the API server: cheap, for it shares the machine with what is measured."""

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.controlplane.apiserver import ApiServer

JsonObject = dict[str, Any]
Request = tuple[str, JsonObject]  # path and body of a POST

CONNECTIONS = 32
_QUIET_SECONDS = 5.0
_NAME = re.compile(rb'"name":"([^"]+)"')


def pods_path(namespace: str) -> str:
    """Where the pods of a namespace are."""
    return f"/api/v1/namespaces/{namespace}/pods"


def events_path(namespace: str) -> str:
    """Where the Events of a namespace are."""
    return f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"


class Api:
    """A session of the administrator."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session

    async def get(self, path: str, **parameters: str) -> JsonObject:
        """A GET; raises for anything but success."""
        async with self.session.get(path, params=parameters, raise_for_status=True) as response:
            answer: JsonObject = await response.json()
            return answer

    async def post(self, path: str, body: JsonObject) -> None:
        """A POST; raises for anything but success."""
        async with self.session.post(path, json=body) as response:
            if response.status >= 300:
                raise RuntimeError(f"POST {path}: HTTP {response.status}: {(await response.text())[:500]}")
            await response.read()

    async def delete(self, path: str, **parameters: str) -> None:
        """A DELETE at once, of an object or of a collection; what is gone already does not matter."""
        async with self.session.delete(path, params=parameters, json={"gracePeriodSeconds": 0}) as response:
            if response.status >= 300 and response.status != 404:
                raise RuntimeError(f"DELETE {path}: HTTP {response.status}: {(await response.text())[:500]}")
            await response.read()

    async def post_all(self, requests: Iterable[Request]) -> None:
        """Send many POSTs over a few connections; the first refusal ends it."""
        pending = iter(requests)

        async def worker() -> None:
            for path, body in pending:
                await self.post(path, body)

        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(worker())

    async def count(self, path: str) -> int:
        """How many objects there are."""
        answer = await self.get(path, limit="1")
        return len(answer["items"]) + int(answer["metadata"].get("remainingItemCount", 0))

    async def settled_count(self, path: str, expected: int) -> int:
        """Wait until there are so many objects, or until no more come; how many there are."""
        last, since = 0, time.monotonic()
        while last < expected and time.monotonic() - since < _QUIET_SECONDS:
            await asyncio.sleep(0.1)
            count = await self.count(path)
            if count > last:
                last, since = count, time.monotonic()
        return last

    @asynccontextmanager
    async def bound(self, namespace: str) -> AsyncIterator[AsyncIterator[str]]:
        """The name of each pod of a namespace that gets a node from now on.

        Lines are searched, not decoded.
        """
        path, selector = pods_path(namespace), "spec.nodeName!="
        version = (await self.get(path, limit="1"))["metadata"]["resourceVersion"]
        parameters = {"fieldSelector": selector, "watch": "true", "resourceVersion": version}
        async with self.session.get(path, params=parameters, raise_for_status=True, read_bufsize=2**20) as response:
            yield _names_added(response.content)


async def _names_added(lines: aiohttp.StreamReader) -> AsyncIterator[str]:
    async for line in lines:
        # Of a watch for pods with a node: a pod that has just got one.
        if line.startswith(b'{"type":"ADDED"') and (found := _NAME.search(line)):
            yield found[1].decode()


@asynccontextmanager
async def administrator(server: ApiServer) -> AsyncIterator[Api]:
    """An open session."""
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=str(server.ca_file)), limit=0)
    headers = {"Authorization": f"Bearer {server.token}"}
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(server.url, connector=connector, headers=headers, timeout=timeout) as session:
        yield Api(session)
