"""One run: a fresh API server, nodes, a backlog of pods, one contender, and what it took."""

import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.cluster.contenders import CONTENDERS
from tests.bench.cluster.load import administrator, bound_pods, events_written, nodes, plain_pods, post_all
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import Binaries
from tests.controlplane.process import Process

STALLED_SECONDS = 120.0


@dataclass(frozen=True)
class Run:
    """From the first Binding seen to the last one, and on to the last Event; a process's own start is told apart.

    CPU is counted up to the last Event, so that putting Events off makes nobody cheaper.
    """

    pods_per_second: float
    pods_per_second_with_events: float
    events_missing: int
    start_seconds: float
    cpu_ms_per_pod: float | None
    server_cpu_ms_per_pod: float
    resident_mb: float | None


async def measure(name: str, node_count: int, pod_count: int) -> Run:
    """Bind `pod_count` pods that are there already to `node_count` nodes."""
    contender, scheduler = CONTENDERS[name]
    with (
        tempfile.TemporaryDirectory(prefix="berth-bench-") as folder,
        ApiServer(Binaries.locate(), Path(folder)) as server,
    ):
        async with administrator(server) as session:
            await post_all(session, nodes(node_count))
            await post_all(session, plain_pods(pod_count, scheduler))
            began = time.monotonic()
            async with (
                bound_pods(session) as counts,
                contender(server, session, node_count, pod_count) as process,
                asyncio.timeout(STALLED_SECONDS) as limit,
            ):
                meter = Meter(server.process, process)
                async for count in counts:
                    limit.reschedule(asyncio.get_running_loop().time() + STALLED_SECONDS)
                    if count == 1:
                        meter.begin()
                    if count == pod_count:
                        break
                bound = time.monotonic()
                events = await events_written(session, pod_count)
                return meter.end(pod_count, events, began, bound)


class Meter:
    """Time and CPU between two moments. None stands for a contender that is no process of its own."""

    def __init__(self, server: Process, contender: Process | None) -> None:
        self._server = server
        self._contender = contender
        self.begin()

    def begin(self) -> None:
        self._time = time.monotonic()
        self._server_cpu = self._server.cpu_seconds()
        self._cpu = self._contender.cpu_seconds() if self._contender else 0.0

    def end(self, pods: int, events: int, began: float, bound: float) -> Run:
        contender = self._contender
        return Run(
            pods_per_second=pods / (bound - self._time),
            pods_per_second_with_events=pods / (time.monotonic() - self._time),
            events_missing=max(0, pods - events),
            start_seconds=self._time - began,
            cpu_ms_per_pod=1000 * (contender.cpu_seconds() - self._cpu) / pods if contender else None,
            server_cpu_ms_per_pod=1000 * (self._server.cpu_seconds() - self._server_cpu) / pods,
            resident_mb=contender.resident_bytes() / 1e6 if contender else None,
        )
