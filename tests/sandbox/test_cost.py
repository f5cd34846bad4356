"""The sandbox is cheap enough to sit under every scenario: well under a millisecond of CPU for each write."""

import time

from scheduler.sandbox.cluster import Cluster
from tests.sandbox.builders import binding, pod

_PODS = 500
_WATCHES = 50
_LIMIT_SECONDS = 0.001


def test_creating_and_binding_a_watched_pod_costs_less_than_a_millisecond(cluster: Cluster) -> None:
    watches = [cluster.watch("pods", cluster.revision, field_selector=f"spec.nodeName=n{n}") for n in range(_WATCHES)]
    begun = time.process_time()
    for number in range(_PODS):
        cluster.create("pods", pod(f"p{number}"))
        cluster.bind("default", f"p{number}", binding(f"p{number}", f"n{number % _WATCHES}"))
    spent = time.process_time() - begun
    assert sum(len(watch.drain()) for watch in watches) == _PODS
    assert spent / _PODS / 2 < _LIMIT_SECONDS
