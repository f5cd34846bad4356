"""`python -m tests.live.broken_connections`: calls to a sound server, beside many to one that breaks every connection it gets.

Prints how many calls each of the two answered. A process of its own, for a loop that loses track of descriptors ends the process.
"""

import asyncio
import random
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TypeAlias

import click

from scheduler.live.client import HttpTransport
from scheduler.live.credentials import Connection
from scheduler.live.errors import NoAnswerError
from scheduler.live.event_loop import new_event_loop

CALLERS = 40
CALLS = 100
Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
RESET_AT_CLOSE = struct.pack("ii", 1, 0)


class Known:
    """Credentials that are there already."""

    def __init__(self, server: str) -> None:
        self._connection = Connection(server, ssl.create_default_context(), "", None, None, "")

    async def load(self) -> Connection:
        """Always the same."""
        return self._connection


async def break_off(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reset the connection somewhere in its handshake."""
    await asyncio.sleep(random.random() * 0.01)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_CLOSE)
    writer.transport.abort()


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One answer to a connection."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
    writer.close()


async def call(transport: HttpTransport, limits: tuple[float, ...]) -> int:
    """Call again and again; how many answers came."""
    answers = 0
    for _ in range(CALLS):
        try:
            await transport.call("GET", "/version", limit=random.choice(limits))
            answers += 1
        except NoAnswerError:
            # What was given up a moment ago must not be in the way of the next.
            await asyncio.sleep(0)
    return answers


@contextmanager
def serving(serve: Serve) -> Iterator[str]:
    """A server on a thread and a loop of its own, so that it answers in the middle of what the callers do."""
    loop, ready, ports = asyncio.new_event_loop(), Event(), list[int]()

    async def start() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1000)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()

    def run() -> None:
        loop.create_task(start())
        loop.run_forever()

    thread = Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    yield f"127.0.0.1:{ports[0]}"
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


async def main(sound: str, broken: str) -> None:
    """All callers at once."""
    random.seed(1)
    transports = [HttpTransport(Known(server), CALLERS) for server in (f"http://{sound}", f"https://{broken}")]
    limits = [(60.0,), (0.002, 0.005, 0.02, 60.0)]
    for calls in await asyncio.gather(
        *(
            asyncio.gather(*(call(transport, limit) for _ in range(CALLERS)))
            for transport, limit in zip(transports, limits, strict=True)
        )
    ):
        click.echo(sum(calls))
    for transport in transports:
        await transport.close()


if __name__ == "__main__":
    with serving(answer) as sound, serving(break_off) as broken, asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main(sound, broken))
