"""A cluster with a scheduler in virtual time. Every step is followed by the invariants (INV-1 to INV-11 of the bug reports)."""

from collections.abc import Mapping
from typing import Any

from plugins.registry import load_registry
from scheduler.config import Configuration, load
from scheduler.engine import Engine
from scheduler.framework import Plugin, PodInfo
from scheduler.messages import Bind, PatchPodStatus, RecordEvent
from scheduler.observer import Observer
from scheduler.sandbox.clock import VirtualClock
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.driver import SandboxDriver
from scheduler.sandbox.faults import Faults
from scheduler.sandbox.kubelet import Kubelets, Pace
from tests.builders import budget_json, decode_node, decode_pod, node_json, pod_json

JsonObject = dict[str, Any]

BERTH = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""


class Notes(Observer):
    """What the engine reports beside its effects."""

    def __init__(self) -> None:
        self.anomalies: list[str] = []
        self.raised: list[str] = []
        self.refused: list[str] = []
        self.failed_extenders: list[str] = []

    def anomaly(self, kind: str, detail: str) -> None:
        self.anomalies.append(f"{kind}: {detail}")

    def plugin_raised(self, plugin: str, point: str, exception: Exception) -> None:
        self.raised.append(f"{plugin}: {exception!r}")

    def extender_failed(self, extender: str, verb: str, problem: str) -> None:
        self.failed_extenders.append(f"{extender} {verb}: {problem}")

    def kubelet_refused(self, pod: PodInfo, reason: str) -> None:
        self.refused.append(reason)


class World:
    """The sandbox with names instead of objects. Nothing runs before `start`."""

    def __init__(
        self,
        configuration: Configuration | None = None,
        *,
        registry: Mapping[str, type[Plugin]] | None = None,
        seed: int = 1,
        kubelet: bool = False,
    ) -> None:
        registry = registry or load_registry()
        self.clock = VirtualClock()
        self.cluster = Cluster(self.clock.wall, seed)
        self.faults = Faults()
        self.notes = Notes()
        self.engine = Engine(configuration or load(BERTH, "test", registry), registry, seed, self.notes)
        self.driver = SandboxDriver(self.cluster, self.engine, self.clock, self.faults, self._check)
        self.kubelets = Kubelets(self.cluster, self.clock, Pace()) if kubelet else None
        self._checked = 0
        self._priorities: set[str] = set()

    # What happens in the cluster.

    def node(self, name: str, **fields: Any) -> None:
        """A node joins."""
        self.cluster.create("nodes", node_json(name, **fields))

    def pod(self, name: str, cpu: str | None = None, memory: str | None = None, **fields: Any) -> str:
        """A pod is created; answers its UID. Its priority comes from a class that is made for it."""
        priority = fields.pop("priority", 0)
        if priority:
            spec = fields.get("spec", {})
            policy = spec.get("preemptionPolicy", "PreemptLowerPriority")
            fields["spec"] = {**spec, "priorityClassName": self._priority_class(priority, policy)}
        made = self.cluster.create("pods", pod_json(name, cpu, memory, **fields))
        return decode_pod(made).uid

    def delete(self, name: str, *, grace: int = 0) -> None:
        """A pod is deleted."""
        self.cluster.delete("pods", "default", name, grace_period=grace)

    def change_node(self, name: str, patch: JsonObject, *, status: bool = False) -> None:
        """A node is patched."""
        self.cluster.patch(
            "nodes", None, name, patch, "application/merge-patch+json", subresource="status" if status else ""
        )

    def change_pod(self, name: str, patch: JsonObject, *, status: bool = False) -> None:
        """A pod is patched."""
        kind = "application/merge-patch+json"
        self.cluster.patch("pods", "default", name, patch, kind, subresource="status" if status else "")

    def resize(self, name: str, cpu: str) -> None:
        """A pod's request is changed in place (pods/resize)."""
        patch: JsonObject = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}}
        kind = "application/strategic-merge-patch+json"
        self.cluster.patch("pods", "default", name, patch, kind, subresource="resize")

    def _priority_class(self, value: int, policy: str) -> str:
        name = f"{policy.lower()}-{value}"
        if name not in self._priorities:
            kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "preemptionPolicy": policy}
            self.cluster.create("priorityclasses", {**kind, "metadata": {"name": name}, "value": value})
            self._priorities.add(name)
        return name

    def budget(self, name: str, labels: Mapping[str, str], allowed: int, disrupted: tuple[str, ...] = ()) -> None:
        """A disruption budget, with what its controller has worked out."""
        made = budget_json(name, labels, allowed, disrupted)
        self.cluster.create("poddisruptionbudgets", made)
        kind = "application/merge-patch+json"
        patch = {"status": made["status"]}
        self.cluster.patch("poddisruptionbudgets", "default", name, patch, kind, subresource="status")

    def bind_elsewhere(self, name: str, node: str) -> None:
        """Another scheduler binds a pod."""
        body: JsonObject = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
        self.cluster.bind("default", name, body)

    # Time.

    def start(self) -> "World":
        """The scheduler starts, and does what it can."""
        self.driver.start()
        self.driver.settle()
        return self

    def run(self, seconds: float = 15.0) -> "World":
        """Time passes; by default longer than any backoff, shorter than the flush of the unschedulable."""
        self.driver.run(seconds)
        self.at_rest()
        return self

    # What has become of it.

    def get(self, name: str) -> JsonObject:
        """A pod as the API has it."""
        return self.cluster.get("pods", "default", name)

    def pod_uid(self, name: str) -> str:
        """A pod's UID."""
        return decode_pod(self.get(name)).uid

    def node_of(self, name: str) -> str | None:
        """Where a pod is."""
        return decode_pod(self.get(name)).node_name or None

    def placed(self) -> dict[str, str]:
        """All pods that have a node."""
        pods = [decode_pod(obj) for obj in self.cluster.list("pods")[0]]
        return {pod.name: pod.node_name for pod in pods if pod.node_name}

    def why(self, name: str) -> tuple[str, str]:
        """Reason and message of a pod's PodScheduled condition, without what PostFilter adds."""
        reason, message = self.said(name)
        return reason, message.partition(" preemption: ")[0]

    def said(self, name: str) -> tuple[str, str]:
        """Reason and whole message of a pod's PodScheduled condition."""
        condition = decode_pod(self.get(name)).scheduled_condition
        return (condition.reason, condition.message) if condition is not None else ("", "")

    def used(self, node: str, resource: str = "cpu") -> int:
        """What the scheduler counts on a node."""
        info = self.engine.state.cache.nodes.by_name(node)
        assert info is not None
        return info.requested.get(resource, 0)

    def bindings(self, name: str | None = None) -> list[Bind]:
        """The Bindings sent, of one pod or all."""
        return [e for e in self.driver.sent if isinstance(e, Bind) and name in (None, e.name)]

    def patches(self, name: str) -> list[PatchPodStatus]:
        """The status patches sent for a pod."""
        return [e for e in self.driver.sent if isinstance(e, PatchPodStatus) and e.name == name]

    def events(self, name: str, reason: str) -> list[RecordEvent]:
        """The Events recorded for a pod."""
        return [e for e in self.driver.sent if isinstance(e, RecordEvent) and e.name == name and e.reason == reason]

    def attempts(self, name: str) -> int:
        """How often a waiting pod has been tried."""
        entry = self.engine.state.queue.get(decode_pod(self.get(name)).uid)
        assert entry is not None
        return entry.attempts

    # Invariants.

    def _check(self) -> None:
        self.engine.validate()
        for effect in self.driver.sent[self._checked :]:
            if isinstance(effect, Bind):
                self._check_binding(effect)
        self._checked = len(self.driver.sent)

    def _check_binding(self, bind: Bind) -> None:
        """INV-1 and INV-5: by all that is known no resource of the node is over-committed, and the UID is there.

        Resources that an extender manages are its own affair.
        """
        assert bind.uid
        placement = self.engine.state.cache.placement(bind.uid)
        info = self.engine.state.cache.nodes.by_name(bind.node_name)
        if placement is None or info is None:
            return
        managed = {name for extender in self.engine.state.extenders for name in extender.managed_resources}
        for resource in placement.pod.usage.amounts.keys() - managed:
            assert info.free(resource) >= 0, f"{bind.name}: {resource} of {bind.node_name} is over-committed"
        assert len(info.pods) <= info.node.allocatable["pods"]

    def at_rest(self) -> None:
        """INV-3: with nothing under way, the cache is what a fresh list would make of it."""
        if self.clock.next_due() is not None or self.engine.summary().in_flight:
            return
        truth: dict[str, set[str]] = {}
        for obj in self.cluster.list("pods")[0]:
            pod = decode_pod(obj)
            if pod.node_name and not pod.terminal:
                truth.setdefault(pod.node_name, set()).add(pod.uid)
        for obj in self.cluster.list("nodes")[0]:
            info = self.engine.state.cache.nodes.by_name(decode_node(obj).name)
            assert info is not None
            differ = set(info.pods) ^ truth.get(info.name, set())
            assert not differ, f"{info.name} holds other pods than the API says: {differ}"
