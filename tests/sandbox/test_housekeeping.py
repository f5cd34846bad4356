"""What a served cluster does by itself."""

import asyncio
from datetime import UTC, datetime

import pytest

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import ApiError, Status
from scheduler.sandbox.fields import text_at
from scheduler.sandbox.http.housekeeping import keep_house
from tests.sandbox.builders import binding, pod


async def test_a_deleted_namespace_goes_when_its_last_pod_has_stopped() -> None:
    cluster = Cluster(lambda: datetime.now(UTC))
    cluster.create("namespaces", {"metadata": {"name": "team"}})
    cluster.create("configmaps", {"metadata": {"name": "c", "namespace": "team"}})
    cluster.create("pods", pod("p", "team"))
    cluster.bind("team", "p", binding("p", "n1"))
    async with keep_house(cluster):
        cluster.delete("namespaces", None, "team")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert cluster.list("configmaps", "team")[0] == []
        assert text_at(cluster.get("namespaces", None, "team"), "status", "phase") == "Terminating"
        cluster.delete("pods", "team", "p", grace_period=0)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    with pytest.raises(ApiError) as gone:
        cluster.get("namespaces", None, "team")
    assert gone.value.code == 404


async def test_old_versions_are_forgotten() -> None:
    cluster = Cluster(lambda: datetime.now(UTC))
    changed = asyncio.Event()
    watch = cluster.watch("pods", cluster.revision, wake=changed.set)
    cluster.create("pods", pod("p"))
    changed.clear()
    async with keep_house(cluster, compaction_seconds=0.001), asyncio.timeout(10):
        await changed.wait()
    (event,) = watch.drain()
    assert isinstance(event.object, Status)
    assert event.object.code == 410
