"""What is read off when metrics are asked for: lengths, sizes, ages."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from scheduler.engine import Summary


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at the running program. `staleness` is in seconds per kind, `waiting_calls` by kind of call, `dropped_events`
    by cause.
    """

    summary: Summary
    staleness: Mapping[str, float]
    waiting_calls: Mapping[str, int]
    dropped_events: Mapping[str, int]
    leading: bool


class Vitals(Collector):
    """A collector that takes a reading whenever it is scraped."""

    def __init__(self, read: Callable[[], Reading]) -> None:
        self._read = read

    def describe(self) -> list[Metric]:
        """Nothing, so that registering does not take a reading."""
        return []

    def collect(self) -> Iterator[Metric]:
        """One reading."""
        reading = self._read()
        summary = reading.summary
        sizes = {"nodes": summary.nodes, "pods": summary.bound + summary.assumed, "assumed_pods": summary.assumed}
        yield _gauge("scheduler_pending_pods", "Pods that wait, by queue.", "queue", summary.pending)
        yield _gauge("scheduler_cache_size", "What the cache holds.", "type", sizes)
        waiting = reading.waiting_calls
        yield _gauge("scheduler_pending_async_api_calls", "Calls that wait to be sent.", "call_type", waiting)
        yield _gauge("berth_watch_staleness_seconds", "Since a kind was last heard of.", "kind", reading.staleness)
        leader = GaugeMetricFamily("berth_leader", "Whether this replica leads.")
        leader.add_metric([], float(reading.leading))
        yield leader
        dropped = CounterMetricFamily("berth_events_dropped", "Events that were never written.", labels=["cause"])
        for cause, count in reading.dropped_events.items():
            dropped.add_metric([cause], count)
        yield dropped


def _gauge(name: str, text: str, label: str, values: Mapping[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        family.add_metric([key], value)
    return family
