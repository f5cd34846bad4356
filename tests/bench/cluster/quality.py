"""How good placements are, by measures that no scheduler of the benchmark optimises directly."""

from decimal import Decimal
from statistics import fmean, pstdev

import msgspec

from tests.bench.cluster.checks import Amounts, allocatable, requests, usage
from tests.bench.cluster.workloads.model import ZONE, Placements
from tests.bench.cluster.workloads.rules import by_zone


class Quality(msgspec.Struct, frozen=True):
    """`balance`: standard deviation over nodes of the used share of cpu and memory, mean of both, in percent. `skew`: how many
    pods of an app its fullest zone has more than its emptiest, mean over apps. `stranded`: percent of free cpu on nodes that
    cannot take one more pod like the measured ones. `images`: percent of measured pods whose image was on their node.
    """

    balance: float
    skew: float
    stranded: float
    images: float


def quality(placements: Placements, namespace: str) -> Quality:
    """Of all pods on the nodes, and of those of a run."""
    mine = [pod for pod in placements.pods if pod["metadata"]["namespace"] == namespace]
    used = usage(placements)
    room = {name: allocatable(node) for name, node in placements.nodes.items()}
    shares = [
        pstdev(float(used[name][resource] / room[name][resource]) for name in room) for resource in ("cpu", "memory")
    ]
    zones = {node["metadata"]["labels"][ZONE] for node in placements.nodes.values()}
    counts = by_zone(Placements(placements.nodes, mine)).values()
    return Quality(
        balance=100 * fmean(shares),
        skew=fmean(max(in_zone[zone] for zone in zones) - min(in_zone[zone] for zone in zones) for in_zone in counts)
        if counts
        else 0.0,
        stranded=_stranded(used, room, requests(mine[0]) if mine else {}),
        images=100 * fmean(_reuses_image(placements, pod["spec"]) for pod in mine) if mine else 0.0,
    )


def _stranded(used: dict[str, Amounts], room: dict[str, Amounts], wanted: Amounts) -> float:
    free = stranded = Decimal(0)
    for name, has in room.items():
        left = has["cpu"] - used[name]["cpu"]
        free += left
        if any(has[resource] - used[name][resource] < amount for resource, amount in wanted.items()):
            stranded += left
    return float(100 * stranded / free) if free else 0.0


def _reuses_image(placements: Placements, spec: dict[str, object]) -> bool:
    node = placements.nodes[str(spec["nodeName"])]
    names = {name for image in node["status"].get("images", []) for name in image["names"]}
    containers = spec["containers"]
    return isinstance(containers, list) and containers[0]["image"] in names
