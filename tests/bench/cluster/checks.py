"""What must be true of placements whoever made them: nothing is over-committed, and the workload's hard rules hold."""

from collections import defaultdict
from decimal import Decimal

from kubernetes.utils.quantity import parse_quantity

from tests.bench.cluster.workloads.model import JsonObject, Placements, Workload

RESOURCES = ("cpu", "memory", "pods")
Amounts = dict[str, Decimal]


class BrokenRuleError(Exception):
    """Placements that no scheduler may make; the text says which."""


def check(placements: Placements, workload: Workload, namespace: str) -> None:
    """Look at all pods for over-commitment, and at those of a run for the rules. Raises BrokenRuleError."""
    used = usage(placements)
    for name, node in placements.nodes.items():
        room = allocatable(node)
        for resource in RESOURCES:
            if used[name][resource] > room[resource]:
                raise BrokenRuleError(
                    f"{name} is over-committed: {used[name][resource]} of {resource} requested, {room[resource]} there"
                )
    mine = Placements(placements.nodes, [pod for pod in placements.pods if pod["metadata"]["namespace"] == namespace])
    for rule in workload.rules:
        if broken := rule(mine):
            raise BrokenRuleError(broken)


def usage(placements: Placements) -> dict[str, Amounts]:
    """What is requested on each node."""
    used: dict[str, Amounts] = {name: dict.fromkeys(RESOURCES, Decimal(0)) for name in placements.nodes}
    for pod in placements.pods:
        on = used[pod["spec"]["nodeName"]]
        for resource, amount in requests(pod).items():
            on[resource] += amount
    return used


def allocatable(node: JsonObject) -> Amounts:
    """What a node has."""
    return {resource: parse_quantity(node["status"]["allocatable"][resource]) for resource in RESOURCES}


def requests(pod: JsonObject) -> Amounts:
    """What a pod asks for; pods of the benchmark have neither init containers nor overhead."""
    found: Amounts = defaultdict(Decimal, pods=Decimal(1))
    for container in pod["spec"]["containers"]:
        for resource, amount in container["resources"]["requests"].items():
            found[resource] += parse_quantity(amount)
    return dict(found)
