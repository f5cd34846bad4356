"""Nodes and pods as JSON."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.bench.cluster.workloads.model import HOST, ZONE, ZONES, JsonObject

IMAGES = 5
_IMAGE_BYTES = 900 * 2**20
PRIORITY = "bench-high"
POPULATION = "population"


def node(number: int) -> JsonObject:
    """A node of the size that kube-scheduler's own suite uses (node-default.yaml). Every tenth holds an image of the pods."""
    name = f"node-{number:05d}"
    labels = {HOST: name, ZONE: f"zone-{number % ZONES}", "disk": "fast" if number % 4 else "slow"}
    room = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    images = [{"names": [image(number // 10 % IMAGES)], "sizeBytes": _IMAGE_BYTES}] if number % 10 == 0 else []
    status = {
        "capacity": room,
        "allocatable": room,
        "conditions": [{"type": "Ready", "status": "True"}],
        "images": images,
    }
    return {"metadata": {"name": name, "labels": labels}, "status": status}


def image(number: int) -> str:
    """The image of an app."""
    return f"registry.k8s.io/app-{number}:1.0"


def pod(number: int, apps: int = 5, *, cpu: int = 0, memory: int = 0, **spec: Any) -> JsonObject:
    """A pod of one of these apps, each of another size unless one is given (mCPU, MiB)."""
    app = number % apps
    size = app % 5 + 1
    requests = {"cpu": f"{cpu or 50 * size + app // 5}m", "memory": f"{memory or 100 * size}Mi"}
    container = {"name": "main", "image": image(app % IMAGES), "resources": {"requests": requests}}
    return {
        "metadata": {"name": f"pod-{number:05d}", "labels": {"app": f"app-{app}"}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }


def apps_of(apps: int, spec: Callable[[str], JsonObject]) -> Callable[[int], JsonObject]:
    """Pods of so many apps; `spec` is what an app's pods say beside their size."""
    return lambda number: pod(number, apps, **spec(f"app-{number % apps}"))


def running(each: Callable[[int], JsonObject], per_node: int = 1) -> Callable[[int], Iterator[JsonObject]]:
    """Pods that are on nodes already, so many on each."""

    def population(nodes: int) -> Iterator[JsonObject]:
        for number in range(nodes * per_node):
            made = each(number)
            made["metadata"]["name"] = f"old-{number:06d}"
            made["spec"]["nodeName"] = f"node-{number % nodes:05d}"
            yield made

    return population
