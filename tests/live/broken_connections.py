"""`python -m tests.live.broken_connections`: calls to a sound server, beside many to one that breaks every connection it gets.

Prints how many calls each of the two answered. A process of its own, for a loop that loses track of descriptors ends the process.
"""

import asyncio
import random
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread

import click
from aiohttp import web

from scheduler.live.client import HttpTransport
from scheduler.live.errors import NoAnswerError
from scheduler.live.event_loop import new_event_loop
from tests.live.scripted import FixedCredentials, ScriptedServer

CALLERS = 40
CALLS = 100
PATIENT = (60.0,)
HASTY = (0.002, 0.005, 0.02, 60.0)
RESET_AT_CLOSE = struct.pack("ii", 1, 0)


async def answer_once(request: web.Request) -> web.StreamResponse:
    """One answer to a connection, so that there are always new ones."""
    response = web.Response(text="ok")
    response.force_close()
    return response


async def break_off(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reset the connection somewhere in its handshake."""
    await asyncio.sleep(random.random() * 0.01)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
    writer.transport.abort()


@contextmanager
def servers() -> Iterator[tuple[str, str]]:
    """The sound and the broken one, on a thread and a loop of their own: what they do comes in the middle of what callers do."""
    started = SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event, tuple[str, str]]]()

    async def serve() -> None:
        stop = asyncio.Event()
        async with (
            ScriptedServer(answer_once).running() as sound,
            await asyncio.start_server(break_off, "127.0.0.1", 0, backlog=1000) as broken,
        ):
            urls = sound.url, f"https://127.0.0.1:{broken.sockets[0].getsockname()[1]}"
            started.put((asyncio.get_running_loop(), stop, urls))
            await stop.wait()

    thread = Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    loop, stop, urls = started.get()
    try:
        yield urls
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


async def call(transport: HttpTransport, limits: tuple[float, ...]) -> int:
    """Call again and again, for at most one of these many seconds; how many answers came."""
    answers = 0
    for _ in range(CALLS):
        try:
            await transport.call("GET", "/version", limit=random.choice(limits))
        except NoAnswerError:
            continue
        answers += 1
    return answers


async def call_from_all_sides(url: str, limits: tuple[float, ...]) -> int:
    """All callers of a server at once; how many answers came."""
    transport = HttpTransport(FixedCredentials(url), connections=CALLERS)
    try:
        return sum(await asyncio.gather(*(call(transport, limits) for _ in range(CALLERS))))
    finally:
        await transport.close()


async def main(sound: str, broken: str) -> None:
    """Both servers at once."""
    click.echo(await asyncio.gather(call_from_all_sides(sound, PATIENT), call_from_all_sides(broken, HASTY)))


if __name__ == "__main__":
    random.seed(1)
    with servers() as (sound, broken), asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main(sound, broken))
