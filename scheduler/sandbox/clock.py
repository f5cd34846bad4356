"""Clocks of the sandbox. Virtual time: a monotonic clock that moves when told, with a wall clock that may be set wrong."""

import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Protocol

_START = datetime(2026, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    """What happens by itself in a sandbox happens by this."""

    def wall(self) -> datetime:
        """The time of day."""

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Do something after a while."""


class VirtualClock:
    """Seconds since the start, and the things to be done at their times, in order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.wall_offset = timedelta()
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._sequence = count()

    def wall(self) -> datetime:
        """What the wall clock shows."""
        return _START + timedelta(seconds=self.now) + self.wall_offset

    def at(self, moment: float, action: Callable[[], None]) -> None:
        """Do something at a time; what is due at the same time is done in the order of the calls."""
        heapq.heappush(self._agenda, (max(moment, self.now), next(self._sequence), action))

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Do something after a while."""
        self.at(self.now + seconds, action)

    def next_due(self) -> float | None:
        """When the next thing is due."""
        return self._agenda[0][0] if self._agenda else None

    def run_due(self) -> bool:
        """Do the first thing that is due by now; False if nothing is."""
        if not self._agenda or self._agenda[0][0] > self.now:
            return False
        _, _, action = heapq.heappop(self._agenda)
        action()
        return True
