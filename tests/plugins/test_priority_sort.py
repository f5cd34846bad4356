"""Who comes first in the queue."""

import pytest

from plugins.priority_sort import PrioritySort
from tests.builders import pod
from tests.plugins.cluster import Cluster


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((50, 9.0), (10, 1.0)),
        ((0, 5.0), (-1, 0.0)),
        ((7, 1.0), (7, 2.0)),
        ((None, 1.0), (None, 2.0)),
        ((2_000_001_000, 3.0), (1_000_000_000, 0.0)),
    ],
)
def test_priority_counts_first_then_time_in_the_queue(
    first: tuple[int | None, float], second: tuple[int | None, float]
) -> None:
    plugin = Cluster().plugin(PrioritySort)
    earlier, later = (plugin.sort_key(pod("p", priority=priority), at) for priority, at in (first, second))
    assert earlier < later
