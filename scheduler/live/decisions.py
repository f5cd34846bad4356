"""One line for each decision, at info; what is odd, at warning, and not more often than is of use."""

from collections.abc import Callable

import structlog

from scheduler.framework import PodInfo
from scheduler.observer import Observer

_BETWEEN = 10.0

log = structlog.get_logger("berth.decisions")


class DecisionLog(Observer):
    """An observer that writes the log."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last: dict[tuple[str, ...], float] = {}
        self._unsaid: dict[tuple[str, ...], int] = {}

    def pod_bound(self, pod: PodInfo, node_name: str, attempts: int, waited: float) -> None:
        """Say where it went."""
        log.info("bound", pod=pod.key, uid=pod.uid, node=node_name, attempts=attempts, waited=round(waited, 3))

    def pod_failed(self, pod: PodInfo, reason: str, message: str) -> None:
        """Say why not."""
        log.info("not placed", pod=pod.key, uid=pod.uid, reason=reason, message=message)

    def pod_preempts(self, pod: PodInfo, node_name: str, victims: int) -> None:
        """Say at whose cost."""
        log.info("preempts", pod=pod.key, uid=pod.uid, node=node_name, victims=victims)

    def kubelet_refused(self, pod: PodInfo, reason: str) -> None:
        """Say who refused it."""
        log.warning("refused by kubelet", pod=pod.key, uid=pod.uid, node=pod.node_name, reason=reason)

    def plugin_raised(self, plugin: str, point: str, exception: Exception) -> None:
        """Show where it broke."""
        log.error("plugin raised", plugin=plugin, point=point, exc_info=exception)

    def extender_failed(self, extender: str, verb: str, problem: str) -> None:
        """Say which, and what is the matter with it."""
        self._warn("extender failed", (extender, verb), extender=extender, verb=verb, problem=problem)

    def anomaly(self, kind: str, detail: str) -> None:
        """Say so."""
        self._warn(kind, (), detail=detail)

    def _warn(self, event: str, about: tuple[str, ...], **details: str) -> None:
        """A warning, and how often it was not said."""
        now, key = self._clock(), (event, *about)
        if now - self._last.get(key, -_BETWEEN) < _BETWEEN:
            self._unsaid[key] = self._unsaid.get(key, 0) + 1
            return
        self._last[key] = now
        log.warning(event, **details, not_told=self._unsaid.pop(key, 0))
