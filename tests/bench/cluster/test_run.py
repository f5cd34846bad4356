"""A benchmark nobody runs is soon broken: small runs of each way in which pods come, by each contender."""

import pytest

from tests.bench.cluster.arena import arena
from tests.bench.cluster.contenders import BERTH, CEILING, CONTENDERS, KUBE_SCHEDULER
from tests.bench.cluster.run import run
from tests.bench.cluster.workloads.catalog import WORKLOADS

pytestmark = pytest.mark.controlplane("kube-scheduler")

NODES = 20


async def test_a_backlog_is_worked_off_by_everybody_in_turn_on_one_api_server() -> None:
    workload = WORKLOADS["spread-hard"].sized(60)
    async with arena(NODES) as stage:
        for contender in [*CONTENDERS.values(), BERTH]:
            measured = await run(stage, workload, contender, 1)
            assert measured.pods_per_second >= measured.pods_per_second_with_events > 0
            assert measured.server_cpu_ms_per_pod > 0
            assert measured.events_missing == 0
            assert (measured.cpu_ms_per_pod is None) == (contender is CEILING)
            assert (measured.quality is None) == (contender is CEILING)


async def test_pods_may_arrive_finish_and_replace_each_other() -> None:
    async with arena(NODES) as stage:
        for name, count in (("churn", 250), ("rolling", 200), ("steady", 50), ("preemption", 10)):
            measured = await run(stage, WORKLOADS[name].sized(count), BERTH, 1)
            assert measured.latency_p99_ms >= measured.latency_p50_ms > 0


async def test_what_a_run_takes_away_is_put_back_for_the_next() -> None:
    workload = WORKLOADS["preemption"].sized(10)
    async with arena(NODES) as stage:
        for contender in (BERTH, KUBE_SCHEDULER):
            await run(stage, workload, contender, 1)
        namespace = await stage.prepare(workload)
        assert await stage.api.count("/api/v1/namespaces/population/pods") == NODES
        assert await stage.api.count(f"/api/v1/namespaces/{namespace}/pods") == 0
