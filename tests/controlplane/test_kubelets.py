"""Real kubelets: they run what is bound to them, and refuse what does not fit."""

import pytest
from kubernetes.client import CoreV1Api

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.components import hollow_nodes
from tests.controlplane.process import wait_until

pytestmark = pytest.mark.controlplane("kubemark")


def pod(name: str, node: str, cpu: str) -> dict[str, object]:
    container = {"name": "main", "image": "pause", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [container]}}


def test_a_kubelet_runs_what_fits_and_refuses_the_rest_with_out_of_cpu(private_apiserver: ApiServer) -> None:
    core = CoreV1Api(private_apiserver.admin)

    def statuses() -> dict[str, int]:
        found = [item.status for item in core.list_namespaced_pod("default").items]
        states = sorted(status.reason or status.phase for status in found)
        return {state: states.count(state) for state in states}

    with hollow_nodes(private_apiserver, "hollow-1", labels={"zone": "z1"}, extended_resources={"nvidia.com/gpu": 8}):
        node = core.read_node("hollow-1")
        assert node.metadata.labels["zone"] == "z1"
        assert node.status.allocatable["nvidia.com/gpu"] == "8"
        core.create_namespaced_pod("default", pod("first", "hollow-1", "700m"))
        core.create_namespaced_pod("default", pod("second", "hollow-1", "700m"))
        wait_until(lambda: statuses() == {"OutOfcpu": 1, "Running": 1}, 30, "one pod Running and one refused")
