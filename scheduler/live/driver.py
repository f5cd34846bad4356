"""The live driver's loop: facts into the engine, time passing, effects out. One thread, the event loop's, owns the engine."""

import asyncio
from collections.abc import Callable, Sequence

import structlog

from scheduler.engine import Engine
from scheduler.live import clock
from scheduler.messages import Effect, Fact

# Between two rounds of this many scheduling cycles the loop reads and writes; a round takes some milliseconds.
CYCLES_A_ROUND = 16

log = structlog.get_logger("berth.driver")


class Driver:
    """Gives the engine what is observed and lets it work soon after, at most once for everything that came together."""

    def __init__(self, engine: Engine, perform: Callable[[Effect], None]) -> None:
        self._engine = engine
        self._perform = perform
        self._soon: asyncio.Handle | None = None
        self._later: asyncio.TimerHandle | None = None

    def feed(self, facts: Sequence[Fact]) -> None:
        """Take over facts, in order. One that the engine cannot digest is reported and the next ones still count."""
        now = clock.now()
        for fact in facts:
            try:
                self._engine.handle(fact, now)
            except Exception:
                log.exception("a fact was not digested", fact=type(fact).__name__)
        self._work_soon()

    def stop(self) -> None:
        """Let no more time pass for the engine."""
        for handle in (self._soon, self._later):
            if handle is not None:
                handle.cancel()
        self._soon = self._later = None

    def _work_soon(self) -> None:
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_soon(self._work)

    def _work(self) -> None:
        self._soon = None
        now = clock.now()
        for effect in self._engine.advance(now, CYCLES_A_ROUND):
            self._perform(effect)
        self._plan(now)

    def _plan(self, now: float) -> None:
        """Come back when there is something to do: after the loop has had its turn, or at the engine's next deadline."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        deadline = self._engine.next_deadline()
        if deadline is None:
            return
        if deadline <= now:
            self._work_soon()
        else:
            self._later = asyncio.get_running_loop().call_later(deadline - now, self._work_soon)
