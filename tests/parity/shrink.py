"""Makes a cluster on which the schedulers differ as small as it gets, by leaving out whatever the difference does not need."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.builders import JsonObject
from tests.parity.cluster import Cluster


def shrunk(cluster: Cluster, differs: Callable[[Cluster], bool]) -> Cluster:
    """The smallest cluster that is found by leaving things out one by one."""
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(cluster):
            if differs(candidate):
                cluster, smaller = candidate, True
                break
    return cluster


def _smaller(cluster: Cluster) -> Iterator[Cluster]:
    """Halves first, then single things."""
    running, nodes, objects = cluster.running, cluster.nodes, cluster.objects
    if len(running) > 3:
        yield replace(cluster, running=running[: len(running) // 2])
        yield replace(cluster, running=running[len(running) // 2 :])
    for i in range(len(nodes)):
        gone = nodes[i]["metadata"]["name"]
        stay = tuple(pod for pod in running if pod["spec"].get("nodeName") != gone)
        yield replace(cluster, nodes=nodes[:i] + nodes[i + 1 :], running=stay)
    for i in range(len(running)):
        yield replace(cluster, running=running[:i] + running[i + 1 :])
    for i in range(len(objects)):
        yield replace(cluster, objects=objects[:i] + objects[i + 1 :])
    (asked,) = cluster.asked
    for simpler in _simpler(asked):
        yield replace(cluster, asked=(simpler,))


def _simpler(pod: JsonObject) -> Iterator[JsonObject]:
    """The pod without one field of its spec, or without one of its labels."""
    spec, labels = pod["spec"], pod["metadata"].get("labels", {})
    for key in spec.keys() - {"containers", "schedulerName"}:
        yield {**pod, "spec": {k: v for k, v in spec.items() if k != key}}
    for key in labels:
        rest = {k: v for k, v in labels.items() if k != key}
        yield {**pod, "metadata": {**pod["metadata"], "labels": rest}}
