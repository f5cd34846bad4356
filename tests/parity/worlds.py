"""Random clusters and pods that touch every branch of the first plugins. The seed decides everything."""

import random
from collections.abc import Callable

from scheduler.api import Kind
from tests.builders import JsonObject, container, node_json, pod_json, taint

ZONES = ("east", "west", "north")
IMAGES = ("registry.example/app:1", "registry.example/db:2", "registry.example/tool:latest")
GPU = "nvidia.com/gpu"
FPGA = "example.com/fpga"
MIB = 2**20


class World:
    """Draws nodes and pods, and as many of them running and asked about as the class says."""

    running_count = 10
    asked_count = 12

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def nodes(self, count: int) -> list[JsonObject]:
        """Nodes of many kinds."""
        return [self._node(f"n{i:02}") for i in range(count)]

    def objects(self) -> list[tuple[Kind, JsonObject]]:
        """What there is beside nodes and pods."""
        return []

    def running(self, name: str, node: str) -> JsonObject:
        """A pod that somebody else has put on a node, whether it fits or not."""
        made = self.pod(name)
        made["spec"] |= {"nodeName": node, "schedulerName": "nobody"}
        return made

    def pod(self, name: str) -> JsonObject:
        """A pod that may ask for anything."""
        draw = self._draw
        spec: JsonObject = {"tolerations": self._some(self._toleration, 2), "restartPolicy": "Never"}
        if draw.random() < 0.2:
            spec["nodeSelector"] = {"zone": draw.choice(ZONES)}
        if draw.random() < 0.4:
            spec["affinity"] = {"nodeAffinity": self._affinity()}
        if draw.random() < 0.3:
            spec["initContainers"] = [
                self._container(f"init{i}", draw.choice((None, "Always"))) for i in range(draw.randint(1, 2))
            ]
        containers = [self._container(f"c{i}", None) for i in range(draw.randint(1, 3))]
        made = pod_json(name, containers=containers, scheduler="default-scheduler", spec=spec)
        made["spec"]["containers"][0]["ports"] = self._ports()
        return made

    def _node(self, name: str) -> JsonObject:
        draw = self._draw
        resources = {"ephemeral-storage": draw.choice(("20Gi", "100Gi"))}
        if draw.random() < 0.5:
            resources[GPU] = draw.choice(("1", "4"))
        if draw.random() < 0.3:
            resources[FPGA] = "2"
        return node_json(
            name,
            draw.choice(("1", "2", "3500m", "8")),
            draw.choice(("2Gi", "3900Mi", "16Gi")),
            pods=draw.choice(("3", "110")),
            labels={"zone": draw.choice(ZONES), "rank": str(draw.randint(1, 9))},
            taints=self._some(self._taint, 2),
            unschedulable=draw.random() < 0.1,
            images=[
                {"names": [image], "sizeBytes": size}
                for image, size in zip(IMAGES, (90 * MIB, 700 * MIB, 2500 * MIB), strict=True)
                if draw.random() < 0.4
            ],
            resources=resources,
        )

    def _container(self, name: str, restart_policy: str | None) -> JsonObject:
        draw = self._draw
        resources = {}
        if draw.random() < 0.2:
            resources["ephemeral-storage"] = draw.choice(("1Gi", "30Gi"))
        for device in (GPU, FPGA):
            if draw.random() < 0.12:
                resources[device] = "1"
        made = container(
            draw.choice((None, "0", "50m", "300m", "1", "2500m")),
            draw.choice((None, "0", "100Mi", "700Mi", "3Gi")),
            name=name,
            image=draw.choice((*IMAGES, "registry.example/tool", "registry.example/unknown:1")),
            restart_policy=restart_policy,
            resources=resources,
        )
        # An extended resource needs an equal limit.
        made["resources"]["limits"] = {name: amount for name, amount in resources.items() if "/" in name}
        return made

    def _ports(self) -> list[JsonObject]:
        draw = self._draw
        if draw.random() < 0.7:
            return []
        number = draw.choice((80, 81))
        return [
            {
                "containerPort": number,
                "hostPort": number,
                "hostIP": draw.choice(("", "10.0.0.1")),
                "protocol": draw.choice(("TCP", "UDP")),
            }
        ]

    def _affinity(self) -> JsonObject:
        draw = self._draw
        made: JsonObject = {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": draw.randint(1, 100), "preference": self._term()} for _ in range(draw.randint(0, 3))
            ]
        }
        if draw.random() < 0.5:
            terms = [self._term() for _ in range(draw.randint(1, 2))]
            if draw.random() < 0.3:
                named = {
                    "key": "metadata.name",
                    "operator": draw.choice(("In", "NotIn")),
                    "values": [f"n{draw.randint(0, 9):02}"],
                }
                terms[0] = {"matchFields": [named]}
            made["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
        return made

    def _term(self) -> JsonObject:
        draw = self._draw
        requirement = draw.choice(
            (
                {"key": "zone", "operator": "In", "values": draw.sample(ZONES, 2)},
                {"key": "zone", "operator": "NotIn", "values": [draw.choice(ZONES)]},
                {"key": "rank", "operator": draw.choice(("Gt", "Lt")), "values": [str(draw.randint(2, 8))]},
                {"key": "absent", "operator": draw.choice(("Exists", "DoesNotExist"))},
            )
        )
        return {"matchExpressions": [requirement]}

    def _taint(self) -> JsonObject:
        draw = self._draw
        effect = draw.choice(("NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"))
        return taint(draw.choice(("gpu", "spot", "batch")), effect, draw.choice(("", "yes")))

    def _toleration(self) -> JsonObject:
        draw = self._draw
        key = draw.choice(("gpu", "spot", "batch", "node.kubernetes.io/unschedulable"))
        effect = draw.choice(("", "NoSchedule", "PreferNoSchedule"))
        if draw.random() < 0.6:
            return {"key": key, "operator": "Exists", "effect": effect}
        return {"key": key, "operator": "Equal", "value": "yes", "effect": effect}

    def _some(self, draw_one: Callable[[], JsonObject], most: int) -> list[JsonObject]:
        """Up to so many, all different in key and effect."""
        drawn = [draw_one() for _ in range(self._draw.choice((0, 0, *range(1, most + 1))))]
        return list({(one["key"], one["effect"]): one for one in drawn}.values())
