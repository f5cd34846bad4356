"""The client of the stories: makes requests, keeps what came back, normalized."""

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import msgspec

from scheduler.sandbox.fields import Json, JsonObject
from tests.conformance.normal import Normalizer

DEADLINE_SECONDS = 20.0


@dataclass(frozen=True)
class Server:
    """Where a server is and how to be let in."""

    url: str
    token: str = ""
    ca_file: Path | None = None


@dataclass(frozen=True)
class Answer:
    """Status code and body of one answer, as they came."""

    code: int
    body: JsonObject

    def at(self, *path: str) -> str:
        """The string at a path of the body."""
        found: Json = self.body
        for part in path:
            assert isinstance(found, dict)
            found = found[part]
        assert isinstance(found, str)
        return found


class Teller:
    """Makes a story's requests. Names of objects of the cluster go through `own`, so that runs do not meet."""

    def __init__(self, session: aiohttp.ClientSession, namespace: str, suffix: str) -> None:
        self.namespace = namespace
        self.told: list[Json] = []
        self._session = session
        self._suffix = suffix
        self._normal = Normalizer(suffix)

    def own(self, name: str) -> str:
        """A name of this run's own; it appears without its suffix in what is told."""
        return name + self._suffix

    def path(self, resource: str) -> str:
        """`pods` or `leases.coordination.k8s.io` in the story's namespace, as a URL path; a name may follow: `pods/p`."""
        plural, slash, rest = resource.partition("/")
        plural, _, group = plural.partition(".")
        root = f"/apis/{group}/v1" if group else "/api/v1"
        return f"{root}/namespaces/{self.namespace}/{plural}{slash}{rest}"

    async def ask(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        content_type: str = "application/json",
        params: Mapping[str, str] | None = None,
        accept: str = "application/json",
        silent: bool = False,
    ) -> Answer:
        """One request; `silent` leaves it out of what is told (preparations, cleaning up)."""
        url = path if path.startswith("/") else self.path(path)
        headers = {"Content-Type": content_type, "Accept": accept}
        data = None if body is None else msgspec.json.encode(body)
        async with self._session.request(method, url, data=data, headers=headers, params=params) as response:
            if response.content_type == "application/json":
                answered: JsonObject = msgspec.json.decode(await response.read())
            else:
                answered = {"text": await response.text()}
            answer = Answer(response.status, answered)
        if not silent:
            shown = self._normal(f"{method} {url}")
            self.told.append({"request": shown, "code": answer.code, "body": self._normal(answer.body)})
        return answer

    async def create(self, resource: str, body: JsonObject) -> Answer:
        return await self.ask("POST", resource, body)

    async def get(self, resource: str, **params: str) -> Answer:
        return await self.ask("GET", resource, params=params)

    async def put(self, resource: str, body: JsonObject) -> Answer:
        return await self.ask("PUT", resource, body)

    async def merge(self, resource: str, body: JsonObject) -> Answer:
        return await self.ask("PATCH", resource, body, content_type="application/merge-patch+json")

    async def strategic(self, resource: str, body: JsonObject) -> Answer:
        return await self.ask("PATCH", resource, body, content_type="application/strategic-merge-patch+json")

    async def delete(self, resource: str, body: JsonObject | None = None) -> Answer:
        return await self.ask("DELETE", resource, body)

    @asynccontextmanager
    async def watch(self, resource: str, version: str = "", accept: str = "", **params: str) -> AsyncIterator["Watch"]:
        """A watch that is open while the story does something else."""
        path = resource if resource.startswith("/") else self.path(resource)
        query = {"watch": "1", **({"resourceVersion": version} if version else {}), **params}
        headers = {"Accept": accept or "application/json"}
        async with self._session.get(path, params=query, headers=headers) as response:
            yield Watch(response, self, self._normal)


class Watch:
    """An open watch."""

    def __init__(self, response: aiohttp.ClientResponse, teller: Teller, normal: Normalizer) -> None:
        self._response = response
        self._teller = teller
        self._normal = normal

    async def events(self, count: int) -> list[JsonObject]:
        """The next so many events. Raises TimeoutError if they do not come."""
        events: list[JsonObject] = []
        async with asyncio.timeout(DEADLINE_SECONDS):
            while len(events) < count and (line := await self._response.content.readline()):
                events.append(msgspec.json.decode(line))
        for event in events:
            self._teller.told.append({"watch": self._normal(event)})
        return events

    async def ends(self) -> None:
        """Nothing more comes, and the server closes."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            rest = await self._response.content.read()
        assert rest == b"", rest


@asynccontextmanager
async def teller_for(server: Server) -> AsyncIterator[Teller]:
    """A teller with a namespace of its own on a server."""
    suffix = f"-{secrets.token_hex(4)}"
    namespace = f"conform{suffix}"
    headers = {"Authorization": f"Bearer {server.token}"} if server.token else {}
    context = ssl.create_default_context(cafile=str(server.ca_file)) if server.ca_file else None
    connector = aiohttp.TCPConnector(ssl=context) if context else aiohttp.TCPConnector()
    async with aiohttp.ClientSession(server.url, headers=headers, connector=connector) as session:
        teller = Teller(session, namespace, suffix)
        await teller.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}}, silent=True)
        try:
            yield teller
        finally:
            await teller.ask("DELETE", "pods", {"gracePeriodSeconds": 0}, silent=True)
            await teller.ask("DELETE", f"/api/v1/namespaces/{namespace}", silent=True)
