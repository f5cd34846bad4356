"""The cache: nodes, and every pod that has a node, whoever bound it.

A pod's states, by UID:

    absent --assume--> assumed --seen with a node--> bound --gone or finished--> absent
       |                  |  \\--forget--> absent      ^
       \\------------------+--------------------------/   (seen with a node, whoever bound it)

An assumed pod leaves only by `forget` or by what is observed; no timer frees it. The API's word beats an assumption: a pod
seen on another node than assumed moves there. Pods on nodes that are not known are held and counted once the node appears.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from scheduler.cache.columns import INT64_MAX
from scheduler.cache.counts import PodCounts
from scheduler.cache.nodes import NodeTable
from scheduler.framework import Node, PodInfo


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod as it is counted, and the node it is counted on; if assumed, the node's generation right after."""

    pod: PodInfo
    node_name: str
    generation: int = -1


class Cache:
    """Owner of the node table and of what is on it."""

    def __init__(self) -> None:
        self.nodes = NodeTable()
        self._bound: dict[str, PodInfo] = {}
        self._assumed: dict[str, Placement] = {}
        self._nodeless: dict[str, dict[str, PodInfo]] = {}

    @property
    def bound_count(self) -> int:
        """How many pods are known to be on a node, assumed ones not counted."""
        return len(self._bound)

    @property
    def assumed_count(self) -> int:
        """How many pods are assumed."""
        return len(self._assumed)

    def placement(self, uid: str) -> Placement | None:
        """Where a pod is counted, if it is."""
        assumed = self._assumed.get(uid)
        if assumed is not None:
            return assumed
        bound = self._bound.get(uid)
        return None if bound is None else Placement(bound, bound.node_name)

    def is_assumed(self, uid: str) -> bool:
        """Whether the pod is counted on a node that the API has not confirmed yet."""
        return uid in self._assumed

    def placed(self, uids: AbstractSet[str]) -> AbstractSet[str]:
        """Those of these pods that are counted on a node."""
        return (uids & self._assumed.keys()) | (uids & self._bound.keys())

    def assume(self, pod: PodInfo, node_name: str) -> None:
        """Count a pod on the node chosen for it. Raises ValueError if it is counted already."""
        if uid_known := self.placement(pod.uid):
            raise ValueError(f"pod {pod.key} ({pod.uid}) is already on node {uid_known.node_name}")
        self._count(pod, node_name)
        self._assumed[pod.uid] = Placement(pod, node_name, self._generation(node_name))

    def unchanged_since_assumed(self, uid: str) -> bool:
        """Whether nothing about the node of an assumed pod has changed since it was assumed."""
        assumed = self._assumed[uid]
        return assumed.generation == self._generation(assumed.node_name)

    def forget(self, uid: str) -> bool:
        """Take back an assumption; False if there is none (the pod was confirmed or is gone: nothing to take back)."""
        assumed = self._assumed.pop(uid, None)
        if assumed is None:
            return False
        self._uncount(uid, assumed.node_name)
        return True

    def reassume(self, pod: PodInfo) -> None:
        """Take over a change of an assumed pod that has no node yet."""
        assumed = self._assumed[pod.uid]
        self._uncount(pod.uid, assumed.node_name)
        self._assumed[pod.uid] = Placement(pod, assumed.node_name)
        self._count(pod, assumed.node_name)

    def put(self, pod: PodInfo) -> Placement | None:
        """A pod was seen with a node. Answers how it was counted before, if it was."""
        before = self.placement(pod.uid)
        if before is not None:
            self._assumed.pop(pod.uid, None)
            self._uncount(pod.uid, before.node_name)
        self._bound[pod.uid] = pod
        self._count(pod, pod.node_name)
        return before

    def drop(self, uid: str) -> Placement | None:
        """A pod is gone or has finished. Answers how it was counted, or None for a pod never counted or dropped before."""
        before = self.placement(uid)
        if before is None:
            return None
        self._assumed.pop(uid, None)
        self._bound.pop(uid, None)
        self._uncount(uid, before.node_name)
        return before

    def put_node(self, node: Node) -> Node | None:
        """A node was added or changed; pods that waited for it are counted on it. Answers the node as it was."""
        old = self.nodes.put(node)
        for pod in self._nodeless.pop(node.name, {}).values():
            self.nodes.add_pod(node.name, pod)
        return old

    def drop_node(self, name: str) -> Node | None:
        """A node is gone; its pods are held until they are gone too, or the node is back."""
        info = self.nodes.remove(name)
        if info is None:
            return None
        if info.pods:
            self._nodeless[name] = dict(info.pods)
        return info.node

    def bound_pods(self) -> dict[str, PodInfo]:
        """All pods that the API says are on a node, by UID; to read."""
        return self._bound

    def assumed_pods(self) -> dict[str, Placement]:
        """All assumed pods by UID; to read."""
        return self._assumed

    def validate(self) -> None:
        """Compare every sum with one made afresh (INV-3); AssertionError names the first difference."""
        expected = {uid: pod.node_name for uid, pod in self._bound.items()}
        expected |= {uid: placement.node_name for uid, placement in self._assumed.items()}
        assert not self._bound.keys() & self._assumed.keys(), "a pod is both bound and assumed"
        counted: dict[str, str] = {}
        for row in self.nodes.live().tolist():
            info = self.nodes.info(row)
            counted |= dict.fromkeys(info.pods, info.name)
            self._validate_sums(row)
        rows = self.nodes.live().tolist()
        counts = self.nodes.counts
        assert isinstance(counts, PodCounts), "the nodes of the cluster are hypothetical"
        counts.validate((row, pod) for row in rows for pod in self.nodes.info(row).pods.values())
        for name, pods in self._nodeless.items():
            assert pods, f"an empty list of pods is kept for the unknown node {name}"
            assert self.nodes.row_of(name) is None, f"pods of the known node {name} are kept as nodeless"
            counted |= dict.fromkeys(pods, name)
        assert counted == expected, (
            f"pods counted on nodes differ from pods known: {counted.items() ^ expected.items()}"
        )

    def _validate_sums(self, row: int) -> None:
        info = self.nodes.info(row)
        sums: dict[str, int] = {}
        for pod in info.pods.values():
            for resource, amount in pod.usage.amounts.items():
                sums[resource] = sums.get(resource, 0) + amount
        for resource in info.requested.keys() | sums.keys() | set(self.nodes.requested.names()) - {"pods"}:
            recounted = sums.get(resource, 0)
            assert info.requested.get(resource, 0) == recounted, f"{info.name}: requested {resource} is off"
            held = min(recounted, INT64_MAX)
            assert int(self.nodes.requested.get(resource)[row]) == held, f"{info.name}: column {resource} is off"
        assert int(self.nodes.requested.get("pods")[row]) == len(info.pods), f"{info.name}: the pod count is off"

    def _generation(self, node_name: str) -> int:
        row = self.nodes.row_of(node_name)
        return -1 if row is None else int(self.nodes.generation[row])

    def _count(self, pod: PodInfo, node_name: str) -> None:
        if self.nodes.row_of(node_name) is None:
            self._nodeless.setdefault(node_name, {})[pod.uid] = pod
        else:
            self.nodes.add_pod(node_name, pod)

    def _uncount(self, uid: str, node_name: str) -> None:
        if self.nodes.row_of(node_name) is not None:
            self.nodes.remove_pod(node_name, uid)
            return
        waiting = self._nodeless[node_name]
        del waiting[uid]
        if not waiting:
            del self._nodeless[node_name]
