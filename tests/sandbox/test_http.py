"""What only a server has to say: who may ask, and how an answer looks on the wire."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import aiohttp
import pytest

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.http.app import serve
from tests.sandbox.builders import pod

PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(lambda: datetime.now(UTC))


@pytest.fixture
async def session(cluster: Cluster) -> AsyncIterator[aiohttp.ClientSession]:
    async with serve(cluster) as url, aiohttp.ClientSession(url) as session:
        yield session


async def test_a_token_is_asked_for_when_there_are_tokens(cluster: Cluster) -> None:
    async with serve(cluster, tokens={"secret"}) as url, aiohttp.ClientSession(url) as session:
        for headers, code in (
            ({}, 401),
            ({"Authorization": "Bearer other"}, 401),
            ({"Authorization": "Bearer secret"}, 200),
        ):
            async with session.get(PODS, headers=headers) as response:
                assert response.status == code
        async with session.get("/readyz") as probe:
            assert probe.status == 200


async def test_tokens_can_be_changed_while_serving(cluster: Cluster) -> None:
    tokens = {"old"}
    async with serve(cluster, tokens=tokens) as url, aiohttp.ClientSession(url) as session:
        tokens.add("new")
        tokens.remove("old")
        async with session.get(PODS, headers={"Authorization": "Bearer old"}) as response:
            assert (response.status, (await response.json())["reason"]) == (401, "Unauthorized")


async def test_a_budget_that_says_later_says_when(cluster: Cluster, session: aiohttp.ClientSession) -> None:
    guarded = pod("p")
    guarded["metadata"] = {"name": "p", "labels": {"app": "x"}}
    cluster.create("pods", guarded)
    cluster.patch(
        "pods", "default", "p", {"status": {"phase": "Running"}}, "application/merge-patch+json", subresource="status"
    )
    cluster.create("pdb", {"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": {"app": "x"}}}})
    async with session.post(f"{PODS}/p/eviction", json={"metadata": {"name": "p"}}) as response:
        assert (response.status, response.headers["Retry-After"]) == (429, "10")


async def test_a_body_that_is_no_object_is_refused(session: aiohttp.ClientSession) -> None:
    for body in (b"{", b"[]", b"text", b""):
        async with session.post(PODS, data=body, headers={"Content-Type": "application/json"}) as response:
            assert response.status == 400, body


async def test_a_parameter_that_is_no_number_is_refused(session: aiohttp.ClientSession) -> None:
    for method, name in (("GET", "limit"), ("DELETE", "gracePeriodSeconds")):
        async with session.request(method, PODS, params={name: "many"}) as response:
            assert response.status == 400, name


async def test_yaml_is_taken(cluster: Cluster, session: aiohttp.ClientSession) -> None:
    manifest = "metadata: {name: p}\nspec:\n  containers: [{name: c, image: i}]\n"
    async with session.post(PODS, data=manifest, headers={"Content-Type": "application/yaml"}) as response:
        assert response.status == 201
    assert cluster.get("pods", "default", "p")


async def test_protobuf_alone_is_not_acceptable(session: aiohttp.ClientSession) -> None:
    async with session.get(PODS, headers={"Accept": "application/vnd.kubernetes.protobuf"}) as response:
        assert response.status == 406


async def test_a_watch_ends_when_the_server_does(cluster: Cluster) -> None:
    async with aiohttp.ClientSession() as session:
        async with serve(cluster) as url:
            response = await session.get(f"{url}{PODS}", params={"watch": "1"})
            assert response.status == 200
        assert await response.content.read() == b""


async def test_a_watch_that_the_client_leaves_is_forgotten(cluster: Cluster, session: aiohttp.ClientSession) -> None:
    listeners = cluster.registry.store.collection("pods.").listeners
    async with session.get(PODS, params={"watch": "1", "timeoutSeconds": "1"}) as response:
        assert len(listeners) == 1
        await response.content.read()
    assert listeners == []
