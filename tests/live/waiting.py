"""Waiting for something to become true in the event loop."""

import asyncio
from collections.abc import Callable

PATIENCE = 15.0


async def eventually(condition: Callable[[], object], what: str, within: float = PATIENCE) -> None:
    """Return once `condition` holds; AssertionError naming `what` if it does not in time."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    while not condition():
        assert loop.time() < deadline, f"not within {within:g} s: {what}"
        await asyncio.sleep(0.01)
