"""The companions: controllers make pods from a Deployment, and kube-scheduler binds them."""

import pytest
from kubernetes.client import AppsV1Api, CoreV1Api

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.components import controller_manager, kube_scheduler
from tests.controlplane.process import wait_until

pytestmark = pytest.mark.controlplane("kube-controller-manager", "kube-scheduler")

LABELS = {"app": "web"}
DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "web", "image": "pause"}]}},
    },
}
NODE = {
    "metadata": {"name": "node-1"},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}


def test_pods_of_a_deployment_are_made_and_bound(private_apiserver: ApiServer) -> None:
    core = CoreV1Api(private_apiserver.admin)
    core.create_node(NODE)
    AppsV1Api(private_apiserver.admin).create_namespaced_deployment("default", DEPLOYMENT)

    def nodes_of_pods() -> list[str | None]:
        return [pod.spec.node_name for pod in core.list_namespaced_pod("default").items]

    with controller_manager(private_apiserver), kube_scheduler(private_apiserver):
        wait_until(lambda: nodes_of_pods() == ["node-1"] * 3, 30, "three pods bound to node-1")
