"""What following pods costs: `make bench-watch`. Time of one core for each pod listed and each event, memory for each bound pod.

The server is a process of its own that sends prepared bytes, so that what is measured is the client: HTTP, decoding, the
engine's cache and queue. Events come over a watch as fast as the client takes them.
"""

import asyncio
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from aiohttp import web
from rich.console import Console
from rich.table import Table

from plugins.registry import load_registry
from scheduler.config import default
from scheduler.engine import Engine
from scheduler.live import clock
from scheduler.live.client import HttpTransport
from scheduler.live.reflector import Patience, Reflector
from scheduler.live.sources import pods
from scheduler.messages import Fact, NodeSeen
from scheduler.objects import NodeDecoder, PodDecoder
from scheduler.observer import Observer
from tests.bench.realistic import realistic_node, realistic_pod
from tests.live.scripted import FixedCredentials

NODES = 5000
SHAPES = 50
PAGE = 500
LEAST_EVENTS_A_SECOND = 3000
MOST_BYTES_A_POD = 1536


@click.command()
@click.option("--pods", "count", default=100_000, show_default=True, help="Bound pods in the list.")
@click.option("--events", default=30_000, show_default=True, help="Pod events in the watch.")
@click.option("--serve", is_flag=True, hidden=True, help="Be the server.")
def main(count: int, events: int, *, serve: bool) -> None:
    """Measure; exit status 1 if a promise is not kept."""
    if serve:
        asyncio.run(_serve(count, events))
        return
    sys.exit(asyncio.run(_measure(count, events)))


async def _measure(count: int, events: int) -> int:
    command = ["-m", "tests.bench.watch", "--serve", "--pods", str(count), "--events", str(events)]
    server = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    url = (await server.stdout.readline()).decode().strip()
    try:
        return await _follow(url, count, events)
    finally:
        server.terminate()
        await server.wait()


async def _follow(url: str, count: int, events: int) -> int:
    registry = load_registry()
    engine = Engine(default(registry), registry, 0, Observer())
    nodes = NodeDecoder()
    for i in range(NODES):
        engine.handle(NodeSeen(nodes.decode(msgspec.json.encode(realistic_node(i)))), clock.now())
    heard = 0
    marks: list[tuple[float, float, int]] = []
    done = asyncio.Event()

    def deliver(facts: Sequence[Fact]) -> None:
        nonlocal heard
        for fact in facts:
            engine.handle(fact, clock.now())
        heard += len(facts)
        if engine.summary().bound >= count and len(marks) == 1:
            marks.append((time.process_time(), time.monotonic(), _resident()))
        if heard >= count + events:
            done.set()

    marks.append((time.process_time(), time.monotonic(), _resident()))
    transport = HttpTransport(FixedCredentials(url), connections=2)
    reflector = Reflector(pods(PodDecoder()), transport, Patience(), deliver)
    task = asyncio.create_task(reflector.run())
    finished = asyncio.create_task(done.wait())
    await asyncio.wait({task, finished}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    marks.append((time.process_time(), time.monotonic(), _resident()))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await transport.close()
    return _show(marks, count, events)


def _show(marks: list[tuple[float, float, int]], count: int, events: int) -> int:
    begun, listed, ended = marks
    list_us = (listed[0] - begun[0]) / count * 1e6
    event_us = (ended[0] - listed[0]) / events * 1e6
    bytes_a_pod = (listed[2] - begun[2]) / count
    table = Table(title=f"{count} bound pods on {NODES} nodes, {events} events")
    for heading in ("what", "measured", "promised"):
        table.add_column(heading)
    table.add_row("list, CPU a pod", f"{list_us:.1f} us", "")
    table.add_row("watch, CPU an event", f"{event_us:.1f} us", "")
    table.add_row("watch, events a second on one core", f"{1e6 / event_us:,.0f}", f"{LEAST_EVENTS_A_SECOND:,}")
    table.add_row("watch, events a second by the clock", f"{events / (ended[1] - listed[1]):,.0f}", "")
    table.add_row("memory a bound pod", f"{bytes_a_pod:,.0f} bytes", f"{MOST_BYTES_A_POD:,} bytes")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    table.add_row("peak memory of the process", f"{peak / 2**20:,.0f} MiB", "")
    Console().print(table)
    return int(1e6 / event_us < LEAST_EVENTS_A_SECOND or bytes_a_pod > MOST_BYTES_A_POD)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def _serve(count: int, events: int) -> None:
    """Lists pages of bound pods, then one watch."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return await _stream(request, count, events)
        start = int(request.query.get("continue") or 0)
        items = [_bound(number) for number in range(start, min(start + PAGE, count))]
        token = str(start + PAGE) if start + PAGE < count else ""
        body = msgspec.json.encode({"metadata": {"resourceVersion": "1", "continue": token}, "items": items})
        return web.Response(body=body, content_type="application/json")

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    click.echo(f"http://127.0.0.1:{runner.addresses[0][1]}")
    await asyncio.Event().wait()


async def _stream(request: web.Request, count: int, events: int) -> web.StreamResponse:
    """Changes of pods that are there: the most frequent event by far."""
    response = web.StreamResponse()
    await response.prepare(request)
    for number in range(events):
        pod = _bound(number % count)
        pod["metadata"]["resourceVersion"] = str(10_000_000 + number)
        await response.write(msgspec.json.encode({"type": "MODIFIED", "object": pod}) + b"\n")
    await asyncio.Event().wait()
    return response


def _bound(number: int) -> dict[str, dict[str, object]]:
    return realistic_pod(number, number % SHAPES, f"node-{number % NODES:05d}")


if __name__ == "__main__":
    main()
