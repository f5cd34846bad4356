"""One run: a contender schedules a workload, with the clock on."""

import asyncio
import time
from dataclasses import dataclass

import numpy as np

from tests.bench.cluster.arena import Arena, measured, unschedulable
from tests.bench.cluster.checks import check
from tests.bench.cluster.contenders import Contender
from tests.bench.cluster.log import Log
from tests.bench.cluster.meter import Reading, read
from tests.bench.cluster.plays import Stage, play
from tests.bench.cluster.quality import quality
from tests.bench.cluster.results import Run
from tests.bench.cluster.workloads.bodies import pod
from tests.bench.cluster.workloads.model import Backlog, Workload


async def run(arena: Arena, workload: Workload, contender: Contender, round_number: int) -> Run:
    """Run once and check the outcome. Raises StalledError and BrokenRuleError."""
    namespace = await arena.prepare(workload)
    stage = Stage(arena.api, namespace, Log())
    try:
        if isinstance(workload.play, Backlog):
            await stage.create_all(measured(workload, contender.scheduler))
        async with arena.api.bound(namespace) as names:
            following = asyncio.create_task(stage.log.follow(names))
            try:
                timing = await _timed(arena, stage, workload, contender)
            finally:
                following.cancel()
        return await _judged(arena, stage, workload, timing, (contender.name, round_number))
    finally:
        await arena.clear(namespace)


@dataclass(frozen=True)
class _Timing:
    """When the contender was started, the meters at both ends, missing Events, and memory if it is a process."""

    started: float
    first: Reading
    last: Reading
    events_missing: int
    resident: int | None
    peak: int | None


async def _timed(arena: Arena, stage: Stage, workload: Workload, contender: Contender) -> _Timing:
    started = time.monotonic()
    async with contender.start(arena, workload, stage.namespace) as process:
        if isinstance(workload.play, Backlog):
            await stage.log.pods(1)
            first = read(arena.server, process)
            await stage.log.pods(workload.count)
        else:
            await _get_ready(arena, stage, workload, contender)
            first = read(arena.server, process)
            await _let_come(stage, workload, contender)
        expected = len(stage.log.bound) + workload.in_front
        events = await arena.events(stage.namespace, expected)
        return _Timing(
            started,
            first,
            read(arena.server, process),
            max(0, expected - events),
            process.resident_bytes() if process else None,
            process.peak_bytes() if process else None,
        )


async def _get_ready(arena: Arena, stage: Stage, workload: Workload, contender: Contender) -> None:
    """The contender has bound a pod, and has tried in vain what is to be settled before, and said so."""
    if workload.settled:
        await stage.create_all(unschedulable(workload.in_front, contender.scheduler))
        await arena.told(stage.namespace, workload.in_front)
    probe = pod(0, schedulerName=contender.scheduler)
    probe["metadata"]["name"] = "probe"
    await stage.create(probe)
    await stage.log.pod("probe")


async def _let_come(stage: Stage, workload: Workload, contender: Contender) -> None:
    if not workload.settled:
        await stage.create_all(unschedulable(workload.in_front, contender.scheduler))
    await play(stage, workload, measured(workload, contender.scheduler))


async def _judged(arena: Arena, stage: Stage, workload: Workload, timing: _Timing, who: tuple[str, int]) -> Run:
    """What it comes to, once the placements have been looked at."""
    log, backlog = stage.log, isinstance(workload.play, Backlog)
    is_process = timing.resident is not None
    placements = await arena.placements()
    if is_process:
        check(placements, workload, stage.namespace)
    bound = [log.bound[name] for name in log.order]
    began = min(bound) if backlog else timing.first.wall
    waits = [log.bound[name] - (began if backlog else log.made[name]) for name in log.order]
    spent = timing.last - timing.first
    each = 1000 / workload.count
    return Run(
        contender=who[0],
        round=who[1],
        pods=workload.count,
        seconds=max(bound) - began,
        seconds_with_events=timing.last.wall - began,
        events_missing=timing.events_missing,
        start_seconds=min(log.bound.values()) - timing.started if is_process else None,
        latency_p50_ms=1000 * float(np.percentile(waits, 50)),
        latency_p99_ms=1000 * float(np.percentile(waits, 99)),
        cpu_ms_per_pod=each * spent.contender if is_process else None,
        server_cpu_ms_per_pod=each * spent.server,
        etcd_cpu_ms_per_pod=each * spent.etcd,
        resident_mb=timing.resident / 1e6 if timing.resident is not None else None,
        peak_mb=timing.peak / 1e6 if timing.peak is not None else None,
        quality=quality(placements, stage.namespace) if is_process else None,
    )
