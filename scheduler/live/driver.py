"""The engine in an event loop: facts in as they come, turns that leave room for the rest, effects out.

One thread, the event loop's, owns the engine. Not here: what is connected with it (parts.py), what runs when (process.py).
"""

import asyncio
from collections.abc import Callable, Sequence

import structlog

from scheduler.config import Configuration
from scheduler.engine import Engine
from scheduler.live import clock
from scheduler.messages import ConfigurationChanged, Effect, Fact

# A turn takes about as long as this; then sockets, timers and the lease have their say.
_TURN = 0.01
_CYCLES_AT_ONCE = 4
_WITHOUT_LEAVE = 1.0

log = structlog.get_logger("berth.driver")


class Driver:
    """Feeds one engine. `perform` is given each effect; `may_decide` says whether scheduling cycles may run.

    If the engine raises while it works, `failed` ends with that exception: it cannot go on.
    """

    def __init__(self, engine: Engine, perform: Callable[[Effect], None], may_decide: Callable[[], bool]) -> None:
        self.engine = engine
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._perform = perform
        self._may_decide = may_decide
        self._loop = asyncio.get_running_loop()
        self._soon = False
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, facts: Sequence[Fact]) -> None:
        """Hand over what was observed, in order."""
        now = clock.now()
        for fact in facts:
            try:
                self.engine.handle(fact, now)
            except Exception:
                # One that cannot be digested must not keep the others out, now and after every restart.
                log.exception("a fact was not digested", fact=type(fact).__name__)
        self.wake()

    def reconfigure(self, configuration: Configuration) -> None:
        """Decide by another configuration. Raises ConfigError, with nothing changed, if it cannot be put into force."""
        self.engine.handle(ConfigurationChanged(configuration), clock.now())
        self.wake()

    def finish(self) -> None:
        """Let what has come back take its last effects, without a further decision; for the end of the process."""
        if not self.failed.done():
            for effect in self.engine.advance(clock.now(), 0):
                self._perform(effect)

    def wake(self) -> None:
        """Take a turn soon."""
        if not self._soon and not self.failed.done():
            self._soon = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._soon = False
        if self.failed.done():
            return
        try:
            self._advance()
        except Exception as error:  # noqa: BLE001  kept for whoever waits for `failed`
            self.failed.set_exception(error)

    def _advance(self) -> None:
        """Let the engine work until it has nothing to do or the turn is over, then see when the next one is due."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        end = clock.now() + _TURN
        while True:
            now = clock.now()
            cycles = _CYCLES_AT_ONCE if self._may_decide() else 0
            for effect in self.engine.advance(now, cycles):
                self._perform(effect)
            deadline = self.engine.next_deadline()
            if deadline is None:
                return
            if deadline <= now and not cycles:
                # Without leave to decide, pods stay due; whoever gives leave wakes the loop, and other things fall due.
                deadline = now + _WITHOUT_LEAVE
            if deadline > now:
                self._timer = self._loop.call_later(deadline - now, self.wake)
                return
            if now >= end:
                self.wake()
                return
