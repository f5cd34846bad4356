"""Effects carried out over HTTP: what goes first, what is not sent any more, and what each answer means."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import CoreV1Api

from scheduler.live.calls import Line
from scheduler.live.client import HttpTransport
from scheduler.live.dispatcher import NO_LEASE, Dispatcher
from scheduler.messages import (
    Bind,
    Done,
    Found,
    Outcome,
    PatchPodStatus,
    Refused,
    Unknown,
    Withdrawn,
)
from scheduler.objects import PodDecoder
from scheduler.sandbox.fields import JsonObject, object_at, objects_at, text_at
from tests.builders import pod_json
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.ports import free_port
from tests.live.conftest import Connect, connector, kubeconfig_for
from tests.live.faulty import Fault, FaultyApi, answer, drop, drop_after, hang, hang_after, held_until, serve_faulty
from tests.live.principal import Engine, create, outcome, stored
from tests.live.waiting import eventually

BINDING = "/binding"
STATUS = "/status"


@pytest.fixture
def engine() -> Engine:
    return Engine()


Start = Callable[[HttpTransport, int], Dispatcher]


@pytest.fixture
async def start(engine: Engine) -> AsyncIterator[Start]:
    """Makes dispatchers, which end with the test."""
    made: list[Dispatcher] = []

    def make(transport: HttpTransport, slots: int = 8) -> Dispatcher:
        line = Line(transport, engine, engine.problems, engine.doubts.append, random.Random(0))
        made.append(Dispatcher(line, PodDecoder(), slots, engine))
        return made[-1]

    yield make
    for dispatcher in made:
        await dispatcher.stop(0)


@pytest.fixture
def dispatcher(connect: Connect, start: Start) -> Dispatcher:
    return start(connect(), 8)


def node_of(api: FaultyApi, name: str) -> str:
    return text_at(object_at(stored(api, name), "spec"), "nodeName")


def condition(pod: JsonObject) -> JsonObject:
    return next(c for c in objects_at(object_at(pod, "status"), "conditions") if c["type"] == "PodScheduled")


async def test_a_binding_names_the_uid_and_brings_annotations_to_the_pod(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "a")
    assert await outcome(engine, dispatcher, engine.bind(pod, "n1", {"berth.dev/device": "3"})) == Done()
    assert node_of(api, "a") == "n1"
    assert object_at(object_at(stored(api, "a"), "metadata"), "annotations") == {"berth.dev/device": "3"}


async def test_a_new_pod_of_the_same_name_is_left_alone(api: FaultyApi, engine: Engine, dispatcher: Dispatcher) -> None:
    (old,) = create(api, "a")
    api.cluster.delete("pods", "default", "a")
    create(api, "a")
    refused = await outcome(engine, dispatcher, engine.bind(old, "n1"))
    assert isinstance(refused, Refused)
    assert refused.code == 409
    assert node_of(api, "a") == ""
    assert await outcome(engine, dispatcher, engine.read(old)) == Found(None)


async def test_refusals_carry_code_reason_and_message(api: FaultyApi, engine: Engine, dispatcher: Dispatcher) -> None:
    a, b = create(api, "a", "b")
    api.cluster.delete("pods", "default", "a")
    gone = await outcome(engine, dispatcher, engine.bind(a, "n1"))
    assert gone == Refused(404, "NotFound", 'pods "a" not found')
    assert await outcome(engine, dispatcher, engine.bind(b, "n1")) == Done()
    again = await outcome(engine, dispatcher, engine.bind(b, "n2"))
    assert isinstance(again, Refused)
    assert (again.code, again.reason) == (409, "Conflict")
    assert 'already assigned to node "n1"' in again.message


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (answer(403, "Forbidden", "no"), Refused(403, "Forbidden", "no")),
        (answer(400, "BadRequest", "what"), Refused(400, "BadRequest", "what")),
        (answer(422, "Invalid", "bad"), Refused(422, "Invalid", "bad")),
        (answer(500, "", "target.name: Required value"), Refused(500, "", "target.name: Required value")),
        (answer(500, "InternalError", "etcd"), Unknown("etcd (HTTP 500)")),
        (answer(503, "", ""), Unknown("no message (HTTP 503)")),
        (answer(504, "Timeout", "slow"), Unknown("slow (HTTP 504)")),
    ],
)
async def test_what_an_answer_says_about_the_pod(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher, fault: Fault, expected: Outcome
) -> None:
    (pod,) = create(api, "a")
    api.fault("POST", BINDING, fault)
    assert await outcome(engine, dispatcher, engine.bind(pod, "n1")) == expected
    assert api.count("POST", BINDING) == 1


@pytest.mark.parametrize("fault", [drop, drop_after])
async def test_a_cut_connection_leaves_the_outcome_unknown_and_nothing_is_sent_twice(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher, fault: Fault
) -> None:
    (pod,) = create(api, "a")
    api.fault("POST", BINDING, fault)
    assert isinstance(await outcome(engine, dispatcher, engine.bind(pod, "n1")), Unknown)
    assert api.count("POST", BINDING) == 1
    found = await outcome(engine, dispatcher, engine.read(pod))
    assert isinstance(found, Found)
    assert found.pod
    assert found.pod.node_name == ("n1" if fault is drop_after else "")


async def test_a_throttled_call_waits_as_long_as_it_is_asked_and_is_then_sent(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "a")
    api.fault("POST", BINDING, answer(429, "TooManyRequests", headers={"Retry-After": "1"}), times=1)
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert await outcome(engine, dispatcher, engine.bind(pod, "n1")) == Done()
    assert loop.time() - began >= 1.0
    assert engine.calls == [("pod_binding", "throttled"), ("pod_binding", "success")]


async def test_a_throttled_binding_that_is_unwanted_by_then_is_not_sent_again(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "a")
    api.fault("POST", BINDING, answer(429))
    bind = engine.bind(pod, "n1")
    dispatcher.submit(bind)
    await eventually(lambda: api.count("POST", BINDING) >= 2, "it is tried again")
    engine.unwanted[bind.uid] = "the room is gone"
    await eventually(lambda: bind.effect_id in engine.ended, "it ends")
    assert engine.ended[bind.effect_id] == Withdrawn("the room is gone")


async def test_without_a_server_a_binding_waits_for_one(engine: Engine, start: Start, tmp_path: Path) -> None:
    api, port = FaultyApi(), free_port()
    (pod,) = create(api, "a")
    async with AsyncExitStack() as stack:
        kubeconfig = kubeconfig_for(f"http://127.0.0.1:{port}", tmp_path / "kubeconfig")
        dispatcher = start(connector(stack, kubeconfig)(), 8)
        bind = engine.bind(pod, "n1")
        dispatcher.submit(bind)
        await eventually(lambda: len(engine.calls) >= 2, "it is tried again")
        assert set(engine.calls) == {("pod_binding", "unsent")}
        async with serve_faulty(api, port):
            await eventually(lambda: engine.ended, "it ends")
    assert engine.ended[bind.effect_id] == Done()
    assert node_of(api, "a") == "n1"


async def test_nothing_is_written_without_a_valid_lease(api: FaultyApi, engine: Engine, dispatcher: Dispatcher) -> None:
    (pod,) = create(api, "a")
    engine.lease = False
    assert await outcome(engine, dispatcher, engine.bind(pod, "n1")) == Withdrawn(NO_LEASE)
    assert await outcome(engine, dispatcher, engine.patch(pod, "no")) == Withdrawn(NO_LEASE)
    assert isinstance(await outcome(engine, dispatcher, engine.read(pod)), Found)
    assert [method for method, _ in api.requests] == ["GET"]


async def test_the_lease_is_looked_at_when_a_call_is_sent_and_not_when_it_is_queued(
    api: FaultyApi, engine: Engine, connect: Connect, start: Start
) -> None:
    dispatcher = start(connect(), 1)
    a, b = create(api, "a", "b")
    api.fault("POST", "/a/binding", hang)
    first, second = engine.bind(a, "n1"), engine.bind(b, "n1")
    dispatcher.submit(first)
    dispatcher.submit(second)
    await eventually(lambda: api.count("POST", BINDING) == 1, "the first is sent")
    engine.lease = False
    dispatcher.abort_writes()
    await eventually(lambda: len(engine.ended) == 2, "both have ended")
    assert isinstance(engine.ended[first.effect_id], Unknown)
    assert engine.ended[second.effect_id] == Withdrawn(NO_LEASE)
    assert api.count("POST", BINDING) == 1


async def test_a_lease_lost_in_the_moment_of_deciding_is_answered_for(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "a")
    bind = engine.bind(pod, "n1")
    dispatcher.submit(bind)
    engine.lease = False
    dispatcher.abort_writes()
    await eventually(lambda: bool(engine.ended), "the Binding has ended")
    assert engine.ended[bind.effect_id] == Withdrawn(NO_LEASE)
    assert dispatcher.in_flight == 0
    engine.lease = True
    again = engine.bind(pod, "n1")
    dispatcher.submit(again)
    await eventually(lambda: len(engine.ended) == 2, "the pod can be bound again")
    assert engine.ended[again.effect_id] == Done()


async def test_what_is_decided_about_one_pod_is_done_in_that_order_one_call_at_a_time(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "a")
    release = asyncio.Event()

    api.fault("PATCH", STATUS, held_until(release))
    patch, read, bind = engine.patch(pod, "no"), engine.read(pod), engine.bind(pod, "n1")
    for effect in (patch, read, bind):
        dispatcher.submit(effect)
    await eventually(lambda: api.count("PATCH", STATUS) == 1, "the patch is sent")
    assert dispatcher.in_flight == 1
    assert dispatcher.queued() == {"pod_binding": 2, "pod_status_patch": 0, "pod_delete": 0, "volume_binding": 0}
    release.set()
    await eventually(lambda: len(engine.ended) == 3, "all have ended")
    assert [method for method, _ in api.requests] == ["PATCH", "GET", "POST"]
    assert list(engine.ended) == [patch.effect_id, read.effect_id, bind.effect_id]


async def test_bindings_go_before_patches(api: FaultyApi, engine: Engine, connect: Connect, start: Start) -> None:
    dispatcher = start(connect(), 1)
    pods = create(api, "a", "b", "c", "d")
    effects: list[Bind | PatchPodStatus] = [
        engine.patch(pods[0], "no"),
        engine.patch(pods[1], "no"),
        engine.bind(pods[2], "n"),
        engine.bind(pods[3], "n"),
    ]
    for effect in effects:
        dispatcher.submit(effect)
    await eventually(lambda: len(engine.ended) == 4, "all have ended")
    assert [method for method, _ in api.requests] == ["PATCH", "POST", "POST", "PATCH"]


async def test_a_patch_that_waits_gives_way_to_a_binding_of_its_pod(
    api: FaultyApi, engine: Engine, connect: Connect, start: Start
) -> None:
    dispatcher = start(connect(), 1)
    busy, pod = create(api, "busy", "a")
    dispatcher.submit(engine.bind(busy, "n1"))
    patch, bind = engine.patch(pod, "no"), engine.bind(pod, "n1")
    dispatcher.submit(patch)
    dispatcher.submit(bind)
    await eventually(lambda: len(engine.ended) == 3, "all have ended")
    assert isinstance(engine.ended[patch.effect_id], Withdrawn)
    assert api.count("PATCH", STATUS) == 0
    assert condition(stored(api, "a"))["status"] == "True"


async def test_of_several_patches_that_wait_the_last_is_sent_with_what_is_nominated(
    api: FaultyApi, engine: Engine, connect: Connect, start: Start
) -> None:
    dispatcher = start(connect(), 1)
    busy, pod = create(api, "busy", "a")
    dispatcher.submit(engine.bind(busy, "n1"))
    for effect in (engine.patch(pod, "first", nominated="n7"), engine.patch(pod, "second"), engine.patch(pod, "third")):
        dispatcher.submit(effect)
    await eventually(lambda: len(engine.ended) == 4, "all have ended")
    assert set(engine.ended.values()) == {Done()}
    assert api.count("PATCH", STATUS) == 1
    assert condition(stored(api, "a"))["message"] == "third"
    assert text_at(object_at(stored(api, "a"), "status"), "nominatedNodeName") == "n7"


async def test_a_condition_is_dated_when_its_status_changes_and_only_then(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "a")
    await outcome(engine, dispatcher, engine.patch(pod, "first"))
    first = condition(stored(api, "a"))
    assert (first["status"], first["reason"], first["message"], first["observedGeneration"]) == (
        "False",
        "Unschedulable",
        "first",
        1,
    )
    assert text_at(first, "lastTransitionTime")[-1] == "Z"
    await outcome(engine, dispatcher, engine.patch(pod, "second", transition=False))
    assert condition(stored(api, "a")) == {**first, "message": "second"}


async def test_forbidden_calls_the_right_into_question(api: FaultyApi, engine: Engine, dispatcher: Dispatcher) -> None:
    (pod,) = create(api, "a")
    api.fault("POST", BINDING, answer(403, "Forbidden"))
    await outcome(engine, dispatcher, engine.bind(pod, "n1"))
    assert [str(right) for right in engine.doubts] == ["create pods/binding in all namespaces"]


async def test_credentials_that_ran_out_are_no_fault_of_the_pod(
    api: FaultyApi, engine: Engine, dispatcher: Dispatcher
) -> None:
    (pod,) = create(api, "a")
    api.fault("POST", BINDING, answer(401, "Unauthorized"), times=4)
    bind = engine.bind(pod, "n1")
    dispatcher.submit(bind)
    await eventually(engine.problems.lines, "the problem is told")
    assert engine.problems.lines() == ["credentials: the server does not accept them (HTTP 401)"]
    await eventually(lambda: bind.effect_id in engine.ended, "it ends")
    assert engine.ended[bind.effect_id] == Done()
    assert engine.problems.lines() == []


async def test_at_a_graceful_stop_what_was_sent_may_end_and_nothing_else_is_sent(
    api: FaultyApi, engine: Engine, connect: Connect, start: Start
) -> None:
    dispatcher = start(connect(), 2)
    pods = create(api, "a", "b", "c")
    release = asyncio.Event()
    api.fault("POST", "/a/binding", hang_after)
    api.fault("POST", "/b/binding", held_until(release))
    effects = [engine.bind(pod, "n1") for pod in pods]
    for effect in effects:
        dispatcher.submit(effect)
    await eventually(lambda: api.count("POST", BINDING) == 2, "two are sent")
    stopping = asyncio.ensure_future(dispatcher.stop(within=0.5))
    release.set()
    await stopping
    assert isinstance(engine.ended[effects[0].effect_id], Unknown)
    assert engine.ended[effects[1].effect_id] == Done()
    assert node_of(api, "c") == ""
    assert dispatcher.in_flight == 0


async def test_at_most_as_many_calls_as_there_are_slots(
    api: FaultyApi, engine: Engine, connect: Connect, start: Start
) -> None:
    dispatcher = start(connect(), 4)
    pods = create(api, *(f"p{i}" for i in range(12)))
    api.fault("POST", BINDING, hang)
    for pod in pods:
        dispatcher.submit(engine.bind(pod, "n1"))
    await eventually(lambda: api.count("POST", BINDING) == 4, "four are sent")
    assert (dispatcher.in_flight, dispatcher.crowded) == (4, True)
    assert dispatcher.queued()["pod_binding"] == 8


async def test_the_real_server_refuses_as_expected(
    real_apiserver: ApiServer, connect_real: Connect, real_namespace: str, engine: Engine, start: Start
) -> None:
    dispatcher = start(connect_real(), 8)
    core = CoreV1Api(real_apiserver.admin)

    async def make(name: str, **spec: object) -> JsonObject:
        body = pod_json(name, namespace=real_namespace, scheduler="nobody", spec=dict(spec))
        made = await asyncio.to_thread(core.create_namespaced_pod, real_namespace, body)
        return {"metadata": {"uid": made.metadata.uid, "namespace": real_namespace, "name": name}}

    async def code_of(effect: Bind | PatchPodStatus) -> int:
        refused = await outcome(engine, dispatcher, effect)
        assert isinstance(refused, Refused), refused
        return refused.code

    pod, gated = await make("a"), await make("gated", schedulingGates=[{"name": "example.org/hold"}])
    stranger: JsonObject = {"metadata": {**object_at(pod, "metadata"), "uid": "f3f1ac5b-6d3e-4a0c-9f3c-3a8b0b0f7a11"}}
    absent: JsonObject = {"metadata": {**object_at(pod, "metadata"), "name": "absent"}}
    assert await code_of(engine.bind(stranger, "n1")) == 409
    assert await code_of(engine.bind(absent, "n1")) == 404
    assert await code_of(engine.bind(gated, "n1")) == 409
    assert await code_of(engine.bind(pod, "")) == 500
    assert await code_of(engine.patch(stranger, "no")) == 422
    assert await code_of(engine.patch(absent, "no")) == 404
    assert await outcome(engine, dispatcher, engine.read(absent)) == Found(None)

    assert await outcome(engine, dispatcher, engine.patch(pod, "0/1 nodes are available", nominated="n1")) == Done()
    assert await outcome(engine, dispatcher, engine.bind(pod, "n1", {"berth.dev/device": "3"})) == Done()
    assert await code_of(engine.bind(pod, "n2")) == 409
    found = await outcome(engine, dispatcher, engine.read(pod))
    assert isinstance(found, Found)
    assert found.pod
    assert found.pod.node_name == "n1"


async def test_the_real_server_merges_the_condition_and_keeps_others(
    real_apiserver: ApiServer, connect_real: Connect, real_namespace: str, engine: Engine, start: Start
) -> None:
    dispatcher = start(connect_real(), 8)
    core = CoreV1Api(real_apiserver.admin)
    body = pod_json("a", namespace=real_namespace, scheduler="nobody")
    made = await asyncio.to_thread(core.create_namespaced_pod, real_namespace, body)
    pod: JsonObject = {"metadata": {"uid": made.metadata.uid, "namespace": real_namespace, "name": "a"}}
    other = {"status": {"conditions": [{"type": "example.org/quota", "status": "True"}]}}
    await asyncio.to_thread(core.patch_namespaced_pod_status, "a", real_namespace, other)

    async def conditions() -> dict[str, Any]:
        read = await asyncio.to_thread(core.read_namespaced_pod_status, "a", real_namespace)
        return {c.type: c for c in read.status.conditions}

    assert await outcome(engine, dispatcher, engine.patch(pod, "first")) == Done()
    first = await conditions()
    assert set(first) == {"PodScheduled", "example.org/quota"}
    assert first["PodScheduled"].status == "False"
    assert first["PodScheduled"].observed_generation == 1
    assert first["PodScheduled"].last_transition_time
    assert await outcome(engine, dispatcher, engine.patch(pod, "second", transition=False)) == Done()
    second = await conditions()
    assert second["PodScheduled"].message == "second"
    assert second["PodScheduled"].last_transition_time == first["PodScheduled"].last_transition_time
