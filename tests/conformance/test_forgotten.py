"""Both servers, made to forget, answer alike: the sandbox by compaction, the real one by a restart and a compacted etcd."""

import asyncio
import base64
from datetime import UTC, datetime

import aiohttp
import msgspec
import pytest

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.http.app import serve
from tests.conformance.stories.forgetting import versions_are_forgotten
from tests.conformance.teller import Server, teller_for
from tests.conformance.test_stories import compare
from tests.controlplane.apiserver import ApiServer


async def test_the_sandbox_forgets_as_the_real_server_did() -> None:
    cluster = Cluster(lambda: datetime.now(UTC))

    async def forget() -> None:
        cluster.compact()

    async with serve(cluster) as url, teller_for(Server(url)) as api:
        await versions_are_forgotten(api, forget)
    compare(versions_are_forgotten.__name__, api.told)


async def test_the_real_server_forgets_as_it_did(private_apiserver: ApiServer, request: pytest.FixtureRequest) -> None:
    server = Server(private_apiserver.url, private_apiserver.token, private_apiserver.ca_file)

    async def forget() -> None:
        await compact(private_apiserver.etcd_url)
        private_apiserver.kill()
        await asyncio.to_thread(private_apiserver.start)

    async with teller_for(server) as api:
        await versions_are_forgotten(api, forget)
    compare(versions_are_forgotten.__name__, api.told, record=request.config.getoption("--record", default=False))


async def compact(etcd_url: str) -> None:
    """Compact etcd up to now, over its JSON gateway."""
    async with aiohttp.ClientSession(etcd_url) as session:
        key = base64.b64encode(b"/").decode()
        async with session.post("/v3/kv/range", json={"key": key, "limit": 1}) as response:
            header = msgspec.json.decode(await response.read())["header"]
        async with session.post("/v3/kv/compaction", json={"revision": header["revision"]}) as response:
            assert response.status == 200, await response.text()
