"""A fake kubelet for all nodes: admits what is bound to them as a real one does, starts, stops and refuses pods.

It knows the cluster's state at once and in truth, not through a watch that may be late; that is why it can refuse what a
scheduler thought would fit.
"""

from dataclasses import dataclass

import msgspec

from scheduler.framework import PodInfo
from scheduler.objects import NodeDecoder, PodDecoder
from scheduler.sandbox.clock import Clock
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.fields import Json, JsonObject, name_of, namespace_of, objects_at, text_at
from scheduler.sandbox.identity import timestamp

_MERGE = "application/merge-patch+json"


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds from being bound to being admitted, and from being deleted to being gone."""

    admit: float = 0.1
    stop: float = 0.1


class Kubelets:
    """The kubelets of all nodes. `refused` counts refusals by reason."""

    def __init__(self, cluster: Cluster, clock: Clock, pace: Pace) -> None:
        self.refused: dict[str, int] = {}
        self.pace = pace
        self._cluster = cluster
        self._clock = clock
        self._pods = PodDecoder()
        self._nodes = NodeDecoder()
        self._admitted: dict[str, PodInfo] = {}
        self._handled: set[tuple[str, str]] = set()
        self._watch = cluster.watch("pods", max(1, cluster.revision), wake=lambda: clock.after(0.0, self._look))
        for pod in cluster.list("pods")[0]:
            self._see(pod)

    def finish(self, name: str, namespace: str = "default", phase: str = "Succeeded", reason: str = "") -> None:
        """A pod's containers end."""
        obj = self._cluster.get("pods", namespace, name)
        self._admitted.pop(text_at(obj, "metadata", "uid"), None)
        self._patch(obj, {"phase": phase, "reason": reason or None})

    def _look(self) -> None:
        for event in self._watch.drain():
            if not isinstance(event.object, dict):
                continue
            if event.type == "DELETED":
                self._admitted.pop(text_at(event.object, "metadata", "uid"), None)
            else:
                self._see(event.object)

    def _see(self, obj: JsonObject) -> None:
        uid = text_at(obj, "metadata", "uid")
        if not text_at(obj, "spec", "nodeName"):
            return
        if text_at(obj, "metadata", "deletionTimestamp"):
            self._once("stop", uid, self.pace.stop, obj)
        elif text_at(obj, "status", "phase") == "Pending":
            self._once("admit", uid, self.pace.admit, obj)

    def _once(self, what: str, uid: str, delay: float, obj: JsonObject) -> None:
        if (what, uid) in self._handled:
            return
        self._handled.add((what, uid))
        act = self._admit if what == "admit" else self._stop
        self._clock.after(delay, lambda: act(namespace_of(obj), name_of(obj), uid))

    def _admit(self, namespace: str, name: str, uid: str) -> None:
        obj = self._now(namespace, name, uid)
        if obj is None:
            return
        pod = self._pods.decode(msgspec.json.encode(obj))
        if pod.terminal:
            return
        reason = self._refusal(pod)
        if reason:
            self.refused[reason] = self.refused.get(reason, 0) + 1
            self._patch(obj, {"phase": "Failed", "reason": reason, "message": f"Pod was rejected: {reason}"})
            return
        self._admitted[uid] = pod
        started = timestamp(self._clock.wall())
        containers: list[Json] = [
            {"name": text_at(container, "name"), "ready": True, "state": {"running": {"startedAt": started}}}
            for container in objects_at(obj, "spec", "containers")
        ]
        self._patch(obj, {"phase": "Running", "startTime": started, "containerStatuses": containers})

    def _refusal(self, pod: PodInfo) -> str:
        """The reason a kubelet would give (pkg/kubelet/lifecycle, GeneralPredicates), or nothing."""
        try:
            node = self._nodes.decode(msgspec.json.encode(self._cluster.get("nodes", None, pod.node_name)))
        except ApiError:
            return "NodeNotFound"
        others = [other for other in self._admitted.values() if other.node_name == pod.node_name]
        if len(others) + 1 > node.allocatable.get("pods", 0):
            return "OutOfpods"
        for resource, amount in pod.usage.amounts.items():
            used = sum(other.usage.amounts.get(resource, 0) for other in others)
            if used + amount > node.allocatable.get(resource, 0):
                return f"OutOf{resource}"
        taken = {(port.protocol, port.port) for other in others for port in other.spec.host_ports}
        if any((port.protocol, port.port) in taken for port in pod.spec.host_ports):
            return "NodePorts"
        if any(t.effect == "NoExecute" and not any(s.tolerates(t) for s in pod.spec.tolerations) for t in node.taints):
            return "TaintToleration"
        return ""

    def _stop(self, namespace: str, name: str, uid: str) -> None:
        if self._now(namespace, name, uid) is not None:
            self._admitted.pop(uid, None)
            self._cluster.delete("pods", namespace, name, uid=uid, grace_period=0)

    def _now(self, namespace: str, name: str, uid: str) -> JsonObject | None:
        """The pod as it is, if it is still the same one."""
        try:
            obj = self._cluster.get("pods", namespace, name)
        except ApiError:
            return None
        return obj if text_at(obj, "metadata", "uid") == uid else None

    def _patch(self, obj: JsonObject, status: JsonObject) -> None:
        self._cluster.patch("pods", namespace_of(obj), name_of(obj), {"status": status}, _MERGE, subresource="status")
