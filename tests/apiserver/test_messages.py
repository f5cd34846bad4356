"""A pod that fits nowhere says the same as under kube-scheduler, and the event that helps it binds it at once."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from plugins.registry import BUILT_IN
from scheduler.config.catalog import DEFAULT_PLUGINS
from tests.apiserver.stage import Stage, berth
from tests.builders import container, node_json, pod_json, taint
from tests.controlplane.components import kube_scheduler
from tests.controlplane.process import wait_until

JsonObject = dict[str, Any]

# kube-scheduler with exactly the plugins that berth has so far, so that the messages of others do not get in between.
SAME_PLUGINS: JsonObject = {
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {
                "multiPoint": {
                    "enabled": [
                        {"name": ref.name, "weight": ref.weight} for ref in DEFAULT_PLUGINS if ref.name in BUILT_IN
                    ],
                    "disabled": [{"name": "*"}],
                }
            },
        }
    ]
}


def pinned_to(name: str) -> JsonObject:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    }


UNPLACEABLE: dict[str, JsonObject] = {
    "too-big": {"cpu": "64"},
    "too-big-in-two-ways": {"cpu": "64", "memory": "1Ti"},
    "wants-a-gpu": {"resources": {"nvidia.com/gpu": "1"}},
    "wants-a-label": {"spec": {"nodeSelector": {"disk": "ssd"}}},
    "pinned-to-a-full-node": {"cpu": "6", "spec": pinned_to("n1")},
    "pinned-to-nowhere": {"spec": pinned_to("n99")},
    "wants-a-taken-port": {"containers": [container(ports=[{"containerPort": 80, "hostPort": 80}])]},
}


def nodes() -> list[JsonObject]:
    """Three zones, a GPU node, a tainted one, a cordoned one, a full one."""
    return [
        node_json("n1"),
        node_json("n2", pods="1"),
        node_json("n3", taints=[taint("dedicated")]),
        node_json("n4", unschedulable=True),
        node_json("n5", taints=[taint("gpu")], resources={"nvidia.com/gpu": "2"}),
        node_json("n6", cpu="32", taints=[taint("big")]),
    ]


def running() -> list[JsonObject]:
    """One pod on each node, with the port that another one wants."""
    ports = [{"containerPort": 80, "hostPort": 80}]
    return [
        pod_json(f"on-n{i}", node=f"n{i}", scheduler="nobody", containers=[container("1", ports=ports)])
        for i in range(1, 7)
    ]


@pytest.mark.controlplane("kube-scheduler")
def test_the_messages_are_those_of_kube_scheduler(stage: Stage) -> None:
    stage.create(nodes())
    stage.create(running())
    told: dict[str, dict[str, tuple[str, str]]] = {}
    for scheduler in ("default-scheduler", "berth"):
        stage.create(
            pod_json(f"{scheduler}-{name}", scheduler=scheduler, **fields) for name, fields in UNPLACEABLE.items()
        )
        with kube_scheduler(stage.server, SAME_PLUGINS) if scheduler != "berth" else berth(stage.server):
            wait_until(
                lambda: all(stage.condition(f"{scheduler}-{name}")[0] for name in UNPLACEABLE),  # noqa: B023
                30,
                f"{scheduler} has a reason for every pod",
            )
        told[scheduler] = {name: stage.condition(f"{scheduler}-{name}") for name in UNPLACEABLE}
    assert told["berth"] == told["default-scheduler"]
    assert {reason for reason, _ in told["berth"].values()} == {"Unschedulable"}


def test_what_helps_a_pod_binds_it_in_the_next_cycle(stage: Stage) -> None:
    stage.create([node_json("n1", cpu="2"), node_json("n2", cpu="8", taints=[taint("dedicated")])])
    with berth(stage.server):
        stage.create([pod_json("fits", cpu="2")])
        wait_until(lambda: stage.node_of("fits") == "n1", 10, "the first pod bound")
        helps: dict[str, Callable[[], object]] = {
            "a node comes": lambda: stage.create([node_json("n3", cpu="4")]),
            "a pod goes": lambda: stage.core.delete_namespaced_pod("fits", "default", grace_period_seconds=0),
            "a taint goes": lambda: stage.core.patch_node("n2", {"spec": {"taints": None}}),
        }
        sizes = {"a node comes": "4", "a pod goes": "2", "a taint goes": "8"}
        for what, happens in helps.items():
            name = what.replace(" ", "-")
            stage.create([pod_json(name, cpu=sizes[what])])
            wait_until(lambda: stage.condition(name)[0] == "Unschedulable", 10, f"{name} waits")  # noqa: B023
            began = time.monotonic()
            happens()
            wait_until(lambda: stage.node_of(name), 10, f"{what}: {name} bound")  # noqa: B023
            assert time.monotonic() - began < 5.0
