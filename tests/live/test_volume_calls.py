"""Writes and reads of volumes over HTTP: nothing is overwritten, and what each answer says."""

import random
from collections.abc import AsyncIterator

import msgspec
import pytest

from scheduler.api import ClaimReference, Kind, PersistentVolume, PersistentVolumeClaim
from scheduler.live.calls import Line
from scheduler.live.dispatcher import NO_LEASE, Dispatcher
from scheduler.messages import BindVolume, FoundObject, ReadObject, Refused, SelectNode, Unknown, Withdrawn
from scheduler.objects import FOLLOWED, PodDecoder
from tests.live.conftest import Connect
from tests.live.faulty import FaultyApi, answer, drop_after
from tests.live.principal import Engine, outcome
from tests.volumes import HOSTNAME, claim_json, volume_json, where

CLAIM = ClaimReference("default", "c", "claim-uid")


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
async def dispatcher(engine: Engine, connect: Connect) -> AsyncIterator[Dispatcher]:
    line = Line(connect(), engine, engine.problems, engine.doubts.append, random.Random(0))
    made = Dispatcher(line, PodDecoder(), 8, engine)
    yield made
    await made.stop(0)


def stored(api: FaultyApi, kind: Kind, name: str) -> PersistentVolume | PersistentVolumeClaim:
    namespace = "default" if kind is Kind.PERSISTENT_VOLUME_CLAIM else None
    obj = api.cluster.get(FOLLOWED[kind].plural, namespace, name)
    decoded = FOLLOWED[kind].decoder().decode(msgspec.json.encode(obj))
    assert isinstance(decoded, PersistentVolume | PersistentVolumeClaim)
    return decoded


def volume(api: FaultyApi) -> PersistentVolume:
    api.cluster.create("persistentvolumes", volume_json("v", on=where(HOSTNAME, "n1"), labels={"kept": "yes"}))
    made = stored(api, Kind.PERSISTENT_VOLUME, "v")
    assert isinstance(made, PersistentVolume)
    return made


def bind(found: PersistentVolume, number: int = 1) -> BindVolume:
    return BindVolume(number, found.uid, found.name, found.resource_version, CLAIM, "7", by_us=True)


async def test_a_volume_is_told_its_claim_and_keeps_the_rest(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    answered = await outcome(engine, dispatcher, bind(volume(api)))
    now = stored(api, Kind.PERSISTENT_VOLUME, "v")
    assert isinstance(now, PersistentVolume)
    assert isinstance(answered, FoundObject)
    assert isinstance(answered.object, PersistentVolume)
    assert answered.object.resource_version == now.resource_version
    assert (now.claim, now.bound_by_controller, now.labels) == (CLAIM, True, {"kept": "yes"})


async def test_a_volume_that_has_changed_is_left_alone(api: FaultyApi, engine: Engine, dispatcher: Dispatcher) -> None:
    found = volume(api)
    api.cluster.patch(
        "persistentvolumes", None, "v", {"metadata": {"labels": {"a": "b"}}}, "application/merge-patch+json"
    )
    refused = await outcome(engine, dispatcher, bind(found))
    assert isinstance(refused, Refused)
    assert refused.code == 409
    now = stored(api, Kind.PERSISTENT_VOLUME, "v")
    assert isinstance(now, PersistentVolume)
    assert now.claim is None


async def test_a_claim_is_told_its_node(api: FaultyApi, engine: Engine, dispatcher: Dispatcher) -> None:
    api.cluster.create("persistentvolumeclaims", claim_json("c"))
    claim = stored(api, Kind.PERSISTENT_VOLUME_CLAIM, "c")
    effect = SelectNode(1, claim.uid, "default", "c", claim.resource_version, "n1")
    answered = await outcome(engine, dispatcher, effect)
    assert isinstance(answered, FoundObject)
    assert isinstance(answered.object, PersistentVolumeClaim)
    assert answered.object.selected_node == "n1"


async def test_a_read_tells_the_object_or_that_it_is_gone(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    found = volume(api)
    read = ReadObject(1, Kind.PERSISTENT_VOLUME, found.uid, "", "v")
    answered = await outcome(engine, dispatcher, read)
    assert isinstance(answered, FoundObject)
    assert answered.object is not None
    other = ReadObject(2, Kind.PERSISTENT_VOLUME, "another", "", "v")
    assert await outcome(engine, dispatcher, other) == FoundObject(None)
    gone = ReadObject(3, Kind.PERSISTENT_VOLUME, found.uid, "", "w")
    assert await outcome(engine, dispatcher, gone) == FoundObject(None)


async def test_no_answer_is_unknown_and_nothing_is_sent_twice(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    found = volume(api)
    api.fault("PATCH", "/persistentvolumes", drop_after)
    assert isinstance(await outcome(engine, dispatcher, bind(found)), Unknown)
    assert api.count("PATCH", "/persistentvolumes") == 1
    api.heal()
    api.fault("PATCH", "/persistentvolumes", answer(503, "", ""))
    assert await outcome(engine, dispatcher, bind(found, 2)) == Unknown("no message (HTTP 503)")


async def test_nothing_is_written_without_a_lease(api: FaultyApi, engine: Engine, dispatcher: Dispatcher) -> None:
    found = volume(api)
    engine.lease = False
    assert await outcome(engine, dispatcher, bind(found)) == Withdrawn(NO_LEASE)
    assert api.count("PATCH", "/persistentvolumes") == 0
    read = ReadObject(2, Kind.PERSISTENT_VOLUME, found.uid, "", "v")
    assert isinstance(await outcome(engine, dispatcher, read), FoundObject)
