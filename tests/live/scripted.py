"""An API server that answers what it is told to, one script entry a request; for faults that a real one will not commit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web

from scheduler.live.client import HttpTransport
from scheduler.live.credentials import Connection

JsonObject = dict[str, Any]
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class FixedCredentials:
    """Credentials for a plain server; each load may hand out another token."""

    def __init__(self, server: str, tokens: list[str] | None = None) -> None:
        self.server = server
        self.tokens = tokens or ["token"]
        self.loads = 0

    async def load(self) -> Connection:
        token = self.tokens[min(self.loads, len(self.tokens) - 1)]
        self.loads += 1
        return Connection(self.server, False, f"Bearer {token}", None, None, "test")


class ScriptedServer:
    """Serves each request with the next answer of the script, the last one for ever; `requests` keeps what was asked."""

    def __init__(self, *script: Answer) -> None:
        self.script = list(script)
        self.requests: list[web.Request] = []
        self.url = ""

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return await answer(request)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["ScriptedServer"]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._serve)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    def transport(self, tokens: list[str] | None = None) -> HttpTransport:
        return HttpTransport(FixedCredentials(self.url, tokens), connections=8)


def page(*items: JsonObject, version: str = "10", token: str = "") -> Answer:
    """A page of a list."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"metadata": {"resourceVersion": version, "continue": token}, "items": list(items)})

    return answer


def refusal(code: int, reason: str = "", headers: dict[str, str] | None = None) -> Answer:
    """A Status instead of what was asked for."""

    async def answer(request: web.Request) -> web.StreamResponse:
        body = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": f"{reason} {code}"}
        return web.json_response(body, status=code, headers=headers)

    return answer


def stream(*lines: JsonObject | bytes, then: Callable[[], Awaitable[None]] | None = None) -> Answer:
    """A watch with these lines (bytes as they are), which then ends, or waits for `then`."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for line in lines:
            await response.write(line if isinstance(line, bytes) else msgspec.json.encode(line) + b"\n")
        if then is not None:
            await then()
        return response

    return answer


async def forever() -> None:
    """A server that neither speaks nor hangs up."""
    await asyncio.Event().wait()


def event(kind: str, obj: JsonObject) -> JsonObject:
    """A watch event."""
    return {"type": kind, "object": obj}
