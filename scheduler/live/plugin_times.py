"""How long plugins take: a sample under kube-scheduler's name, and a warning and a count for each that holds scheduling up.

What PostFilter, PreBind and Bind wait for outside is not theirs to answer for, and is not here.
"""

from collections.abc import Callable

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram

from scheduler.framework import Code
from scheduler.live.metrics import Children, exponential
from scheduler.observer import Observer

# While a plugin works nothing else is decided, sent or renewed.
SLOW = 0.1
_SAMPLED = 10
_BETWEEN = 10.0

log = structlog.get_logger("berth.plugins")


class PluginTimes(Observer):
    """An observer with a clock of its own (seconds)."""

    def __init__(self, registry: CollectorRegistry, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began: list[float] = []
        self._calls = 0
        self._told: dict[tuple[str, str], float] = {}
        self._seconds = Children(
            Histogram(
                "scheduler_plugin_execution_duration_seconds",
                "One call of a plugin; a tenth of them is measured.",
                ("plugin", "extension_point", "status"),
                buckets=exponential(0.00001, 1.5, 20),
                registry=registry,
            )
        )
        self._slow = Children(
            Counter(
                "berth_slow_plugin_calls",
                f"Calls of a plugin that took {SLOW:g} s or longer.",
                ("plugin", "extension_point"),
                registry=registry,
            )
        )

    def plugin_started(self) -> None:
        """Start the clock. What a plugin asks of the handle may have other plugins called."""
        self._began.append(self._clock())

    def plugin_finished(self, plugin: str, point: str, code: Code) -> None:
        """Measure, and name it if it was slow, but not each time."""
        now = self._clock()
        seconds = now - self._began.pop()
        self._calls += 1
        if self._calls % _SAMPLED == 0:
            self._seconds[plugin, point, code.label].observe(seconds)
        if seconds < SLOW:
            return
        self._slow[plugin, point].inc()
        if now - self._told.get((plugin, point), -_BETWEEN) >= _BETWEEN:
            self._told[plugin, point] = now
            log.warning("plugin is slow", plugin=plugin, point=point, seconds=round(seconds, 3))
