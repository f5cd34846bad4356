"""When pods were made and when they were seen to be bound."""

import asyncio
import time
from collections.abc import AsyncIterator

STALLED_SECONDS = 120.0
_LOOK_EVERY = 0.01
MEASURED = "pod-"


class StalledError(Exception):
    """Nothing was bound for a while, though something had to be."""


class Log:
    """By name, in seconds of the monotonic clock. `order` are the measured pods as they were bound."""

    def __init__(self) -> None:
        self.made: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.order: list[str] = []
        self._waiting: dict[str, asyncio.Future[None]] = {}

    async def follow(self, names: AsyncIterator[str]) -> None:
        """Take down every Binding, until cancelled."""
        async for name in names:
            if name in self.bound:
                continue
            self.bound[name] = time.monotonic()
            if name.startswith(MEASURED):
                self.order.append(name)
            if name in self._waiting:
                self._waiting.pop(name).set_result(None)

    async def pod(self, name: str) -> None:
        """Wait until this pod is bound. Raises StalledError."""
        if name in self.bound:
            return
        waiting = self._waiting[name] = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait_for(waiting, STALLED_SECONDS)
        except TimeoutError:
            raise StalledError(f"{name} was not bound within {STALLED_SECONDS:g} s") from None

    async def pods(self, count: int) -> None:
        """Wait until so many measured pods are bound. Raises StalledError."""
        have, since = len(self.order), time.monotonic()
        while have < count:
            await asyncio.sleep(_LOOK_EVERY)
            if len(self.order) > have:
                have, since = len(self.order), time.monotonic()
            elif time.monotonic() - since > STALLED_SECONDS:
                raise StalledError(f"{have} of {count} pods are bound, and none more was in {STALLED_SECONDS:g} s")
