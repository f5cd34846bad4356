"""Other people's clients work against the sandbox: the official one, and kopf."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Self

import kopf
import pytest
from kubernetes import client, watch
from kubernetes.dynamic import DynamicClient

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.fields import JsonObject, text_at, value_at
from scheduler.sandbox.http.app import serve
from tests.sandbox.builders import node, pod


class ServedCluster:
    """A sandbox on a thread of its own, for clients that block. `do` runs a function where the cluster may be touched."""

    def __init__(self) -> None:
        self.cluster = Cluster(lambda: datetime.now(UTC))
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(10)
        self._loop.close()

    async def _serve(self) -> None:
        async with serve(self.cluster) as self.url:
            self._ready.set()
            await self._ended.wait()


@pytest.fixture
def served() -> Iterator[ServedCluster]:
    with ServedCluster() as server:
        yield server


@pytest.fixture
def api(served: ServedCluster) -> Iterator[client.ApiClient]:
    with client.ApiClient(client.Configuration(host=served.url)) as connected:
        yield connected


def test_the_official_client_creates_lists_patches_and_deletes(api: client.ApiClient) -> None:
    core = client.CoreV1Api(api)
    core.create_node(node("n1"))
    core.create_namespaced_pod("default", pod("p"))
    core.patch_namespaced_pod("p", "default", {"metadata": {"labels": {"a": "b"}}})
    (listed,) = core.list_namespaced_pod("default", label_selector="a=b").items
    assert (listed.metadata.name, listed.status.phase) == ("p", "Pending")
    core.delete_namespaced_pod("p", "default")
    with pytest.raises(client.ApiException) as missing:
        core.read_namespaced_pod("p", "default")
    assert missing.value.status == 404


def test_the_official_client_watches(api: client.ApiClient) -> None:
    core = client.CoreV1Api(api)
    version = core.list_namespaced_pod("default").metadata.resource_version
    core.create_namespaced_pod("default", pod("p"))
    core.delete_namespaced_pod("p", "default")
    events = watch.Watch().stream(core.list_namespaced_pod, "default", resource_version=version, timeout_seconds=1)
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]


def test_the_official_client_holds_a_lease(api: client.ApiClient) -> None:
    leases = client.CoordinationV1Api(api)
    now = datetime.now(UTC)
    spec = client.V1LeaseSpec(holder_identity="a", lease_duration_seconds=15, acquire_time=now, renew_time=now)
    body = client.V1Lease(metadata=client.V1ObjectMeta(name="l"), spec=spec)
    held = leases.create_namespaced_lease("default", body)
    held.spec.holder_identity = "b"
    renewed = leases.replace_namespaced_lease("l", "default", held)
    assert renewed.spec.holder_identity == "b"
    with pytest.raises(client.ApiException) as stale:
        leases.replace_namespaced_lease("l", "default", held)
    assert stale.value.status == 409


def test_the_dynamic_client_finds_everything_by_discovery(api: client.ApiClient) -> None:
    dynamic = DynamicClient(api)
    budgets = dynamic.resources.get(api_version="policy/v1", kind="PodDisruptionBudget")
    budgets.create(body={"metadata": {"name": "b"}, "spec": {"minAvailable": 1}}, namespace="default")
    assert [found.metadata.name for found in budgets.get(namespace="default").items] == ["b"]


@pytest.fixture
async def local() -> AsyncIterator[tuple[Cluster, str]]:
    cluster = Cluster(lambda: datetime.now(UTC))
    async with serve(cluster) as url:
        yield cluster, url


async def test_kopf_handles_a_custom_resource(local: tuple[Cluster, str]) -> None:
    cluster, url = local
    cluster.create("crds", _definition())
    registry = kopf.OperatorRegistry()
    handled = asyncio.Event()

    @kopf.on.login(registry=registry)
    def login(**_: object) -> kopf.ConnectionInfo:
        return kopf.ConnectionInfo(server=url, priority=0)

    @kopf.on.create("example.org", "v1", "widgets", registry=registry)
    async def created(patch: kopf.Patch, spec: kopf.Spec, **_: object) -> None:
        patch.status["seen"] = spec["size"]
        handled.set()

    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    stop = asyncio.Event()
    operator = asyncio.create_task(
        kopf.operator(registry=registry, settings=settings, standalone=True, clusterwide=True, stop_flag=stop)
    )
    changed = asyncio.Event()
    widgets = cluster.watch("widgets", cluster.revision, wake=changed.set)
    cluster.create("widgets", {"metadata": {"name": "w"}, "spec": {"size": 3}})
    async with asyncio.timeout(30):
        await handled.wait()
        while value_at(cluster.get("widgets", "default", "w"), "status", "seen") != 3:
            changed.clear()
            await changed.wait()
    widgets.close()
    stop.set()
    await operator
    last_handled = "kopf.zalando.org/last-handled-configuration"
    assert '"size":3' in text_at(cluster.get("widgets", "default", "w"), "metadata", "annotations", last_handled)


def _definition() -> JsonObject:
    schema: JsonObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version: JsonObject = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    return {
        "metadata": {"name": "widgets.example.org"},
        "spec": {
            "group": "example.org",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version],
        },
    }
