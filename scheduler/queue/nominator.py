"""Pods that were promised a node: their room counts against pods of lower or equal priority (kube-scheduler 1.7)."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from scheduler.framework import PodInfo


class Nominator:
    """Nominations by node, also those that other schedulers wrote into status.nominatedNodeName."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}
        self._at_least: dict[int, dict[str, tuple[PodInfo, ...]]] = {}

    def __len__(self) -> int:
        return len(self._node_of)

    def node_of(self, uid: str) -> str:
        """The node a pod was promised, or ""."""
        return self._node_of.get(uid, "")

    def nominate(self, pod: PodInfo, node_name: str) -> None:
        """Promise a node, replacing an earlier promise."""
        self.clear(pod.uid)
        self._node_of[pod.uid] = node_name
        self._by_node.setdefault(node_name, {})[pod.uid] = pod
        self._at_least.clear()

    def observe(self, pod: PodInfo) -> bool:
        """Take over what a waiting pod's status says; whether a promise was taken back by it.

        An empty status takes back what an earlier one has said, but no promise made here, of which it may not know yet.
        """
        node_name = self._node_of.get(pod.uid, "")
        if not pod.nominated_node and node_name and self._by_node[node_name][pod.uid].nominated_node:
            return self.clear(pod.uid)
        if pod.nominated_node or node_name:
            self.nominate(pod, pod.nominated_node or node_name)
        return False

    def clear(self, uid: str) -> bool:
        """Take a promise back: the pod is bound, gone, or not to be preferred any more. False if there was none."""
        node_name = self._node_of.pop(uid, None)
        if node_name is None:
            return False
        pods = self._by_node[node_name]
        del pods[uid]
        if not pods:
            del self._by_node[node_name]
        self._at_least.clear()
        return True

    def uids(self) -> AbstractSet[str]:
        """The pods that were promised a node."""
        return self._node_of.keys()

    def at_least(self, priority: int) -> Mapping[str, tuple[PodInfo, ...]]:
        """By node name the promised pods of this priority and above; put together once for as long as no promise changes."""
        known = self._at_least.get(priority)
        if known is None:
            known = self._at_least[priority] = {}
            for name, pods in self._by_node.items():
                if above := tuple(pod for pod in pods.values() if pod.spec.priority >= priority):
                    known[name] = above
        return known

    def on(self, node_name: str) -> Iterable[PodInfo]:
        """The pods promised this node."""
        return self._by_node.get(node_name, {}).values()
