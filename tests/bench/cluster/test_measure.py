"""A benchmark nobody runs is soon broken: one small run of each contender that is there."""

import asyncio

import pytest

from tests.bench.cluster.contenders import CONTENDERS
from tests.bench.cluster.measure import measure

pytestmark = pytest.mark.controlplane("kube-scheduler")


@pytest.mark.parametrize("name", sorted(CONTENDERS))
def test_a_small_backlog_is_measured(name: str) -> None:
    run = asyncio.run(measure(name, node_count=20, pod_count=300))
    assert run.pods_per_second > 0
    assert run.server_cpu_ms_per_pod > 0
    assert (run.cpu_ms_per_pod is None) == (name == "ceiling")
