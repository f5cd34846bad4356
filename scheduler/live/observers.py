"""Several observers as one."""

from scheduler.framework import Code, PodInfo
from scheduler.observer import Observer


class Observers(Observer):
    """Tells each of them what it is told, in order."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers
        # Called some forty times a decision, and of interest to one of them.
        self._timing = [one for one in observers if type(one).plugin_started is not Observer.plugin_started]

    def cycle_started(self, profile: str, key: str) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.cycle_started(profile, key)

    def cycle_finished(self, profile: str, key: str, result: str) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.cycle_finished(profile, key, result)

    def point_started(self, profile: str, point: str) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.point_started(profile, point)

    def point_finished(self, profile: str, point: str, code: Code) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.point_finished(profile, point, code)

    def pod_queued(self, queue: str, event: str) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.pod_queued(queue, event)

    def pod_bound(self, pod: PodInfo, node_name: str, attempts: int, waited: float) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.pod_bound(pod, node_name, attempts, waited)

    def pod_failed(self, pod: PodInfo, reason: str, message: str) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.pod_failed(pod, reason, message)

    def preemption_tried(self) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.preemption_tried()

    def pod_preempts(self, pod: PodInfo, node_name: str, victims: int) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.pod_preempts(pod, node_name, victims)

    def kubelet_refused(self, pod: PodInfo, reason: str) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.kubelet_refused(pod, reason)

    def plugin_started(self) -> None:
        """Pass it on."""
        for observer in self._timing:
            observer.plugin_started()

    def plugin_finished(self, plugin: str, point: str, code: Code) -> None:
        """Pass it on."""
        for observer in self._timing:
            observer.plugin_finished(plugin, point, code)

    def plugin_raised(self, plugin: str, point: str, exception: Exception) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.plugin_raised(plugin, point, exception)

    def extender_failed(self, extender: str, verb: str, problem: str) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.extender_failed(extender, verb, problem)

    def anomaly(self, kind: str, detail: str) -> None:
        """Pass it on."""
        for observer in self._observers:
            observer.anomaly(kind, detail)
