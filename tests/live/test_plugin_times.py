"""How long plugins take is measured, and who is slow is named."""

from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from scheduler.framework import Code
from scheduler.live.plugin_times import PluginTimes


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def calls(registry: CollectorRegistry, name: str, **labels: str) -> float:
    return registry.get_sample_value(name, labels) or 0.0


def test_a_slow_plugin_is_counted_each_time_and_named_once_in_a_while() -> None:
    registry, clock = CollectorRegistry(), Clock()
    times = PluginTimes(registry, clock)
    with capture_logs() as logs:
        for seconds in (0.05, 0.2, 0.3, 11.0):
            times.plugin_started()
            clock.now += seconds
            times.plugin_finished("Lazy", "Filter", Code.SUCCESS)
    slow = calls(registry, "berth_slow_plugin_calls_total", plugin="Lazy", extension_point="Filter")
    assert slow == 3
    assert [(line["plugin"], line["point"], line["seconds"]) for line in logs] == [
        ("Lazy", "Filter", 0.2),
        ("Lazy", "Filter", 11.0),
    ]


def test_a_tenth_of_the_calls_is_measured() -> None:
    registry, clock = CollectorRegistry(), Clock()
    times = PluginTimes(registry, clock)
    for _ in range(40):
        times.plugin_started()
        times.plugin_finished("Quick", "Score", Code.UNSCHEDULABLE)
    name = "scheduler_plugin_execution_duration_seconds_count"
    assert calls(registry, name, plugin="Quick", extension_point="Score", status="Unschedulable") == 4


def test_calls_within_a_call_are_measured_for_themselves() -> None:
    registry, clock = CollectorRegistry(), Clock()
    times = PluginTimes(registry, clock)
    times.plugin_started()
    clock.now += 0.09
    times.plugin_started()
    clock.now += 0.05
    times.plugin_finished("Inner", "PreEnqueue", Code.SUCCESS)
    times.plugin_finished("Outer", "Reserve", Code.SUCCESS)
    assert calls(registry, "berth_slow_plugin_calls_total", plugin="Outer", extension_point="Reserve") == 1
    assert calls(registry, "berth_slow_plugin_calls_total", plugin="Inner", extension_point="PreEnqueue") == 0
