"""What /metrics shows: kube-scheduler's names, and not one series more however many pods there are."""

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from scheduler.engine import Summary
from scheduler.framework import Code
from scheduler.live.metrics import Metrics
from scheduler.live.vitals import Reading, Vitals
from tests.builders import pod

SUMMARY = Summary(
    profiles=("berth",),
    nodes=3,
    pending={"active": 1, "backoff": 2, "unschedulable": 3, "gated": 4},
    in_flight=0,
    bound=7,
    assumed=2,
    bound_here=5,
    refused_by_kubelets=0,
    last_decision="",
    synced=True,
    leading=True,
)


def samples(registry: CollectorRegistry) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    text = generate_latest(registry).decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_attempts_are_counted_by_their_end() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry, lambda: 0.0)
    metrics.pod_bound(pod("a"), "n1", attempts=1, waited=0.5)
    metrics.pod_failed(pod("b"), "Unschedulable", "no room")
    metrics.pod_failed(pod("b"), "SchedulerError", "broken")
    found = samples(registry)
    for result in ("scheduled", "unschedulable", "error"):
        labels = (("profile", "berth"), ("result", result))
        assert found["scheduler_schedule_attempts_total", labels] == 1


def test_preemptions_are_counted_with_their_victims() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry, lambda: 0.0)
    metrics.preemption_tried()
    metrics.preemption_tried()
    metrics.pod_preempts(pod("a"), "n1", victims=3)
    found = samples(registry)
    assert found["scheduler_preemption_attempts_total", ()] == 2
    assert found["scheduler_preemption_victims_sum", ()] == 3
    assert found["scheduler_preemption_victims_count", ()] == 1


def test_cycles_and_points_are_timed_with_the_observers_own_clock() -> None:
    registry, moments = CollectorRegistry(), iter([10.0, 10.25, 10.5, 12.0])
    metrics = Metrics(registry, lambda: next(moments))
    metrics.cycle_started("berth", "one")
    metrics.point_started("berth", "Filter")
    metrics.point_finished("berth", "Filter", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
    metrics.cycle_finished("berth", "one", "unschedulable")
    found = samples(registry)
    point = (("extension_point", "Filter"), ("profile", "berth"), ("status", "UnschedulableAndUnresolvable"))
    assert found["scheduler_framework_extension_point_duration_seconds_sum", point] == 0.25
    cycle = (("profile", "berth"), ("result", "unschedulable"))
    assert found["scheduler_scheduling_attempt_duration_seconds_sum", cycle] == 2.0


def test_many_attempts_share_a_label() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry, lambda: 0.0)
    for attempts in (14, 15, 40):
        metrics.pod_bound(pod("a"), "n1", attempts, waited=1.0)
    found = samples(registry)
    assert found["scheduler_pod_scheduling_sli_duration_seconds_count", (("attempts", "14"),)] == 1
    assert found["scheduler_pod_scheduling_sli_duration_seconds_count", (("attempts", "15+"),)] == 2


def test_the_number_of_series_does_not_grow_with_pods_nodes_or_namespaces() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry, lambda: 0.0)

    def live_through(pods: int) -> int:
        for i in range(pods):
            one = pod(f"p{i}", namespace=f"ns{i % 40}", status={"phase": "Failed", "reason": f"OutOfthing-{i}"})
            metrics.pod_queued("active", "PodAdd")
            metrics.pod_failed(one, "Unschedulable", f"message {i}")
            metrics.pod_bound(one, f"n{i}", attempts=1 + i % 40, waited=0.1)
            metrics.kubelet_refused(one, one.phase_reason)
            metrics.called("pod_binding", "success", 0.1)
        return len(samples(registry))

    assert live_through(1000) == live_through(3000)


def test_sizes_and_ages_are_read_when_asked_for() -> None:
    registry = CollectorRegistry()
    reading = Reading(SUMMARY, {"Pod": 1.5}, {"pod_binding": 9}, {"queue full": 2}, leading=True)
    registry.register(Vitals(lambda: reading))
    found = samples(registry)
    assert found["scheduler_pending_pods", (("queue", "gated"),)] == 4
    assert found["scheduler_cache_size", (("type", "pods"),)] == 9
    assert found["scheduler_pending_async_api_calls", (("call_type", "pod_binding"),)] == 9
    assert found["berth_watch_staleness_seconds", (("kind", "Pod"),)] == 1.5
    assert found["berth_events_dropped_total", (("cause", "queue full"),)] == 2
    assert found["berth_leader", ()] == 1
