"""A scheduler process: watches, engine, writes, lease and HTTP put together, from the start to an orderly end.

Everything runs in one event loop. If a part that must run ends, the process ends too: a scheduler with a dead watch is worse
than none.
"""

import asyncio
from collections.abc import Coroutine
from typing import Literal

import structlog

from scheduler.live.parts import Parts
from scheduler.live.server import serve

# Kubernetes gives a pod 30 seconds to end.
_LAST_BINDINGS = 8.0
_LAST_EVENTS = 4.0
_FIRST_TRY = 3.0

log = structlog.get_logger("berth")


class SchedulerProcess:
    """Runs the parts."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._tasks = parts.informant.tasks

    async def run(self, stop: asyncio.Event) -> int:
        """Work until `stop` is set or something that must run has ended; answers the exit status."""
        parts = self._parts
        async with serve(parts.address, parts.informant, parts.registry) as address:
            profiles = sorted(parts.engine.summary().profiles)
            log.info("started", health=f"{address.host}:{address.port}", profiles=profiles)
            self._start("rights", parts.rights.run())
            self._start("lease", self._lead())
            self._start("events", parts.recorder.run())
            self._start("watches", self._watch())
            self._start("configuration", self._configure())
            self._start("status", _dispensable("status", parts.status_writer.run()))
            self._start("operator", _dispensable("operator", parts.operator.run()))
            ended = await self._first_end(stop)
            if ended is not None:
                log.error("ending, for a part has ended that must run", part=ended)
            await self._shut_down(within=0.0 if ended else _LAST_BINDINGS)
        return 0 if ended is None else 1

    async def _lead(self) -> None:
        """Not before all rights are there: a replica that cannot work must not keep another from it."""
        await self._parts.rights.all_granted.wait()
        await self._parts.leadership.run()

    async def _configure(self) -> None:
        """Nothing is decided before it is known by what."""
        await self._parts.look_for_configuration()
        await self._parts.configurator.follow_file()
        await asyncio.Event().wait()

    async def _watch(self) -> None:
        """Follow all kinds. If the lease can be had at once, the first list is the one that leadership asks for."""
        try:
            async with asyncio.timeout(_FIRST_TRY):
                await self._parts.leadership.tried.wait()
        except TimeoutError:
            log.info("watching without the lease")
        await self._parts.watches.run()

    async def _first_end(self, stop: asyncio.Event) -> str | None:
        """What ended that must run; None if a stop was asked for."""
        stopped = asyncio.ensure_future(stop.wait())
        engine = self._parts.driver.failed
        ends: list[asyncio.Future[None] | asyncio.Future[Literal[True]]] = [*self._tasks.values(), engine, stopped]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
        if engine.done():
            log.error("the engine failed", exc_info=engine.exception())
            return "engine"
        for name, task in self._tasks.items():
            if task.done():
                log.error("a task failed", task=name, exc_info=None if task.cancelled() else task.exception())
                return name
        return None

    async def _shut_down(self, within: float) -> None:
        """Decide nothing more, let end what was sent, give the lease back, in this order."""
        parts = self._parts
        parts.informant.stopping = True
        log.info("stopping")
        await asyncio.gather(parts.dispatcher.stop(within), parts.extenders.stop(within))
        parts.driver.finish()
        await parts.recorder.flush(_LAST_EVENTS if within else 0.0)
        await self._cancel("lease")
        await parts.leadership.release()
        for name in list(self._tasks):
            await self._cancel(name)
        for transport in parts.transports:
            await transport.close()
        log.info("stopped")

    def _start(self, name: str, work: Coroutine[None, None, None]) -> None:
        self._tasks[name] = asyncio.get_running_loop().create_task(work, name=name)

    async def _cancel(self, name: str) -> None:
        task = self._tasks[name]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _dispensable(name: str, work: Coroutine[None, None, None]) -> None:
    """What only tells about scheduling must not end it."""
    try:
        await work
    except Exception:
        log.exception("going on without a part", part=name)
    await asyncio.Event().wait()
