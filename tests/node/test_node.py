"""The node runs containers, the shipped image starts on it, and the shipped manifests make a scheduler."""

import pytest
from kubernetes.client import AppsV1Api, CoreV1Api

from tests.apiserver.audit import AuditLog
from tests.apiserver.stage import user
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.kubectl import MANIFESTS, kubectl
from tests.controlplane.process import wait_until
from tests.node.images import BASE, BERTH
from tests.node.machine import NAME, Machine

pytestmark = [
    pytest.mark.node,
    pytest.mark.controlplane("kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"),
]
START_SECONDS = 60.0
WORK = {"app": "work"}
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
}


def container(image: str, *args: str) -> dict[str, object]:
    return {"name": "main", "image": image, "imagePullPolicy": "Never", "args": [*args]}


def phase_of(server: ApiServer, name: str) -> str:
    return str(CoreV1Api(server.admin).read_namespaced_pod(name, "default").status.phase)


def test_a_pod_bound_by_hand_runs(cluster: ApiServer, machine: Machine) -> None:
    pod = {"metadata": {"name": "sleeper"}, "spec": {"nodeName": NAME, "containers": [container(BASE)]}}
    CoreV1Api(cluster.admin).create_namespaced_pod("default", pod)
    wait_until(lambda: phase_of(cluster, "sleeper") == "Running", START_SECONDS, "sleeper Running")


def test_the_image_runs_without_root_and_without_writing(cluster: ApiServer, machine: Machine) -> None:
    main = {**container(BERTH, "--help"), "securityContext": RESTRICTED}
    pod = {"metadata": {"name": "help"}, "spec": {"nodeName": NAME, "restartPolicy": "Never", "containers": [main]}}
    CoreV1Api(cluster.admin).create_namespaced_pod("default", pod)
    phase = wait_until(
        lambda: phase if (phase := phase_of(cluster, "help")) in ("Succeeded", "Failed") else None,
        START_SECONDS,
        "the container has ended",
    )
    assert phase == "Succeeded"
    assert "Usage: berth" in "".join(log.read_text() for log in machine.log_files() if "default_help" in str(log))


def test_berth_as_shipped_binds_pods_that_then_run(cluster: ApiServer, machine: Machine, audit: AuditLog) -> None:
    kubectl(cluster, "apply", "-k", str(MANIFESTS / "crds"))
    kubectl(cluster, "wait", "crd/schedulers.berth.dev", "--for=condition=Established", "--timeout=30s")
    kubectl(cluster, "apply", "-f", str(MANIFESTS / "examples" / "scheduler.yaml"))
    kubectl(cluster, "apply", "-k", str(MANIFESTS / "overlays" / "node-test"))
    kubectl(cluster, "-n", "berth-system", "wait", "deployment/berth", "--for=condition=Available", "--timeout=90s")

    template = {"metadata": {"labels": WORK}, "spec": {"schedulerName": "berth", "containers": [container(BASE)]}}
    work = {"replicas": 3, "selector": {"matchLabels": WORK}, "template": template}
    AppsV1Api(cluster.admin).create_namespaced_deployment("default", {"metadata": {"name": "work"}, "spec": work})

    def running() -> set[str]:
        pods = CoreV1Api(cluster.admin).list_namespaced_pod("default", label_selector="app=work").items
        return {pod.metadata.name for pod in pods if pod.status.phase == "Running"}

    wait_until(lambda: len(running()) == 3, START_SECONDS, "three pods Running")
    bound = {entry["objectRef"]["name"] for entry in audit.bindings(user("berth"))}
    assert bound == running()

    shown = "jsonpath={.status.boundHere}"
    wait_until(
        lambda: kubectl(cluster, "get", "scheduler/berth", "-o", shown) == "3", 30, "the Scheduler shows 3 bound"
    )
    kubectl(cluster, "wait", "scheduler/berth", "--for=condition=Ready", "--timeout=30s")
