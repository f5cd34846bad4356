"""A cost score: of the nodes that can take a pod, those with the lower price are preferred."""

from typing import ClassVar

from scheduler.framework import CycleState, NodeInfo, Normalize, PodInfo, Score

PRICE = "example.com/price-per-hour"
UNKNOWN = 1_000


class Cheapest(Score):
    name = "Cheapest"
    normalize: ClassVar[Normalize] = Normalize.REVERSED

    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        price = node.node.labels.get(PRICE, "")
        return int(price) if price.isdigit() else UNKNOWN
