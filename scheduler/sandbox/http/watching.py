"""A watch as a stream of JSON lines: what is there, what happens, bookmarks, until the time is over or the client goes."""

import asyncio

import msgspec
from aiohttp import web

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.http.bodies import JSON
from scheduler.sandbox.http.presenting import Presenter
from scheduler.sandbox.http.requests import is_true, timeout_seconds
from scheduler.sandbox.listing import ListOptions
from scheduler.sandbox.watch import Subscription, WatchEvent

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
DEFAULT_TIMEOUT_SECONDS = 1800  # the server draws between this and twice as much
BOOKMARK_SECONDS = 60.0


class Streams:
    """The open watches of a server, so that it can end them when it closes."""

    def __init__(self) -> None:
        self.closing = False
        self.wakers: set[asyncio.Event] = set()

    def close(self) -> None:
        """Let every stream end in good order."""
        self.closing = True
        for waker in self.wakers:
            waker.set()


STREAMS = web.AppKey("streams", Streams)


async def stream_watch(
    request: web.Request, cluster: Cluster, presenter: Presenter, options: ListOptions
) -> web.StreamResponse:
    """Serve one watch request. Raises ApiError for bad options, before anything is sent."""
    changed = asyncio.Event()
    initial, subscription = cluster.open_watch(presenter.resource, options, changed.set)
    stream = WatchStream(request, cluster, presenter, subscription, changed)
    wakers = request.app[STREAMS].wakers
    wakers.add(changed)
    try:
        return await stream.run(initial)
    finally:
        wakers.discard(changed)
        subscription.close()


class WatchStream:
    """One open watch."""

    def __init__(
        self,
        request: web.Request,
        cluster: Cluster,
        presenter: Presenter,
        subscription: Subscription,
        changed: asyncio.Event,
    ) -> None:
        self._request = request
        self._cluster = cluster
        self._presenter = presenter
        self._subscription = subscription
        self._changed = changed
        self._bookmarks = is_true(request.query, "allowWatchBookmarks")
        self._response = web.StreamResponse(headers={"Content-Type": JSON})
        self._sent_any = False

    async def run(self, initial: list[WatchEvent]) -> web.StreamResponse:
        """Send until the time is over, the watch has failed or the server closes."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout_seconds(self._request.query, DEFAULT_TIMEOUT_SECONDS)
        streams = self._request.app[STREAMS]
        await self._response.prepare(self._request)
        await self._send(initial)
        if is_true(self._request.query, "sendInitialEvents"):
            await self._send([self._bookmark({INITIAL_EVENTS_END: "true"})])
        while not self._subscription.failed and not streams.closing:
            self._changed.clear()
            await self._send(self._subscription.drain())
            left = end - loop.time()
            if left <= 0 or self._subscription.failed:
                break
            if not await self._wait(min(left, BOOKMARK_SECONDS)) and self._bookmarks:
                await self._send([*self._subscription.drain(), self._bookmark({})])
        await self._response.write_eof()
        return self._response

    async def _wait(self, seconds: float) -> bool:
        """Whether something changed, or the server began to close, within this time."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _bookmark(self, annotations: dict[str, str]) -> WatchEvent:
        return self._cluster.bookmark(self._presenter.resource, self._subscription, annotations)

    async def _send(self, events: list[WatchEvent]) -> None:
        if not events:
            return
        lines = bytearray()
        for event in events:
            lines += msgspec.json.encode(self._presenter.event(event, with_columns=not self._sent_any))
            lines += b"\n"
            self._sent_any = True
        await self._response.write(bytes(lines))
