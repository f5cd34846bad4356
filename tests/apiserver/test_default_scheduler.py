"""berth as the only scheduler of a cluster: what the workload controllers make is placed, and runs."""

from typing import Any

import pytest
from kubernetes.client import AppsV1Api, BatchV1Api

from tests.apiserver.stage import Stage, berth
from tests.controlplane.components import controller_manager, hollow_nodes
from tests.controlplane.process import wait_until

JsonObject = dict[str, Any]
NODES = ("hollow-0", "hollow-1", "hollow-2")
DEPLOYED, STATEFUL, PARALLEL = 5, 3, 4


def workload(name: str, **spec: Any) -> JsonObject:
    """Pods that say nothing of a scheduler, and are spread softly as the defaults have it."""
    container = {
        "name": "main",
        "image": "registry.example/app:1",
        "resources": {"requests": {"cpu": "50m", "memory": "32Mi"}},
    }
    pod = {"automountServiceAccountToken": False, "containers": [container], **spec.pop("pod", {})}
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    return {"metadata": {"name": name}, "spec": {"template": template, **spec}}


def selecting(name: str, **spec: Any) -> JsonObject:
    return workload(name, selector={"matchLabels": {"app": name}}, **spec)


@pytest.mark.controlplane("kubemark", "kube-controller-manager")
def test_deployments_stateful_sets_daemon_sets_and_jobs_are_placed(stage: Stage) -> None:
    apps, batch = AppsV1Api(stage.server.admin), BatchV1Api(stage.server.admin)
    profile = {"schedulerName": "default-scheduler"}
    with (
        hollow_nodes(stage.server, *NODES),
        controller_manager(stage.server),
        berth(stage.server, profiles=[profile]),
    ):
        stage.core.patch_node(NODES[0], {"spec": {"taints": [{"key": "reserved", "effect": "NoSchedule"}]}})
        apps.create_namespaced_deployment("default", selecting("deployed", replicas=DEPLOYED))
        apps.create_namespaced_stateful_set("default", selecting("stateful", replicas=STATEFUL, serviceName="stateful"))
        everywhere = {"tolerations": [{"key": "reserved", "operator": "Exists"}]}
        apps.create_namespaced_daemon_set("default", selecting("everywhere", pod=everywhere))
        job = workload("job", parallelism=PARALLEL, completions=PARALLEL, pod={"restartPolicy": "Never"})
        batch.create_namespaced_job("default", job)
        expected = {"deployed": DEPLOYED, "stateful": STATEFUL, "everywhere": len(NODES), "job": PARALLEL}

        def running() -> dict[str, list[str]]:
            found: dict[str, list[str]] = {name: [] for name in expected}
            for pod in stage.core.list_namespaced_pod("default").items:
                if pod.status.phase == "Running":
                    found[pod.metadata.labels["app"]].append(pod.spec.node_name)
            return found

        wait_until(lambda: {name: len(nodes) for name, nodes in running().items()} == expected, 120, "every pod runs")
        placed = running()
    assert sorted(placed["everywhere"]) == sorted(NODES)
    assert NODES[0] not in {*placed["deployed"], *placed["stateful"], *placed["job"]}
