"""Events over HTTP: once each, never in the way, and accepted by the real API server."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from kubernetes.client import CoreV1Api, EventsV1Api

from scheduler.live.calls import Line
from scheduler.live.client import HttpTransport
from scheduler.live.problems import Problems
from scheduler.live.recorder import Recorder
from scheduler.live.rights import Right
from scheduler.messages import RecordEvent
from scheduler.sandbox.fields import JsonObject, object_at, text_at
from tests.builders import pod_json
from tests.controlplane.apiserver import ApiServer
from tests.live.conftest import Connect
from tests.live.faulty import Fault, FaultyApi, answer, drop, drop_after, hang
from tests.live.waiting import eventually

EVENTS = "/events"


class Surroundings:
    """The lease, the crowd, and what is told of calls."""

    def __init__(self) -> None:
        self.lease = True
        self.crowd = False
        self.doubts: list[Right] = []
        self.calls: list[str] = []

    def called(self, name: str, result: str, seconds: float) -> None:
        self.calls.append(result)


@pytest.fixture
def around() -> Surroundings:
    return Surroundings()


Start = Callable[[HttpTransport, int], Recorder]


@pytest.fixture
async def start(around: Surroundings) -> AsyncIterator[Start]:
    made: list[Recorder] = []

    def make(transport: HttpTransport, capacity: int) -> Recorder:
        line = Line(transport, around, Problems(), around.doubts.append, random.Random(0))
        made.append(Recorder(line, lambda: around.lease, lambda: around.crowd, slots=4, capacity=capacity))
        return made[-1]

    yield make
    for recorder in made:
        await recorder.flush(0)


@pytest.fixture
def recorder(connect: Connect, start: Start) -> Recorder:
    return start(connect(), 1000)


def failed(pod: str = "a", note: str = "no room") -> RecordEvent:
    return RecordEvent(f"uid-{pod}", "default", pod, "Warning", "FailedScheduling", "Scheduling", note)


def scheduled(pod: str) -> RecordEvent:
    return RecordEvent(f"uid-{pod}", "default", pod, "Normal", "Scheduled", "Binding", f"Successfully assigned {pod}")


def events(api: FaultyApi) -> list[JsonObject]:
    return api.cluster.list("events.events.k8s.io")[0]


async def test_one_event_for_each_pod_with_what_the_api_asks_for(api: FaultyApi, recorder: Recorder) -> None:
    for i in range(20):
        recorder.record(scheduled(f"p{i}"))
    await recorder.flush(5)
    found = events(api)
    assert sorted(text_at(event, "regarding", "name") for event in found) == sorted(f"p{i}" for i in range(20))
    event = found[0]
    assert object_at(event, "regarding")["kind"] == "Pod"
    assert (event["reason"], event["action"], event["type"]) == ("Scheduled", "Binding", "Normal")
    assert event["reportingController"] == "berth"
    assert text_at(event, "reportingInstance").startswith("berth-")


async def test_a_repeat_makes_a_series_of_the_event(api: FaultyApi, recorder: Recorder) -> None:
    recorder.record(failed())
    await eventually(lambda: api.count("POST", EVENTS) == 1 and recorder.queued == 0, "it is written")
    for _ in range(50):
        recorder.record(failed())
    await eventually(lambda: api.count("PATCH", EVENTS) == 1, "the series is written")
    await recorder.flush(5)
    (event,) = events(api)
    assert object_at(event, "series")["count"] in (2, 51)
    assert (api.count("POST", EVENTS), api.count("PATCH", EVENTS)) == (1, 1)


async def test_a_burst_before_the_first_write_is_one_write(
    api: FaultyApi, around: Surroundings, recorder: Recorder
) -> None:
    around.lease = False
    for _ in range(50):
        recorder.record(failed())
    around.lease = True
    await recorder.flush(5)
    (event,) = events(api)
    assert object_at(event, "series")["count"] == 50
    assert [method for method, _ in api.requests] == ["POST"]


@pytest.mark.parametrize("fault", [drop, drop_after, answer(500), answer(503), answer(429)])
async def test_an_event_is_written_once_whatever_happened_to_the_first_try(
    api: FaultyApi, recorder: Recorder, fault: Fault
) -> None:
    api.fault("POST", EVENTS, fault, times=1)
    recorder.record(scheduled("a"))
    await eventually(lambda: len(events(api)) == 1 and api.count("POST", EVENTS) == 2, "it is written")
    await recorder.flush(5)
    assert len(events(api)) == 1
    assert recorder.dropped == {"stopped": 0}


async def test_what_is_refused_is_dropped_and_the_right_is_called_into_question(
    api: FaultyApi, around: Surroundings, recorder: Recorder
) -> None:
    api.fault("POST", EVENTS, answer(403, "Forbidden"))
    recorder.record(scheduled("a"))
    await eventually(lambda: recorder.dropped["refused"] == 1, "it is dropped")
    assert [str(right) for right in around.doubts] == ["create events.events.k8s.io in all namespaces"]
    assert api.count("POST", EVENTS) == 1


async def test_a_full_queue_drops_what_is_new_and_takes_no_time(api: FaultyApi, connect: Connect, start: Start) -> None:
    recorder = start(connect(), 10)
    api.fault("POST", EVENTS, hang)
    for i in range(1000):
        recorder.record(scheduled(f"p{i}"))
    assert recorder.queued == 10
    assert recorder.dropped["queue full"] == 1000 - 4 - 10


async def test_events_leave_the_way_to_bindings(api: FaultyApi, around: Surroundings, recorder: Recorder) -> None:
    api.fault("POST", EVENTS, hang)
    around.crowd = True
    for i in range(10):
        recorder.record(scheduled(f"p{i}"))
    await eventually(lambda: api.count("POST", EVENTS) == 1, "one is sent")
    around.crowd = False
    recorder.pump()
    await eventually(lambda: api.count("POST", EVENTS) == 4, "as many as there are slots are sent")


async def test_without_the_lease_events_wait(api: FaultyApi, around: Surroundings, recorder: Recorder) -> None:
    around.lease = False
    recorder.record(scheduled("a"))
    assert recorder.queued == 1
    around.lease = True
    recorder.pump()
    await eventually(lambda: len(events(api)) == 1, "it is written")


async def test_an_event_that_expired_meanwhile_is_made_again(api: FaultyApi, recorder: Recorder) -> None:
    recorder.record(failed())
    await eventually(lambda: len(events(api)) == 1 and recorder.queued == 0, "it is written")
    name = text_at(events(api)[0], "metadata", "name")
    api.cluster.delete("events.events.k8s.io", "default", name)
    recorder.record(failed())
    await eventually(lambda: len(events(api)) == 1, "it is written again")
    assert object_at(events(api)[0], "series")["count"] == 2


@pytest.fixture
def far_away(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with a local time zone."""
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_away")
async def test_the_real_server_takes_events_and_series_from_any_time_zone(
    real_apiserver: ApiServer, connect_real: Connect, real_namespace: str, start: Start
) -> None:
    recorder = start(connect_real(), 100)
    core, api = CoreV1Api(real_apiserver.admin), EventsV1Api(real_apiserver.admin)
    made = await asyncio.to_thread(
        core.create_namespaced_pod, real_namespace, pod_json("a", namespace=real_namespace, scheduler="nobody")
    )
    event = RecordEvent(
        made.metadata.uid, real_namespace, "a", "Warning", "FailedScheduling", "Scheduling", "0/9 nodes: " + "é" * 900
    )
    recorder.record(event)
    await eventually(lambda: recorder.queued == 0, "it is sent")
    recorder.record(event)
    await recorder.flush(10)
    assert recorder.dropped.total() == 0
    (found,) = (await asyncio.to_thread(api.list_namespaced_event, real_namespace)).items
    assert found.regarding.uid == made.metadata.uid
    assert found.note.endswith(" ...")
    assert found.series.count == 2
    assert abs(found.event_time.timestamp() - time.time()) < 60
    assert abs(found.series.last_observed_time.timestamp() - time.time()) < 60
