"""The best row is one of those with the largest total, and each of these is as likely as any other."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.runtime.leaders import Leaders

ROWS = 8
CHANGES = st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(-1, 3)), max_size=6)


@settings(max_examples=200)
@given(st.lists(CHANGES, min_size=20, max_size=60))
def test_the_best_row_has_the_largest_total_whatever_has_changed(history: list[list[tuple[int, int]]]) -> None:
    leaders, totals, rng = Leaders(), np.ones(ROWS, np.int64), np.random.default_rng(1)
    nothing: list[list[tuple[int, int]]] = [[] for _ in range(20)]
    for changes in nothing + history:
        for row, total in changes:
            totals[row] = total
            leaders.note(row)
        if totals.max() >= 0:
            assert totals[leaders.pick(totals, rng)] == totals.max()


def picks(follow: list[tuple[int, int]], times: int = 4000) -> Counter[int]:
    """How often each row is picked after the same history, over many seeds."""
    found: Counter[int] = Counter()
    for seed in range(times):
        leaders, totals, rng = Leaders(), np.ones(ROWS, np.int64), np.random.default_rng(seed)
        for _ in range(20):
            leaders.pick(totals, rng)
        for row, total in follow:
            totals[row] = total
            leaders.note(row)
            last = leaders.pick(totals, rng)
        found[last] += 1
    return found


def test_rows_that_lead_together_are_picked_equally_often() -> None:
    """500 each of 4,000 are expected; a deviation by 100 is less likely than one in 100,000."""
    found = picks([(3, 1)])
    assert set(found) == set(range(ROWS))
    assert all(abs(times - 500) < 100 for times in found.values())


def test_rows_that_left_and_came_back_are_picked_as_often_as_the_others() -> None:
    found = picks([(3, 0), (5, 2), (5, 0), (3, 1), (6, 1), (5, 1)])
    assert set(found) == set(range(ROWS))
    assert all(abs(times - 500) < 100 for times in found.values())


def test_the_same_row_is_not_picked_for_ever_where_its_total_stays() -> None:
    leaders, totals, rng = Leaders(), np.ones(ROWS, np.int64), np.random.default_rng(1)
    found = Counter[int]()
    for _ in range(4000):
        row = leaders.pick(totals, rng)
        found[row] += 1
        leaders.note(row)
    assert all(abs(found[row] - 500) < 100 for row in range(ROWS))
