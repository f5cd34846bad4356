"""A small mixed cluster and a mixed workload, for the demo: three zones, GPUs, a tainted node, a cordoned one."""

from collections.abc import Iterator, Mapping

from scheduler.sandbox.fields import JsonObject

GPU = "nvidia.com/gpu"
ZONE = "topology.kubernetes.io/zone"


def mixed_cluster() -> Iterator[JsonObject]:
    """Six CPU nodes and two GPU nodes in three zones, one node for databases only, one cordoned."""
    for i in range(6):
        yield _node(f"cpu-{i + 1}", zone="abc"[i % 3], cpu="8", memory="32Gi")
    for i in range(2):
        yield _node(f"gpu-{i + 1}", zone="ab"[i], cpu="16", memory="128Gi", resources={GPU: "4"})
    database = _node("db-1", zone="c", cpu="16", memory="256Gi", labels={"disk": "nvme"})
    yield {**database, "spec": {"taints": [{"key": "dedicated", "value": "database", "effect": "NoSchedule"}]}}
    yield {**_node("old-1", zone="a", cpu="8", memory="32Gi"), "spec": {"unschedulable": True}}


def mixed_workload() -> Iterator[JsonObject]:
    """Services, batch, training on GPUs, a database; and pods that cannot be placed, each for another reason."""
    for i in range(12):
        yield _pod(f"web-{i}", "web", cpu="500m", memory="512Mi")
    for i in range(10):
        yield _pod(f"align-{i}", "genomics", cpu="2", memory="4Gi")
    for i in range(6):
        yield _pod(f"train-{i}", "training", cpu="2", memory="16Gi", resources={GPU: "1"})
    toleration: JsonObject = {"key": "dedicated", "operator": "Equal", "value": "database", "effect": "NoSchedule"}
    spec: JsonObject = {"tolerations": [toleration], "nodeSelector": {"disk": "nvme"}}
    yield _pod("postgres-0", "database", cpu="8", memory="64Gi", spec=spec)
    yield _pod("train-big", "training", cpu="4", memory="64Gi", resources={GPU: "8"})
    yield _pod("cache-0", "database", cpu="1", memory="4Gi", spec={"nodeSelector": {"disk": "nvme"}})
    yield _pod("report-0", "batch", cpu="1", memory="1Gi", spec={"schedulingGates": [{"name": "example.com/approval"}]})


def _node(
    name: str,
    *,
    zone: str,
    cpu: str,
    memory: str,
    labels: Mapping[str, str] | None = None,
    resources: Mapping[str, str] | None = None,
) -> JsonObject:
    amounts: JsonObject = {"cpu": cpu, "memory": memory, "pods": "110", **(resources or {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, ZONE: f"zone-{zone}", **(labels or {})}},
        "status": {
            "capacity": {**amounts},
            "allocatable": {**amounts},
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def _pod(
    name: str,
    app: str,
    *,
    cpu: str,
    memory: str,
    resources: Mapping[str, str] | None = None,
    spec: JsonObject | None = None,
) -> JsonObject:
    requests: JsonObject = {"cpu": cpu, "memory": memory, **(resources or {})}
    container: JsonObject = {
        "name": "main",
        "image": f"registry.example/{app}:1",
        "resources": {"requests": requests, "limits": {**(resources or {})}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app}},
        "spec": {"schedulerName": "berth", "containers": [container], **(spec or {})},
    }
