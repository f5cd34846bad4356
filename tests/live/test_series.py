"""Which events are written, in virtual time."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from scheduler.live.series import LONGEST_NOTE, REFRESH, Aggregator, Series, shortened
from scheduler.messages import RecordEvent

START = datetime(2026, 1, 1, tzinfo=UTC)


def failed(pod: str = "a", note: str = "0/1 nodes are available: 1 Insufficient cpu.") -> RecordEvent:
    return RecordEvent(f"uid-{pod}", "default", pod, "Warning", "FailedScheduling", "Scheduling", note)


def scheduled(pod: str = "a") -> RecordEvent:
    return RecordEvent(
        f"uid-{pod}", "default", pod, "Normal", "Scheduled", "Binding", f"Successfully assigned to {pod}"
    )


def observe(aggregator: Aggregator, event: RecordEvent, at: float) -> Series | None:
    return aggregator.observe(event, at, START + timedelta(seconds=at))


def test_a_pod_that_fails_for_half_an_hour_costs_a_write_now_and_then() -> None:
    aggregator = Aggregator()
    written = []
    for second in range(0, 1800, 10):
        if observe(aggregator, failed(), second):
            written.append(second)
        written += [second for _ in aggregator.sweep(second)]
    assert written == [0, 10, 370, 730, 1090, 1450]


def test_a_series_says_how_often_and_when_last() -> None:
    aggregator = Aggregator()
    observe(aggregator, failed(), 0)
    series = observe(aggregator, failed(), 7)
    assert series
    assert series.growth() == {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:07.000000Z"}}


def test_another_reason_or_pod_is_another_event() -> None:
    aggregator = Aggregator()
    events = [failed(), failed(note="0/1 nodes are available: 1 Insufficient memory."), failed("b")]
    names = {series.name for event in events if (series := observe(aggregator, event, 0))}
    assert len(names) == 3


def test_a_series_that_grew_and_fell_silent_is_told_once_more() -> None:
    aggregator = Aggregator()
    for second in (0, 1, 2, 3):
        observe(aggregator, failed(), second)
    assert aggregator.sweep(REFRESH) == []
    (series,) = aggregator.sweep(REFRESH + 2)
    assert series.count == 4
    assert aggregator.sweep(REFRESH * 3) == []
    fresh = observe(aggregator, failed(), REFRESH * 3 + 1)
    assert fresh
    assert fresh.count == 1


def test_being_scheduled_is_written_for_each_pod_and_never_counted_together() -> None:
    aggregator = Aggregator()
    assert all(observe(aggregator, scheduled(f"p{i}"), 0) for i in range(100))
    assert all(observe(aggregator, scheduled("same"), i) for i in range(3))


def test_names_are_unique_and_short_enough_for_the_longest_pod_name() -> None:
    aggregator = Aggregator()
    long = ".".join(["a" * 62] * 4) + "b"
    names = {series.name for i in range(50) if (series := observe(aggregator, failed(long, str(i)), 0))}
    assert len(names) == 50
    assert all(len(name) <= 253 and ".." not in name for name in names)


@pytest.mark.parametrize("note", ["x" * 5000, "é" * 600, "€" * 400, "😀" * 300, "x" + "😀" * 300])
def test_a_long_note_is_cut_between_characters(note: str) -> None:
    short = shortened(note)
    assert LONGEST_NOTE - 4 < len(short.encode()) <= LONGEST_NOTE
    assert short.endswith(" ...")
    assert note.startswith(short.removesuffix(" ..."))


def test_a_note_that_just_fits_stays() -> None:
    assert shortened("x" * LONGEST_NOTE) == "x" * LONGEST_NOTE


def test_times_are_in_utc_whatever_the_zone() -> None:
    there = datetime(2026, 1, 1, 13, 0, 0, 5, tzinfo=ZoneInfo("Pacific/Auckland"))
    series = Aggregator().observe(failed(), 0, there)
    assert series
    assert series.body("berth", "berth-a")["eventTime"] == "2026-01-01T00:00:00.000005Z"
