"""The event loop that `berth run` works on."""

import asyncio
from importlib.util import find_spec


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's, where it is installed: it saves a fifth of what a request costs."""
    if find_spec("uvloop") is None:
        return asyncio.new_event_loop()
    from scheduler.live.uvloop_loop import UvloopLoop

    return UvloopLoop()
