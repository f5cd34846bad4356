"""Time is what the caller's clock says."""

import pytest

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.fields import integer_at, text_at
from tests.sandbox.builders import ToldClock, binding, pod


def test_creation_and_binding_carry_the_told_time(cluster: Cluster, clock: ToldClock) -> None:
    created = cluster.create("pods", pod("p"))
    clock.advance(90)
    cluster.bind("default", "p", binding("p", "n1"))
    bound = cluster.get("pods", "default", "p")
    assert text_at(created, "metadata", "creationTimestamp") == "2026-01-01T00:00:00Z"
    conditions = bound["status"]
    assert isinstance(conditions, dict)
    assert "2026-01-01T00:01:30Z" in str(conditions["conditions"])


def test_grace_ends_at_the_told_time_and_only_shortens(cluster: Cluster, clock: ToldClock) -> None:
    cluster.create("pods", pod("p", terminationGracePeriodSeconds=60))
    cluster.bind("default", "p", binding("p", "n1"))
    assert text_at(cluster.delete("pods", "default", "p"), "metadata", "deletionTimestamp") == "2026-01-01T00:01:00Z"
    clock.advance(10)
    shortened = cluster.delete("pods", "default", "p", grace_period=20)
    assert text_at(shortened, "metadata", "deletionTimestamp") == "2026-01-01T00:00:20Z"
    assert text_at(cluster.delete("pods", "default", "p", grace_period=30), "metadata", "deletionTimestamp") == (
        "2026-01-01T00:00:20Z"
    )
    clock.advance(40)
    overdue = cluster.delete("pods", "default", "p", grace_period=1)
    assert text_at(overdue, "metadata", "deletionTimestamp") == "2026-01-01T00:00:50Z"
    assert integer_at(overdue, "metadata", "deletionGracePeriodSeconds") == 1
    cluster.delete("pods", "default", "p", grace_period=0)
    with pytest.raises(ApiError, match="not found"):
        cluster.get("pods", "default", "p")


def test_nothing_goes_by_itself_when_its_grace_is_over(cluster: Cluster, clock: ToldClock) -> None:
    cluster.create("pods", pod("p"))
    cluster.bind("default", "p", binding("p", "n1"))
    cluster.delete("pods", "default", "p")
    clock.advance(3600)
    assert cluster.get("pods", "default", "p")
