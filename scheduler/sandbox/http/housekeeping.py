"""What goes on by itself in a cluster that runs for long: old versions are forgotten, terminating namespaces are emptied."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from scheduler.sandbox.cluster import Cluster

COMPACTION_SECONDS = 300.0  # kube-apiserver's --etcd-compaction-interval


@asynccontextmanager
async def keep_house(cluster: Cluster, compaction_seconds: float = COMPACTION_SECONDS) -> AsyncIterator[None]:
    """Keep a served cluster tidy while the context is open.

    Each interval forgets the versions that were there when the last one ended. A namespace that is deleted goes as soon as all in
    it is gone.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_forget(cluster, compaction_seconds)), group.create_task(_empty_namespaces(cluster))]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def _forget(cluster: Cluster, seconds: float) -> None:
    revision = cluster.revision
    while True:
        await asyncio.sleep(seconds)
        cluster.compact(revision)
        revision = cluster.revision


async def _empty_namespaces(cluster: Cluster) -> None:
    """Looks again whenever a namespace or a pod has changed: pods on nodes are what a namespace has to wait for."""
    changed = asyncio.Event()
    watches = [cluster.watch(resource, cluster.revision, wake=changed.set) for resource in ("namespaces", "pods")]
    try:
        while True:
            cluster.empty_terminating_namespaces()
            changed.clear()
            await changed.wait()
    finally:
        for watch in watches:
            watch.close()
