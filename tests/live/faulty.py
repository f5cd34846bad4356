"""The in-memory API over HTTP with faults between: the requests that a test picks go wrong as it says."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec
from aiohttp import web

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.fields import JsonObject
from scheduler.sandbox.http.app import make_app

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Fault = Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]


@dataclass
class Rule:
    """Requests of this method whose path contains the text, as often as `times`."""

    method: str
    path: str
    fault: Fault
    times: int


@dataclass
class FaultyApi:
    """What a test has at hand: the cluster behind the server, what was asked of it, and what is to go wrong."""

    cluster: Cluster = field(default_factory=lambda: Cluster(lambda: datetime.now(UTC)))
    requests: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""
    _rules: list[Rule] = field(default_factory=list)

    def fault(self, method: str, path: str, fault: Fault, times: int = 1_000_000) -> None:
        """Let the next `times` requests of this method, with this text in their path, go wrong."""
        self._rules.append(Rule(method, path, fault, times))

    def heal(self) -> None:
        self._rules.clear()

    def count(self, method: str, path: str) -> int:
        """How many such requests have come in."""
        return sum(method == m and path in p for m, p in self.requests)

    async def handle(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.requests.append((request.method, request.path))
        for rule in self._rules:
            if rule.times and rule.method == request.method and rule.path in request.path:
                rule.times -= 1
                return await rule.fault(request, handler)
        return await handler(request)


async def hang(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Never answer."""
    await asyncio.Event().wait()
    raise AssertionError


async def drop(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Close the connection instead of doing what was asked."""
    assert request.transport
    request.transport.close()
    return web.Response()


async def drop_after(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Do what was asked, and close the connection without an answer."""
    await handler(request)
    return await drop(request, handler)


async def hang_after(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Do what was asked, and never say so."""
    await handler(request)
    return await hang(request, handler)


def held_until(event: asyncio.Event) -> Fault:
    """Do what was asked, but not before."""

    async def wait(request: web.Request, handler: Handler) -> web.StreamResponse:
        await event.wait()
        return await handler(request)

    return wait


def answer(code: int, reason: str = "", message: str = "", headers: dict[str, str] | None = None) -> Fault:
    """Answer with a Status instead."""
    status: JsonObject = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}

    async def refuse(request: web.Request, handler: Handler) -> web.StreamResponse:
        body = msgspec.json.encode(status)
        return web.Response(status=code, body=body, headers=headers, content_type="application/json")

    return refuse


@asynccontextmanager
async def serve_faulty(api: FaultyApi, port: int = 0) -> AsyncIterator[None]:
    """Serve it on loopback; port 0 takes a free one."""
    app = make_app(api.cluster)

    @web.middleware
    async def between(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await api.handle(request, handler)

    app.middlewares.append(between)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    api.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield
    finally:
        await runner.cleanup()
