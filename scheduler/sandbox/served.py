"""A sandbox that others may use: served over HTTP in real time, with fake kubelets, and a kubeconfig that leads to it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import yaml

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.http.app import serve
from scheduler.sandbox.http.housekeeping import keep_house
from scheduler.sandbox.kubelet import Kubelets, Pace


class RealClock:
    """The clock of a served sandbox: things happen in the event loop, at their time."""

    def wall(self) -> datetime:
        """The time of day."""
        return datetime.now(UTC)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Do something after a while."""
        asyncio.get_running_loop().call_later(seconds, action)


@dataclass(frozen=True, slots=True)
class Served:
    """A sandbox that is being served."""

    cluster: Cluster
    url: str
    kubeconfig: Path


@asynccontextmanager
async def served_sandbox(kubeconfig: Path, port: int, seed: int) -> AsyncIterator[Served]:
    """Serve an empty cluster on loopback while the context is open (port 0: a free one); writes the kubeconfig."""
    clock = RealClock()
    cluster = Cluster(clock.wall, seed)
    Kubelets(cluster, clock, Pace(admit=0.2, stop=0.5))
    async with serve(cluster, port=port) as url, keep_house(cluster):
        _write_kubeconfig(kubeconfig, url)
        yield Served(cluster, url, kubeconfig)


def _write_kubeconfig(path: Path, url: str) -> None:
    """Without credentials: kubectl sends none over plain HTTP, and what is served is a toy on loopback."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandbox", "cluster": {"server": url}}],
        "users": [{"name": "sandbox", "user": {}}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": "sandbox"}}],
        "current-context": "sandbox",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document))
