"""What is written of a stream of events: the first as an Event, repeats as a growing series on it (events.k8s.io/v1).

As client-go's recorder: the second occurrence is written at once, later ones every six minutes, and a series that has not
grown for six minutes is over. Not here: sending (recorder.py).
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from scheduler.messages import RecordEvent
from scheduler.timestamps import micro_time

REFRESH = 360.0
LONGEST_NOTE = 1024
_LONGEST_NAME = 253
_CUT = " ..."
_MOST_SERIES = 20_000

Body = Mapping[str, object]


@dataclass(slots=True, eq=False)
class Series:
    """An Event and how often it has happened. `told` is the count last handed out for writing; `created` says whether it is
    on the server.
    """

    event: RecordEvent
    name: str
    first_at: datetime
    last_at: datetime
    seen_at: float
    written_at: float
    count: int = 1
    told: int = 1
    created: bool = False

    def body(self, controller: str, instance: str) -> Body:
        """The Event to POST."""
        event = self.event
        regarding = {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": event.namespace,
            "name": event.name,
            "uid": event.uid,
        }
        body: dict[str, object] = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": self.name, "namespace": event.namespace},
            "eventTime": micro_time(self.first_at),
            "reportingController": controller,
            "reportingInstance": instance,
            "action": event.action,
            "reason": event.reason,
            "regarding": regarding,
            "note": shortened(event.note),
            "type": event.type,
        }
        return {**body, **self.growth()} if self.count > 1 else body

    def growth(self) -> Body:
        """The merge patch that tells how the series has grown."""
        return {"series": {"count": self.count, "lastObservedTime": micro_time(self.last_at)}}


@dataclass(slots=True)
class Aggregator:
    """Events in, those that are to be written out. Only warnings are taken together: what is normal happens once."""

    _series: OrderedDict[RecordEvent, Series] = field(default_factory=OrderedDict)
    _last_stamp: int = 0

    def observe(self, event: RecordEvent, now: float, wall: datetime) -> Series | None:
        """An event happened; answers its series if that is to be written now."""
        known = self._series.get(event)
        if known is None or now - known.seen_at > REFRESH:
            fresh = Series(event, self._name(event.name, wall), wall, wall, now, now)
            if event.type == "Warning":
                self._series[event] = fresh
                self._series.move_to_end(event)
                if len(self._series) > _MOST_SERIES:
                    self._series.popitem(last=False)
            return fresh
        known.count += 1
        known.last_at, known.seen_at = wall, now
        self._series.move_to_end(event)
        if known.told == 1 or now - known.written_at >= REFRESH:
            return self._tell(known, now)
        return None

    def sweep(self, now: float) -> list[Series]:
        """The series that have grown since they were last written, a while ago; those that are over are forgotten."""
        grown = [s for s in self._series.values() if s.count > s.told and now - s.written_at >= REFRESH]
        while self._series:
            oldest = next(iter(self._series.values()))
            if now - oldest.seen_at <= REFRESH:
                break
            del self._series[oldest.event]
        return [self._tell(series, now) for series in grown]

    def forget(self, series: Series) -> None:
        """The Event is not on the server (any more): the next occurrence is a first one."""
        if self._series.get(series.event) is series:
            del self._series[series.event]

    def _tell(self, series: Series, now: float) -> Series:
        series.told, series.written_at = series.count, now
        return series

    def _name(self, pod: str, wall: datetime) -> str:
        """Pod name and time, as kubectl's users know it; unique, and short enough."""
        stamp = max(int(wall.timestamp() * 1e9), self._last_stamp + 1)
        self._last_stamp = stamp
        suffix = f".{stamp:x}"
        return pod[: _LONGEST_NAME - len(suffix)].rstrip(".-") + suffix


def shortened(note: str) -> str:
    """At most 1024 bytes, cut between characters."""
    encoded = note.encode()
    if len(encoded) <= LONGEST_NOTE:
        return note
    return encoded[: LONGEST_NOTE - len(_CUT)].decode(errors="ignore") + _CUT
