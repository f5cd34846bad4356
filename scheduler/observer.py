"""Hooks for measuring: what the engine tells whoever watches it. The engine has no clock, so an observer brings its own."""

from scheduler.framework import Code, PodInfo


class Observer:
    """Told of what happens; every method does nothing by default. An observer must not call back into the engine."""

    def cycle_started(self, profile: str, key: str) -> None:
        """A scheduling cycle of this profile (a schedulerName) begins. `key` tells it from others that wait for extenders."""

    def cycle_finished(self, profile: str, key: str, result: str) -> None:
        """It ended: `scheduled`, `unschedulable` or `error`."""

    def point_started(self, profile: str, point: str) -> None:
        """An extension point is about to run; points do not nest within a profile."""

    def point_finished(self, profile: str, point: str, code: Code) -> None:
        """It has run."""

    def pod_queued(self, queue: str, event: str) -> None:
        """A pod entered `active`, `backoff`, `unschedulable` or `gated` because of this event."""

    def pod_bound(self, pod: PodInfo, node_name: str, attempts: int, waited: float) -> None:
        """A pod was bound, `waited` seconds after it was first admitted to the active queue."""

    def pod_failed(self, pod: PodInfo, reason: str, message: str) -> None:
        """An attempt failed; `reason` is the PodScheduled reason."""

    def preemption_tried(self) -> None:
        """A pod fits nowhere, and PostFilter is about to try to make room."""

    def pod_preempts(self, pod: PodInfo, node_name: str, victims: int) -> None:
        """Room is being made for a pod on this node, at the cost of so many others."""

    def kubelet_refused(self, pod: PodInfo, reason: str) -> None:
        """A kubelet refused a pod that was bound to it (OutOfcpu and the like)."""

    def plugin_started(self) -> None:
        """A plugin is about to be called. Calls may nest, for what it asks of the handle may have others called."""

    def plugin_finished(self, plugin: str, point: str, code: Code) -> None:
        """It has answered. A filter for one node at a time counts as called once for all nodes."""

    def plugin_raised(self, plugin: str, point: str, exception: Exception) -> None:
        """A plugin raised; the attempt ends as an error and the loop goes on."""

    def extender_failed(self, extender: str, verb: str, problem: str) -> None:
        """An extender did not answer, or not with what can be used."""

    def anomaly(self, kind: str, detail: str) -> None:
        """Something unexpected was observed and dealt with (a pod that moved, an update for an unknown pod)."""
