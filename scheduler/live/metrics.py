"""What is measured as it happens, under kube-scheduler's names. Not here: what is read off when asked (vitals.py).

Labels are bounded: none of them holds the name of a pod, a node or a namespace. Children are looked up once and kept.
"""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase

from scheduler.framework import Code, PodInfo
from scheduler.observer import Observer

_MOST_ATTEMPTS = 15
_MOST_CHILDREN = 200

M = TypeVar("M", bound=MetricWrapperBase)


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Upper bounds of buckets, as client_golang's ExponentialBuckets."""
    return tuple(start * factor**i for i in range(count))


class Children(Generic[M]):
    """A metric's children by label values, each looked up once. When there are many the last label says `other`."""

    def __init__(self, metric: M) -> None:
        self._metric = metric
        self._children: dict[tuple[str, ...], M] = {}

    def __getitem__(self, labels: tuple[str, ...]) -> M:
        child = self._children.get(labels)
        if child is None:
            if labels and len(self._children) >= _MOST_CHILDREN:
                labels = (*labels[:-1], "other")
            child = self._children[labels] = self._metric.labels(*labels) if labels else self._metric
        return child


class Metrics(Observer):
    """An observer with a clock of its own that counts and times; also told of API calls."""

    def __init__(self, registry: CollectorRegistry, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._cycles_began: dict[str, float] = {}
        self._point_began = 0.0

        def counter(name: str, text: str, *labels: str) -> Children[Counter]:
            return Children(Counter(name, text, labels, registry=registry))

        def histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Children[Histogram]:
            return Children(Histogram(name, text, labels, buckets=buckets, registry=registry))

        api_call = "scheduler_async_api_call_execution"
        self._attempts = counter("scheduler_schedule_attempts", "Attempts to place a pod.", "result", "profile")
        self._attempt_seconds = histogram(
            "scheduler_scheduling_attempt_duration_seconds",
            "Scheduling cycles, without the binding.",
            exponential(0.001, 2, 15),
            "result",
            "profile",
        )
        self._point_seconds = histogram(
            "scheduler_framework_extension_point_duration_seconds",
            "All plugins of an extension point, for one pod.",
            exponential(0.0001, 2, 12),
            "extension_point",
            "status",
            "profile",
        )
        self._sli_seconds = histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "From a pod's first admission to the active queue until it is bound.",
            exponential(0.01, 2, 20),
            "attempts",
        )
        self._pod_attempts = histogram("scheduler_pod_scheduling_attempts", "Until bound.", exponential(1, 2, 5))[()]
        self._preemptions = counter("scheduler_preemption_attempts", "Attempts to make room for a pod.")[()]
        self._victims = histogram("scheduler_preemption_victims", "Victims of a preemption.", exponential(1, 2, 7))[()]
        self._incoming = counter("scheduler_queue_incoming_pods", "Pods that entered a queue.", "queue", "event")
        self._calls = counter(api_call, "Requests to the API server.", "call_type", "result")
        self._call_seconds = histogram(
            f"{api_call}_duration_seconds",
            "Requests to the API server.",
            exponential(0.001, 2, 15),
            "call_type",
            "result",
        )
        self._refusals = counter("berth_kubelet_refusals", "Pods bound by berth that a kubelet refused.", "reason")
        self._exceptions = counter("berth_plugin_exceptions", "Exceptions of plugins.", "plugin", "extension_point")
        self._extender_failures = counter(
            "berth_extender_failures", "Calls of an extender without a usable answer.", "verb", "extender"
        )
        self._extender_seconds = histogram(
            "berth_extender_duration_seconds",
            "Calls of an extender.",
            exponential(0.001, 2, 15),
            "verb",
            "extender",
        )
        self._anomalies = counter("berth_anomalies", "Unexpected things that were dealt with.", "kind")

    def cycle_started(self, profile: str, key: str) -> None:
        """Start the clock."""
        self._cycles_began[key] = self._clock()

    def cycle_finished(self, profile: str, key: str, result: str) -> None:
        """Time the cycle."""
        self._attempt_seconds[result, profile].observe(self._clock() - self._cycles_began.pop(key))

    def point_started(self, profile: str, point: str) -> None:
        """Start the clock."""
        self._point_began = self._clock()

    def point_finished(self, profile: str, point: str, code: Code) -> None:
        """Time the extension point."""
        self._point_seconds[point, code.label, profile].observe(self._clock() - self._point_began)

    def pod_queued(self, queue: str, event: str) -> None:
        """Count it."""
        self._incoming[queue, event].inc()

    def pod_bound(self, pod: PodInfo, node_name: str, attempts: int, waited: float) -> None:
        """Count the attempt, and time the whole wait."""
        self._attempts["scheduled", pod.spec.scheduler_name].inc()
        label = str(attempts) if attempts < _MOST_ATTEMPTS else f"{_MOST_ATTEMPTS}+"
        self._sli_seconds[(label,)].observe(waited)
        self._pod_attempts.observe(attempts)

    def pod_failed(self, pod: PodInfo, reason: str, message: str) -> None:
        """Count the attempt."""
        result = "unschedulable" if reason == "Unschedulable" else "error"
        self._attempts[result, pod.spec.scheduler_name].inc()

    def preemption_tried(self) -> None:
        """Count it."""
        self._preemptions.inc()

    def pod_preempts(self, pod: PodInfo, node_name: str, victims: int) -> None:
        """Count the victims."""
        self._victims.observe(victims)

    def kubelet_refused(self, pod: PodInfo, reason: str) -> None:
        """Count it."""
        self._refusals[(reason,)].inc()

    def plugin_raised(self, plugin: str, point: str, exception: Exception) -> None:
        """Count it."""
        self._exceptions[plugin, point].inc()

    def extender_failed(self, extender: str, verb: str, problem: str) -> None:
        """Count it."""
        self._extender_failures[verb, extender].inc()

    def extender_called(self, extender: str, verb: str, seconds: float) -> None:
        """A call of an extender ended."""
        self._extender_seconds[verb, extender].observe(seconds)

    def anomaly(self, kind: str, detail: str) -> None:
        """Count it."""
        self._anomalies[(kind,)].inc()

    def called(self, name: str, result: str, seconds: float) -> None:
        """A request to the API server ended."""
        self._calls[name, result].inc()
        self._call_seconds[name, result].observe(seconds)
