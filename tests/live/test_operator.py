"""The Scheduler object: followed by kopf, its status written by the leader, and scheduling independent of both."""

import asyncio
import pwd
from typing import NoReturn

import pytest
import yaml

from scheduler.config import LeaderElection
from scheduler.live.scheduler_object import GROUP, PLURAL, VERSION
from scheduler.sandbox.fields import JsonObject, object_at, objects_at, text_at
from tests.builders import node_json, pod_json
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import ROOT
from tests.controlplane.kubectl import kubectl
from tests.live.berth import Start
from tests.live.faulty import FaultyApi, answer
from tests.live.waiting import eventually

DEFINITION = ROOT / "manifests" / "crds" / "schedulers.berth.dev.yaml"
RESOURCE = f"{PLURAL}.{GROUP}"


def define(api: FaultyApi) -> None:
    api.cluster.create("crds", yaml.safe_load(DEFINITION.read_text()))


def scheduler(name: str = "berth") -> JsonObject:
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Scheduler", "metadata": {"name": name}, "spec": {}}


def status(api: FaultyApi, name: str = "berth") -> JsonObject:
    return object_at(api.cluster.get(RESOURCE, None, name), "status")


def condition(api: FaultyApi, kind: str) -> JsonObject:
    return next((c for c in objects_at(status(api), "conditions") if c["type"] == kind), {})


async def test_the_status_shows_what_the_scheduler_does(api: FaultyApi, start: Start) -> None:
    define(api)
    api.cluster.create(RESOURCE, scheduler())
    api.cluster.create("nodes", node_json("n1", "2"))
    berth = start()
    api.cluster.create("pods", pod_json("a", "1"))
    api.cluster.create("pods", pod_json("big", "2"))
    await eventually(lambda: status(api).get("bound") == 1, "the status is written")
    shown = status(api)
    assert shown["nodes"] == 1
    assert shown["profiles"] == ["berth"]
    assert shown["observedGeneration"] == 1
    assert shown["leader"] == berth.parts.leadership.holder
    assert shown["pending"] == {"active": 0, "backoff": 0, "unschedulable": 1, "gated": 0}
    assert condition(api, "Ready")["status"] == "True"
    assert condition(api, "Synced")["status"] == "True"


async def test_nothing_else_of_the_object_is_touched(api: FaultyApi, start: Start) -> None:
    define(api)
    api.cluster.create(RESOURCE, scheduler())
    api.cluster.create(RESOURCE, scheduler("others"))
    start()
    await eventually(lambda: status(api), "the status is written")
    metadata = object_at(api.cluster.get(RESOURCE, None, "berth"), "metadata")
    assert "finalizers" not in metadata
    assert "annotations" not in metadata
    assert status(api, "others") == {}
    assert all(method in ("GET", "PATCH") for method, path in api.requests if RESOURCE in path or PLURAL in path)


def settled(api: FaultyApi) -> bool:
    well = all(condition(api, kind).get("status") == "True" for kind in ("Ready", "Synced"))
    return well and bool(status(api).get("leader"))


async def test_a_status_that_has_not_changed_is_not_written(api: FaultyApi, start: Start) -> None:
    define(api)
    api.cluster.create(RESOURCE, scheduler())
    berth = start()
    await eventually(lambda: berth.leads and settled(api), "there is nothing new to tell any more")
    writes = berth.parts.status_writer
    # The answer to the write that is seen may be on its way still.
    await writes.write()
    before = api.count("PATCH", PLURAL)
    for _ in range(3):
        await writes.write()
    assert api.count("PATCH", PLURAL) == before


async def test_without_the_definition_pods_are_placed_and_it_may_come_later(api: FaultyApi, start: Start) -> None:
    api.cluster.create("nodes", node_json("n1"))
    start()
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: text_at(api.cluster.get("pods", "default", "a"), "spec", "nodeName"), "the pod is bound")
    define(api)
    api.cluster.create(RESOURCE, scheduler())
    await eventually(lambda: status(api), "the status is written")


async def test_kopf_may_fail_and_is_started_again(api: FaultyApi, start: Start) -> None:
    define(api)
    api.cluster.create(RESOURCE, scheduler())
    api.cluster.create("nodes", node_json("n1"))
    api.fault("GET", f"/{PLURAL}", answer(403, "Forbidden"), times=1)
    berth = start()
    api.cluster.create("pods", pod_json("a", "1"))
    await eventually(lambda: text_at(api.cluster.get("pods", "default", "a"), "spec", "nodeName"), "bound all the same")
    await eventually(lambda: status(api), "the status is written")
    assert not berth.status.done()


async def test_a_user_without_a_name_will_do(api: FaultyApi, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_user_id: int) -> NoReturn:
        raise KeyError("uid not found")

    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    define(api)
    api.cluster.create(RESOURCE, scheduler())
    start()
    await eventually(lambda: status(api), "the status is written")


@pytest.mark.controlplane("kubectl")
async def test_kubectl_shows_it_on_a_real_api_server(
    real_apiserver: ApiServer, real_namespace: str, start_real: Start
) -> None:
    async def ask(*args: str) -> str:
        return await asyncio.to_thread(kubectl, real_apiserver, *args)

    await ask("apply", "-k", str(DEFINITION.parent))
    await ask("wait", "--for=condition=Established", f"crd/{RESOURCE}")
    await ask("apply", "-f", str(ROOT / "manifests" / "examples" / "scheduler.yaml"))
    start_real(LeaderElection(True, 3.0, 2.0, 0.5, "berth", real_namespace))
    await ask("wait", "--for=condition=Ready", f"{PLURAL}/berth", "--timeout=20s")
    table = await ask("get", PLURAL, "-o", "wide")
    head, row = table.splitlines()
    assert head.split() == [
        *("NAME", "READY", "NODES", "ACTIVE", "BACKOFF", "UNSCHEDULABLE", "GATED", "BOUND"),
        *("CONFIGURED", "LEADER", "PROFILES", "LAST-DECISION", "AGE"),
    ]
    assert row.split()[:2] == ["berth", "True"]
    await ask("delete", "crd", RESOURCE)
