"""Preemption on a real API server: the victims, marks and messages are kube-scheduler's, and the pod takes their place."""

import random
from dataclasses import dataclass
from typing import Any

import pytest
from kubernetes.client import PolicyV1Api, SchedulingV1Api

from tests.apiserver.stage import Stage, berth
from tests.builders import budget_json, node_json, pod_json
from tests.controlplane.components import kube_scheduler
from tests.controlplane.process import wait_until

JsonObject = dict[str, Any]

POOLS = 8
NODES_A_POOL = 4
PRIORITIES = (0, 1, 2, 3)
HIGH = 100
WANTED = 3000


@dataclass(frozen=True)
class Low:
    """A pod that runs; cpu in milli, `started` in seconds after some moment."""

    name: str
    pool: int
    node: str
    cpu: int
    priority: int
    started: int

    def json(self) -> JsonObject:
        """As it is created."""
        labels = {"pool": str(self.pool), "app": "ab"[self.cpu % 3 == 0]}
        spec = {"priorityClassName": f"priority-{self.priority}"}
        return pod_json(self.name, f"{self.cpu}m", node=self.node, scheduler="nobody", labels=labels, spec=spec)


def running() -> list[Low]:
    """Pods that fill all nodes; no two have started in the same second, so that there is one best choice."""
    rng = random.Random(7)
    found: list[Low] = []
    for pool in range(POOLS):
        for number in range(NODES_A_POOL):
            node, left = f"n{pool}-{number}", 4000
            while left >= 500:
                cpu = rng.choice([size for size in (500, 900, 1500, 2000) if size <= left])
                left -= cpu
                found.append(Low(f"low-{len(found)}", pool, node, cpu, rng.choice(PRIORITIES), len(found)))
    rng.shuffle(found)
    return [Low(low.name, low.pool, low.node, low.cpu, low.priority, at) for at, low in enumerate(found)]


@dataclass(frozen=True)
class Outcome:
    """What came of a pod: the promised node, who goes for it, with which mark, and what its condition says."""

    node: str
    victims: frozenset[str]
    marks: frozenset[tuple[str, str, str]]
    condition: tuple[str, str]


class Clusters:
    """Pools of nodes that are full, each with a pod that is more important."""

    def __init__(self, stage: Stage, scheduler: str) -> None:
        self._stage = stage
        self._scheduler = scheduler
        self._low = {low.name: low for low in running()}
        stage.create(low.json() for low in self._low.values())
        for low in self._low.values():
            at = f"2026-01-01T{low.started // 3600:02d}:{low.started // 60 % 60:02d}:{low.started % 60:02d}Z"
            stage.core.patch_namespaced_pod_status(
                low.name, "default", {"status": {"startTime": at, "phase": "Running"}}
            )
        stage.create(
            pod_json(
                f"{scheduler}-{pool}",
                f"{WANTED}m",
                scheduler=scheduler,
                spec={"priorityClassName": f"priority-{HIGH}", "nodeSelector": {"pool": str(pool)}},
            )
            for pool in range(POOLS)
        )

    def wait_until_victims_go(self) -> None:
        """Until there would be room for every pod on the node it was promised."""
        wait_until(lambda: all(self._has_room(pool) for pool in range(POOLS)), 30, "victims are deleted")

    def outcome(self, pool: int) -> Outcome:
        """What came of the pod of a pool."""
        name = f"{self._scheduler}-{pool}"
        pods = {pod.metadata.name: pod for pod in self._pods()}
        victims = [pods[low.name] for low in self._low.values() if low.pool == pool and self._goes(pods, low)]
        marks = (c for victim in victims for c in victim.status.conditions or [] if c.type == "DisruptionTarget")
        return Outcome(
            pods[name].status.nominated_node_name,
            frozenset(victim.metadata.name for victim in victims),
            frozenset((c.status, c.reason, c.message.partition(": ")[2]) for c in marks),
            self._stage.condition(name),
        )

    def end_victims(self) -> None:
        """Their kubelets say that they have ended."""
        for pod in self._pods():
            if pod.metadata.deletion_timestamp:
                self._stage.core.delete_namespaced_pod(pod.metadata.name, "default", grace_period_seconds=0)

    def placed(self) -> dict[int, str]:
        """The node of each pool's pod."""
        return {pool: self._stage.node_of(f"{self._scheduler}-{pool}") for pool in range(POOLS)}

    def clear(self) -> None:
        """All pods go."""
        self._stage.core.delete_collection_namespaced_pod("default", grace_period_seconds=0)
        wait_until(lambda: not self._pods(), 30, "all pods gone")

    def _pods(self) -> list[Any]:
        items: list[Any] = self._stage.core.list_namespaced_pod("default").items
        return items

    def _has_room(self, pool: int) -> bool:
        pods = {pod.metadata.name: pod for pod in self._pods()}
        node = pods[f"{self._scheduler}-{pool}"].status.nominated_node_name
        stays = (low.cpu for low in self._low.values() if low.node == node and not self._goes(pods, low))
        return bool(node) and sum(stays) + WANTED <= 4000

    @staticmethod
    def _goes(pods: dict[str, Any], low: Low) -> bool:
        return low.name not in pods or bool(pods[low.name].metadata.deletion_timestamp)


@pytest.fixture
def pools(stage: Stage) -> Stage:
    """Nodes, priority classes, and a budget in each pool that allows one disruption."""
    stage.create(
        node_json(f"n{pool}-{number}", labels={"pool": str(pool)})
        for pool in range(POOLS)
        for number in range(NODES_A_POOL)
    )
    classes = SchedulingV1Api(stage.server.admin)
    for value in (*PRIORITIES, HIGH):
        classes.create_priority_class({"metadata": {"name": f"priority-{value}"}, "value": value})
    policy = PolicyV1Api(stage.server.admin)
    for pool in range(POOLS):
        made = budget_json(f"budget-{pool}", {"pool": str(pool), "app": "a"}, pool % 3)
        policy.create_namespaced_pod_disruption_budget("default", made)
        policy.patch_namespaced_pod_disruption_budget_status(
            made["metadata"]["name"], "default", {"status": made["status"]}
        )
    return stage


@pytest.mark.controlplane("kube-scheduler")
def test_the_victims_are_those_of_kube_scheduler_and_the_pod_takes_their_place(pools: Stage) -> None:
    outcomes: dict[str, dict[int, Outcome]] = {}
    for scheduler in ("default-scheduler", "berth"):
        clusters = Clusters(pools, scheduler)
        with kube_scheduler(pools.server) if scheduler != "berth" else berth(pools.server):
            clusters.wait_until_victims_go()
            outcomes[scheduler] = {pool: clusters.outcome(pool) for pool in range(POOLS)}
            promised = {pool: outcome.node for pool, outcome in outcomes[scheduler].items()}
            clusters.end_victims()
            wait_until(lambda: clusters.placed() == promised, 30, "all placed where it was promised")  # noqa: B023
        clusters.clear()
    assert outcomes["berth"] == outcomes["default-scheduler"]
    assert sum(len(outcome.victims) for outcome in outcomes["berth"].values()) > POOLS
