"""berth beside kube-scheduler on the same real kubelets, which refuse what does not fit."""

from contextlib import ExitStack
from typing import Any

import pytest
import urllib3
from kubernetes.client import AppsV1Api

from tests.apiserver.stage import Berth, Stage, berth
from tests.apiserver.witness import Witness
from tests.controlplane.components import controller_manager, hollow_nodes, kube_scheduler
from tests.controlplane.process import wait_until

NODES = 20
JsonObject = dict[str, Any]


def replica_set(name: str, scheduler: str, cpu: str, replicas: int) -> JsonObject:
    container = {
        "name": "main",
        "image": "registry.example/app:1",
        "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}},
    }
    return {
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"schedulerName": scheduler, "automountServiceAccountToken": False, "containers": [container]},
            },
        },
    }


def cordoned(stage: Stage, names: list[str], *, yes: bool) -> None:
    for name in names:
        stage.core.patch_node(name, {"spec": {"unschedulable": yes}})


@pytest.mark.controlplane("kubemark", "kube-scheduler", "kube-controller-manager")
def test_two_schedulers_race_for_the_same_kubelets_and_in_the_end_everything_runs(stage: Stage) -> None:
    """Both backlogs wait until the nodes open one by one, so both schedulers reach for each node at the same moment. A node of
    one CPU takes two pods of 400m; both together have just as many as there is room for.
    """
    apps = AppsV1Api(stage.server.admin)
    names = [f"hollow-{i}" for i in range(NODES)]
    with ExitStack() as stack:
        stack.enter_context(hollow_nodes(stage.server, *names))
        cordoned(stage, names, yes=True)
        stack.enter_context(controller_manager(stage.server))
        witness = stack.enter_context(Witness(stage.server))
        process = stack.enter_context(berth(stage.server))
        stack.enter_context(kube_scheduler(stage.server))
        for name, scheduler in (("ours", "berth"), ("theirs", "default-scheduler")):
            apps.create_namespaced_replica_set("default", replica_set(name, scheduler, "400m", NODES))
        wait_until(lambda: witness.waiting() == 2 * NODES, 60, "both backlogs wait")
        cordoned(stage, names, yes=False)
        wait_until(lambda: witness.running() == 2 * NODES, 180, "every pod that can run runs")
        refused = [pod for pod in witness.failed.values() if pod.phase_reason.startswith("OutOf")]
        ours = [pod for pod in refused if pod.spec.scheduler_name == "berth"]
        wait_until(lambda: told(process) == len(ours), 10, f"berth has reported its {len(ours)} refused pods")
    assert refused, "the schedulers never got in each other's way"


def told(process: Berth) -> int:
    """How many refusals berth has counted."""
    with urllib3.PoolManager(retries=False) as pool:
        text = pool.request("GET", f"http://127.0.0.1:{process.port}/metrics").data.decode()
    lines = [line for line in text.splitlines() if line.startswith("berth_kubelet_refusals_total")]
    return int(sum(float(line.rpartition(" ")[2]) for line in lines))
