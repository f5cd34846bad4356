"""Writes Events without ever holding up anything: a bounded queue that drops before it delays.

An Event's name is chosen once, so writing it again after an unknown outcome does not make a second one. Not here: what is
written at all (series.py).
"""

import asyncio
import socket
from collections import Counter, deque
from collections.abc import Callable

import msgspec
import structlog

from scheduler.live import clock
from scheduler.live.calls import MERGE_PATCH, Call, Flight, Line
from scheduler.live.client import Response
from scheduler.live.rights import Right
from scheduler.live.series import Aggregator, Series
from scheduler.messages import RecordEvent, Refused, Withdrawn

CREATE = Right("create", "events", "events.k8s.io")
PATCH = Right("patch", "events", "events.k8s.io")

CONTROLLER = "berth"
_LONGEST_INSTANCE = 128
_SWEEP_EVERY = 30.0
_PATIENCE = 30.0
_TRIES = 3

log = structlog.get_logger("berth.recorder")


class Recorder:
    """Sends at most `slots` Events at a time, and one while Bindings wait (`crowded`), and none without a valid lease.

    `dropped` counts what was never written, by cause.
    """

    def __init__(
        self, line: Line, may_write: Callable[[], bool], crowded: Callable[[], bool], *, slots: int, capacity: int
    ) -> None:
        self.dropped: Counter[str] = Counter()
        self._line = line
        self._may_write = may_write
        self._crowded = crowded
        self._slots = slots
        self._capacity = capacity
        self._instance = f"{CONTROLLER}-{socket.gethostname()}"[:_LONGEST_INSTANCE]
        self._aggregator = Aggregator()
        self._queue: deque[Series] = deque()
        self._waiting: set[str] = set()
        self._under_way: dict[str, asyncio.Task[None]] = {}
        self._grown: dict[str, Series] = {}

    def record(self, event: RecordEvent) -> None:
        """Take note of an event; returns at once."""
        series = self._aggregator.observe(event, clock.now(), clock.wall())
        if series is not None:
            self._enqueue(series)
        self.pump()

    @property
    def queued(self) -> int:
        """How many Events wait."""
        return len(self._queue)

    async def run(self) -> None:
        """Write what series have grown by, until cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_EVERY)
            for series in self._aggregator.sweep(clock.now()):
                self._enqueue(series)
            self.pump()

    async def flush(self, within: float) -> None:
        """Wait until all is written, for `within` seconds at most; what is left then is dropped."""
        deadline = clock.now() + within
        self.pump()
        while (tasks := list(self._under_way.values())) and clock.now() < deadline:
            await asyncio.wait(tasks, timeout=deadline - clock.now(), return_when=asyncio.FIRST_COMPLETED)
        self.dropped["stopped"] += len(self._queue)
        self._queue.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def pump(self) -> None:
        """Start what there is room for; called again when the lease is held again."""
        while self._queue and len(self._under_way) < (1 if self._crowded() else self._slots) and self._may_write():
            series = self._queue.popleft()
            self._waiting.discard(series.name)
            task = asyncio.get_running_loop().create_task(self._carry_out(series))
            self._under_way[series.name] = task

    def _enqueue(self, series: Series) -> None:
        """One place in the queue for each Event: when its turn comes, all that has happened by then is written."""
        if series.name in self._under_way:
            self._grown[series.name] = series
        elif series.name in self._waiting:
            return
        elif len(self._queue) >= self._capacity:
            self._drop(series, "queue full")
        else:
            self._queue.append(series)
            self._waiting.add(series.name)

    def _drop(self, series: Series, cause: str) -> None:
        self.dropped[cause] += 1
        self._aggregator.forget(series)

    async def _carry_out(self, series: Series) -> None:
        try:
            await self._write(series)
        except Exception:
            log.exception("an event could not be written", pod=f"{series.event.namespace}/{series.event.name}")
            self._drop(series, "failed")
        finally:
            del self._under_way[series.name]
            grown = self._grown.pop(series.name, None)
            if grown is not None:
                self._enqueue(grown)
        self.pump()

    async def _write(self, series: Series) -> None:
        for _ in range(_TRIES):
            call = self._growth(series) if series.created else self._creation(series)
            match await Flight(self._line).make(call, self._why_not):
                case Response() | Refused(code=409):
                    series.created = True
                    return
                case Refused(code=404) if series.created:
                    # Events are kept for an hour; what repeats may go on for longer.
                    series.created = False
                case Refused():
                    self._drop(series, "refused")
                    return
                case Withdrawn():
                    self._queue.appendleft(series)
                    self._waiting.add(series.name)
                    return
        self._drop(series, "unanswered")

    def _why_not(self) -> str | None:
        return None if self._may_write() else "the lease is not valid"

    def _creation(self, series: Series) -> Call:
        body = msgspec.json.encode(series.body(CONTROLLER, self._instance))
        return Call("event", "POST", _path(series), CREATE, body, patience=_PATIENCE)

    def _growth(self, series: Series) -> Call:
        path = f"{_path(series)}/{series.name}"
        return Call("event", "PATCH", path, PATCH, msgspec.json.encode(series.growth()), MERGE_PATCH, _PATIENCE)


def _path(series: Series) -> str:
    return f"/apis/events.k8s.io/v1/namespaces/{series.event.namespace}/events"
