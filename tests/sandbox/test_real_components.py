"""Kubernetes' own components take the sandbox for an API server: a real kube-scheduler binds, a real kubelet runs and refuses."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.fields import JsonObject, name_of, objects_at, text_at
from scheduler.sandbox.http.app import serve
from tests.controlplane.binaries import Binaries
from tests.controlplane.ports import free_port
from tests.controlplane.process import Process
from tests.sandbox.builders import pod
from tests.sandbox.kubectl import write_kubeconfig

pytestmark = pytest.mark.controlplane("kube-scheduler", "kubemark")
DEADLINE_SECONDS = 60.0
_JSON = "application/json"


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(lambda: datetime.now(UTC))


@pytest.fixture
async def kubeconfig(cluster: Cluster, tmp_path: Path) -> AsyncIterator[Path]:
    async with serve(cluster) as url:
        yield write_kubeconfig(tmp_path / "config", url)


async def until(cluster: Cluster, resource: str, condition: Callable[[], bool]) -> None:
    """Returns when the condition holds; looked at after each change of the resource."""
    changed = asyncio.Event()
    watch = cluster.watch(resource, cluster.revision, wake=changed.set)
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not condition():
                changed.clear()
                await changed.wait()
    finally:
        watch.close()


def cpu_pod(name: str, cpu: str) -> JsonObject:
    resources: JsonObject = {"requests": {"cpu": cpu}}
    return pod(name, containers=[{"name": "main", "image": "pause", "resources": resources}])


def kube_scheduler(kubeconfig: Path, binaries: Binaries) -> Process:
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "contentType": _JSON, "acceptContentTypes": _JSON},
        "leaderElection": {"leaderElect": False},
    }
    path = kubeconfig.parent / "scheduler.yaml"
    path.write_text(yaml.safe_dump(config))
    command: list[str | Path] = [binaries.path("kube-scheduler"), f"--config={path}", "--secure-port=0"]
    return Process(command, kubeconfig.parent / "kube-scheduler.log")


def kubelet(name: str, kubeconfig: Path, binaries: Binaries) -> Process:
    command: list[str | Path] = [
        binaries.path("kubemark"),
        "--morph=kubelet",
        f"--name={name}",
        f"--kubeconfig={kubeconfig}",
        f"--kubelet-port={free_port()}",
        "--kubelet-read-only-port=0",
        "--use-host-image-service=false",
        f"--kube-api-content-type={_JSON}",
    ]
    return Process(command, kubeconfig.parent / f"{name}.log")


async def test_a_real_scheduler_and_a_real_kubelet_work_on_the_sandbox(cluster: Cluster, kubeconfig: Path) -> None:
    binaries = Binaries.locate()

    def ready() -> bool:
        conditions = [c for node in cluster.list("nodes")[0] for c in objects_at(node, "status", "conditions")]
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    def states() -> dict[str, str]:
        pods = cluster.list("pods")[0]
        return {name_of(p): text_at(p, "status", "reason") or text_at(p, "status", "phase") for p in pods}

    def messages() -> list[str]:
        return [
            text_at(event, "message") for event in cluster.list("events", field_selector="reason=FailedScheduling")[0]
        ]

    with kubelet("hollow-1", kubeconfig, binaries), kube_scheduler(kubeconfig, binaries):
        await until(cluster, "nodes", ready)
        cluster.create("pods", cpu_pod("scheduled", "700m"))
        await until(cluster, "pods", lambda: states() == {"scheduled": "Running"})
        placed = cpu_pod("forced", "700m")
        placed["spec"] = {**spec_of(placed), "nodeName": "hollow-1"}
        cluster.create("pods", placed)
        await until(cluster, "pods", lambda: states()["forced"] == "OutOfcpu")
        cluster.create("pods", cpu_pod("waiting", "700m"))
        await until(
            cluster, "events", lambda: any("0/1 nodes are available: 1 Insufficient cpu." in m for m in messages())
        )
        cluster.delete("pods", "default", "scheduled")
        await until(cluster, "pods", lambda: states().get("waiting") == "Running")


def spec_of(obj: JsonObject) -> JsonObject:
    spec = obj["spec"]
    assert isinstance(spec, dict)
    return spec
