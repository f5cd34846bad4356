"""The node runs containers, the shipped image starts on it, and the shipped manifests make a scheduler."""

import pytest
from kubernetes.client import CoreV1Api

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.process import wait_until
from tests.node.images import BASE, BERTH
from tests.node.machine import NAME, Machine

pytestmark = [
    pytest.mark.node,
    pytest.mark.controlplane("kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"),
]
START_SECONDS = 60.0
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
    assert phase == "Succeeded", machine.logs("default", "help")
    assert "Usage: berth" in machine.logs("default", "help")
