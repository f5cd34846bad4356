"""The two clocks. Decisions go by the monotonic one only; the wall clock is for what people read."""

import time
from datetime import UTC, datetime

_BOOTTIME: int | None = getattr(time, "CLOCK_BOOTTIME", None)


def now() -> float:
    """Seconds on a clock that never jumps. Where there is one, a clock that counts sleep too: the lease of a machine that
    was suspended has run out for everybody else.
    """
    return time.monotonic() if _BOOTTIME is None else time.clock_gettime(_BOOTTIME)


def wall() -> datetime:
    """The time of day in UTC."""
    return datetime.now(UTC)
