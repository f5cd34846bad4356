"""A scripted extender behind HTTP or HTTPS: in the loop of a test, or in a thread for schedulers in other processes."""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from aiohttp import web

from tests.controlplane.ports import free_port
from tests.extenders.extender import ScriptedExtender

Extenders = dict[str, ScriptedExtender]


@asynccontextmanager
async def serving(extenders: Extenders, *, tls: ssl.SSLContext | None = None, delay: float = 0.0) -> AsyncIterator[str]:
    """Serve each extender under a path of its name; answers the URL above them. `delay` is how long an answer takes (seconds)."""

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        await asyncio.sleep(delay)
        made = extenders[request.match_info["name"]](request.path, body)
        return web.Response(status=made.status, body=made.body, content_type="application/json")

    app = web.Application(client_max_size=2**30)
    app.router.add_post("/{name}/{verb}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


@contextmanager
def served(extenders: Extenders) -> Iterator[str]:
    """The same in a thread."""
    loop, started, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    urls: list[str] = []

    async def work() -> None:
        async with serving(extenders) as url:
            urls.append(url)
            started.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(work(),))
    thread.start()
    try:
        assert started.wait(10)
        yield urls[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
