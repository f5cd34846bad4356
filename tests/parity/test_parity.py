"""berth and kube-scheduler on random clusters: the same nodes, scores, messages and victims. `make parity SEEDS=N` tries more."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from scheduler.config import PluginRef
from tests.controlplane.binaries import Binaries
from tests.parity.__main__ import first_difference, smallest, stage
from tests.parity.cluster import draw
from tests.parity.compare import Coverage, unused
from tests.parity.profiles import configuration
from tests.parity.stage import Stage

pytestmark = pytest.mark.controlplane("kube-scheduler")

CLUSTERS = 100
CONFIGURATION = configuration()


@pytest.fixture(scope="module")
def on(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(binaries, tmp_path_factory.mktemp("parity")) as made:
        yield made


def test_no_difference_on_random_clusters(on: Stage) -> None:
    coverage = Coverage()
    for seed in range(CLUSTERS):
        found = first_difference(on, CONFIGURATION, draw(seed), coverage)
        assert found is None, found.told()
    assert not unused(coverage)


def test_a_difference_is_found_and_made_small(on: Stage) -> None:
    defaults = CONFIGURATION.profiles[0]
    scores = tuple(PluginRef(p.name, p.weight + (p.name == "TaintToleration")) for p in defaults.plugins["score"])
    other = replace(defaults, plugins={**defaults.plugins, "score": scores})
    wrong = replace(CONFIGURATION, profiles=(other, *CONFIGURATION.profiles[1:]))
    found = first_difference(on, wrong, draw(0), Coverage())
    assert found is not None
    assert found.what == "the scores of TaintToleration"
    small = smallest(on, wrong, found)
    assert small.what == found.what
    assert len(small.cluster.nodes) == 2
    assert not small.cluster.running
