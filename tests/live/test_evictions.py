"""Victims of preemption over HTTP: marked, deleted by UID, with the lease only; promises that are taken back."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from scheduler.live.calls import Line
from scheduler.live.dispatcher import NO_LEASE, Dispatcher
from scheduler.messages import ClearNomination, DeletePod, Done, MarkDisrupted, Outcome, Refused, Unknown, Withdrawn
from scheduler.objects import PodDecoder
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.fields import JsonObject, object_at, objects_at, text_at
from tests.live.conftest import Connect
from tests.live.faulty import FaultyApi, drop_after, held_until
from tests.live.principal import Engine, create, identity, outcome, stored
from tests.live.waiting import eventually

STATUS = "/status"


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
async def dispatcher(connect: Connect, engine: Engine) -> AsyncIterator[Dispatcher]:
    line = Line(connect(), engine, engine.problems, engine.doubts.append, random.Random(0))
    made = Dispatcher(line, PodDecoder(), 8, engine)
    yield made
    await made.stop(0)


def mark(pod: JsonObject) -> MarkDisrupted:
    return MarkDisrupted(101, *identity(pod), "berth: preempting to accommodate a higher priority pod", 1)


def delete(pod: JsonObject) -> DeletePod:
    return DeletePod(102, *identity(pod))


def gone(api: FaultyApi, name: str) -> bool:
    try:
        stored(api, name)
    except ApiError:
        return True
    return False


async def test_a_victim_is_marked_and_then_deleted_in_the_order_of_the_effects(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "v")
    assert await outcome(engine, dispatcher, mark(pod)) == Done()
    conditions = objects_at(object_at(stored(api, "v"), "status"), "conditions")
    found = next(condition for condition in conditions if condition["type"] == "DisruptionTarget")
    assert (found["status"], found["reason"]) == ("True", "PreemptionByScheduler")
    assert found["message"] == "berth: preempting to accommodate a higher priority pod"
    assert found["lastTransitionTime"]
    assert await outcome(engine, dispatcher, delete(pod)) == Done()
    assert gone(api, "v")


@pytest.mark.parametrize("effect", [mark, delete])
async def test_a_new_pod_of_that_name_is_neither_marked_nor_deleted(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher, effect: object
) -> None:
    (old,) = create(api, "v")
    api.cluster.delete("pods", "default", "v", grace_period=0)
    (fresh,) = create(api, "v")
    made = mark(old) if effect is mark else delete(old)
    answered = await outcome(engine, dispatcher, made)
    assert isinstance(answered, Refused)
    assert answered.code == (422 if effect is mark else 409)
    assert stored(api, "v") == fresh


@pytest.mark.parametrize("effect", [mark, delete])
async def test_without_a_lease_nobody_is_marked_or_deleted(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher, effect: object
) -> None:
    (pod,) = create(api, "v")
    engine.lease = False
    answered: Outcome = await outcome(engine, dispatcher, mark(pod) if effect is mark else delete(pod))
    assert answered == Withdrawn(NO_LEASE)
    assert stored(api, "v") == pod


async def test_a_delete_without_an_answer_is_never_done(api: FaultyApi, engine: Engine, dispatcher: Dispatcher) -> None:
    (pod,) = create(api, "v")
    api.fault("DELETE", "/v", drop_after)
    answered = await outcome(engine, dispatcher, delete(pod))
    # The client may have asked again on a new connection, as it may with DELETE.
    assert isinstance(answered, Unknown) or (isinstance(answered, Refused) and answered.code == 404)
    assert gone(api, "v")


async def test_a_promise_is_taken_back_with_what_else_there_is_to_say_of_the_pod(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "p")
    release = asyncio.Event()
    api.fault("PATCH", STATUS, held_until(release))
    dispatcher.submit(engine.patch(pod, "first", nominated="n1"))
    await eventually(lambda: api.count("PATCH", STATUS) == 1, "the first patch is under way")
    waiting = engine.patch(pod, "second", nominated="n2")
    dispatcher.submit(waiting)
    clear = ClearNomination(103, *identity(pod))
    dispatcher.submit(clear)
    release.set()
    await eventually(lambda: waiting.effect_id in engine.ended, "the second patch is sent")
    assert engine.ended[clear.effect_id] == Done()
    assert api.count("PATCH", STATUS) == 2
    status = object_at(stored(api, "p"), "status")
    assert not text_at(status, "nominatedNodeName")
    assert any(condition.get("message") == "second" for condition in objects_at(status, "conditions"))


async def test_a_promise_is_taken_back_where_there_is_nothing_else_to_say(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "p")
    assert await outcome(engine, dispatcher, engine.patch(pod, "no", nominated="n1")) == Done()
    assert text_at(object_at(stored(api, "p"), "status"), "nominatedNodeName") == "n1"
    assert await outcome(engine, dispatcher, ClearNomination(103, *identity(pod))) == Done()
    assert not text_at(object_at(stored(api, "p"), "status"), "nominatedNodeName")
