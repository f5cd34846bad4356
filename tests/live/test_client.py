"""Calls whose credentials run out."""

import asyncio

from aiohttp import web

from scheduler.live.client import HttpTransport
from tests.live.scripted import FixedCredentials, ScriptedServer


async def rotated(request: web.Request) -> web.StreamResponse:
    """A server that knows the new token only."""
    return web.json_response({}, status=200 if request.headers["Authorization"] == "Bearer new" else 401)


async def test_however_many_calls_are_refused_at_once_credentials_are_read_again_once() -> None:
    async with ScriptedServer(rotated).running() as server:
        credentials = FixedCredentials(server.url, ["old", "new", "newer"])
        transport = HttpTransport(credentials, connections=32)
        answers = await asyncio.gather(*(transport.call("GET", "/version") for _ in range(32)))
        await transport.close()
    assert [answer.status for answer in answers] == [200] * 32
    assert credentials.loads == 2


async def test_credentials_that_are_not_accepted_either_are_tried_once_a_call() -> None:
    async with ScriptedServer(rotated).running() as server:
        credentials = FixedCredentials(server.url, ["old"])
        transport = HttpTransport(credentials, connections=1)
        assert (await transport.call("GET", "/version")).status == 401
        await transport.close()
        assert len(server.requests) == 2
