"""Keeps up with one kind: lists it in pages, watches from there, and starts over when the server has forgotten the place.

Only versions of lists, bookmarks and events are used to resume. A list is handed over as a difference by UID, so that what
vanished while nobody watched is reported as gone.
"""

import asyncio
import gc
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeAlias, TypeVar
from urllib.parse import urlencode

import msgspec

from scheduler.api import ApiObject, Kind
from scheduler.framework import Node, PodInfo
from scheduler.live.client import Transport
from scheduler.live.errors import NoAnswerError, RefusedError
from scheduler.messages import Fact, KindStale, KindSynced
from scheduler.objects import ApiStatus, WatchEvent
from scheduler.objects.stream import decode_status

PAGE = 500

T = TypeVar("T")


class Decoder(Protocol[T]):
    """Decodes a kind's JSON."""

    def decode_list(self, page: bytes) -> tuple[list[T], str, str]:
        """Objects, version, token for the next page."""

    def decode_event(self, line: bytes) -> WatchEvent[T]:
        """A line of a watch."""


@dataclass(frozen=True, slots=True)
class Source(Generic[T]):
    """What to follow, and what to make of it."""

    kind: Kind
    path: str
    field_selector: str
    decoder: Decoder[T]
    uid: Callable[[T], str]
    name: Callable[[T], str]
    seen: Callable[[T], Fact]
    gone: Callable[[str, str], Fact]


@dataclass(frozen=True, slots=True)
class Patience:
    """Times in seconds. Bookmarks come about once a minute, so a longer silence means that nobody is there."""

    watch_timeout: float = 300.0
    silence: float = 90.0
    call_timeout: float = 60.0
    first_backoff: float = 0.8
    longest_backoff: float = 30.0
    between_lists: float = 1.0
    shortest_watch: float = 1.0


AnyReflector: TypeAlias = "Reflector[PodInfo] | Reflector[Node] | Reflector[ApiObject]"


class ExpiredError(Exception):
    """The server does not know the version to resume from any more (410, in whatever shape)."""


class Reflector(Generic[T]):
    """Follows one kind for as long as `run` runs; `deliver` is called with facts, in order."""

    def __init__(
        self, source: Source[T], transport: Transport, patience: Patience, deliver: Callable[[Sequence[Fact]], None]
    ) -> None:
        self.source = source
        self.problem: str | None = "not listed yet"
        self.last_heard = 0.0
        self.lists = 0
        self._transport = transport
        self._patience = patience
        self._deliver = deliver
        self._known: dict[str, str] = {}
        self._version = ""
        self._failures = 0
        self._last_list = float("-inf")
        self._relist = asyncio.Event()

    def relist(self) -> None:
        """List afresh now: what is known may be out of date."""
        self._relist.set()

    async def run(self) -> None:
        """List and watch until cancelled; every failure is waited out."""
        while True:
            try:
                while not self._version or self._relist.is_set():
                    await self._list()
                await self._watch_until_relist()
            except ExpiredError as error:
                self._version = ""
                await self._wait_after(str(error), None)
            except RefusedError as error:
                if error.status.code == 410:
                    self._version = ""
                await self._wait_after(self._told(error), error.retry_after)
            except NoAnswerError as error:
                await self._wait_after(str(error), None)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                # A line that is no event: what it said is lost, so the difference has to come from a list.
                self._version = ""
                await self._wait_after(f"{self.source.kind}: unreadable watch event: {error}", None)

    async def _list(self) -> None:
        """All pages, then the difference to what is known."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._last_list + self._patience.between_lists - loop.time()))
        self._last_list = loop.time()
        self._relist.clear()
        first = self.lists == 0
        self._deliver([KindStale(self.source.kind)])
        if first:
            # The cyclic collector would walk everything decoded so far again and again, to find nothing.
            gc.disable()
        try:
            version = await self._pages()
        finally:
            if first:
                gc.enable()
        if first:
            gc.collect()
            gc.freeze()
        self.lists += 1
        self._failures = 0
        self._version = version
        self.problem = None
        self._heard()
        if not self._relist.is_set():
            # A fresh list that was asked for while this one was made must not be taken for granted.
            self._deliver([KindSynced(self.source.kind)])

    async def _pages(self) -> str:
        token, fresh = "", set[str]()
        while True:
            query = {"limit": str(PAGE), "continue": token, "fieldSelector": self.source.field_selector}
            path = f"{self.source.path}?{urlencode({k: v for k, v in query.items() if v})}"
            response = await self._transport.call("GET", path, limit=self._patience.call_timeout)
            if response.status != 200:
                status = decode_status(response.body)
                raise RefusedError(ApiStatus(response.status, status.reason, status.message), response.retry_after)
            objects, version, token = self.source.decoder.decode_list(response.body)
            fresh.update(self.source.uid(obj) for obj in objects)
            self._hand_over(objects)
            self._heard()
            if not token:
                break
        vanished = [(uid, name) for uid, name in self._known.items() if uid not in fresh]
        for uid, _ in vanished:
            del self._known[uid]
        self._deliver([self.source.gone(uid, name) for uid, name in vanished])
        return version

    async def _watch_until_relist(self) -> None:
        """One stream, to its end or until a fresh list is asked for."""
        began = asyncio.get_running_loop().time()
        watch = asyncio.create_task(self._watch())
        relist = asyncio.create_task(self._relist.wait())
        try:
            await asyncio.wait({watch, relist}, return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                watch.result()
        finally:
            for task in (watch, relist):
                task.cancel()
            await asyncio.gather(watch, relist, return_exceptions=True)
        if self._relist.is_set():
            return
        if asyncio.get_running_loop().time() - began < self._patience.shortest_watch:
            raise NoAnswerError(f"{self.source.kind}: the server ends watches at once", sent=True)
        self._failures = 0

    async def _watch(self) -> None:
        """One stream, to its end."""
        seconds = self._patience.watch_timeout * random.uniform(1.0, 2.0)  # noqa: S311  spreads reconnects, no secret
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(max(1, int(seconds))),
        }
        if self.source.field_selector:
            query["fieldSelector"] = self.source.field_selector
        path = f"{self.source.path}?{urlencode(query)}"
        async with self._transport.stream(path, read_timeout=self._patience.silence) as pieces:
            self.problem = None
            rest = b""
            async for piece in pieces:
                self._heard()
                # What is cut off at the end of the stream is not used.
                *lines, rest = (rest + piece).split(b"\n")
                self._take(lines)

    def _take(self, lines: list[bytes]) -> None:
        facts: list[Fact] = []
        try:
            for line in lines:
                if line:
                    self._take_event(self.source.decoder.decode_event(line), facts)
        finally:
            # What came before a broken line is good and has moved the version on.
            if facts:
                self._deliver(facts)

    def _take_event(self, event: WatchEvent[T], facts: list[Fact]) -> None:
        if event.status is not None:
            if event.status.code == 410 or event.status.reason in ("Expired", "Gone"):
                raise ExpiredError(f"{self.source.kind}: {event.status.message}")
            raise RefusedError(event.status)
        if event.object is not None:
            uid, name = self.source.uid(event.object), self.source.name(event.object)
            if event.type == "DELETED":
                self._known.pop(uid, None)
                facts.append(self.source.gone(uid, name))
            else:
                self._known[uid] = name
                facts.append(self.source.seen(event.object))
        self._version = event.resource_version or self._version

    def _hand_over(self, objects: list[T]) -> None:
        for obj in objects:
            self._known[self.source.uid(obj)] = self.source.name(obj)
        self._deliver([self.source.seen(obj) for obj in objects])

    def _heard(self) -> None:
        self.last_heard = asyncio.get_running_loop().time()

    def _told(self, error: RefusedError) -> str:
        if error.status.code == 403:
            return f"not allowed to list and watch {self.source.path}: {error.status.message}"
        return f"{self.source.kind}: {error}"

    async def _wait_after(self, problem: str, retry_after: float | None) -> None:
        self.problem = problem
        wait = min(self._patience.longest_backoff, self._patience.first_backoff * 2.0 ** min(self._failures, 16))
        self._failures += 1
        await asyncio.sleep(max(wait * random.uniform(0.5, 1.0), retry_after or 0.0))  # noqa: S311  jitter
