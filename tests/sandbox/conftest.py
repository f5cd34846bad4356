"""An in-memory cluster with a clock that the test moves."""

import pytest

from scheduler.sandbox.cluster import Cluster
from tests.sandbox.builders import ToldClock


@pytest.fixture
def clock() -> ToldClock:
    return ToldClock()


@pytest.fixture
def cluster(clock: ToldClock) -> Cluster:
    return Cluster(clock)
