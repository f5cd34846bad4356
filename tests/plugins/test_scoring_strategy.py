"""Scores of NodeResourcesFit. Expected numbers are worked out by hand from the formulas."""

from collections.abc import Mapping

import pytest

from plugins.node_resources_fit import NodeResourcesFit
from scheduler.framework import Node, PodInfo
from tests.builders import JsonObject, container, node, pod
from tests.plugins.cluster import Cluster, problems

GPU = "nvidia.com/gpu"
NODE = node("n", "4", "10Gi", resources={"ephemeral-storage": "100Gi", GPU: "4"})


def score(
    wanting: PodInfo, strategy: JsonObject | None = None, *, on: Node = NODE, others: tuple[PodInfo, ...] = ()
) -> int:
    cluster = Cluster(on, pods=others)
    args = {} if strategy is None else {"scoringStrategy": strategy}
    scores = cluster.scores(cluster.plugin(NodeResourcesFit, **args), wanting)
    assert scores is not None
    return scores["n"]


def by(kind: str, *shape: tuple[int, int], **weights: int) -> JsonObject:
    """A strategy; weights by resource name, with _ for what names cannot have."""
    resources = [{"name": name.replace("_", "-"), "weight": weight} for name, weight in weights.items()]
    strategy: JsonObject = {"type": kind, "resources": resources}
    if shape:
        points = [{"utilization": utilization, "score": value} for utilization, value in shape]
        strategy["requestedToCapacityRatio"] = {"shape": points}
    return strategy


def gpus(number: int, name: str = "p", on: str | None = None) -> PodInfo:
    return pod(name, "1", "1Gi", node=on, resources={GPU: str(number)})


LEAST, MOST, RATIO = "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (None, 55),  # cpu 70, memory 40
        (by(LEAST), 55),
        (by(MOST), 45),  # cpu 30, memory 60
        (by(LEAST, cpu=3, memory=1), 62),  # 250 / 4
        (by(MOST, cpu=3, memory=1), 37),  # 150 / 4
        (by(MOST, cpu=3, memory=0), 37),  # weight 0 means 1
        (by(LEAST, memory=7), 40),
    ],
)
def test_free_or_used_room_on_average(strategy: JsonObject | None, expected: int) -> None:
    others = (pod("other", "500m", "2Gi", node="n"),)
    # With the pod, 1200m of 4000m cpu and 6 of 10 GiB memory are used.
    assert score(pod("p", "700m", "4Gi"), strategy, others=others) == expected


def test_a_container_that_requests_nothing_counts_as_100m_and_200_mib() -> None:
    on = node("n", "1", "1000Mi")
    assert score(pod("p"), by(LEAST), on=on) == 85  # cpu 90, memory 80
    two = pod("p", containers=[container(name="a"), container("300m", name="b")])
    assert score(two, by(MOST), on=on) == 40  # cpu 400m, memory 400 MiB
    assert score(pod("p", "0", "0"), by(LEAST), on=on) == 100  # an explicit zero is a request
    assert score(pod("p"), by(LEAST), on=on, others=(pod("other", node="n"),)) == 70  # on the node too: 80, 60


def test_more_than_there_is_counts_as_full() -> None:
    on = node("n", "1", "1000Mi")
    others = (pod("other", "3", "100Mi", node="n"),)
    assert score(pod("p", "1", "100Mi"), by(LEAST), on=on, others=others) == 40  # cpu 0, memory 80
    assert score(pod("p", "1", "100Mi"), by(MOST), on=on, others=others) == 60  # cpu 100, memory 20


def test_a_resource_the_node_does_not_have_drops_out() -> None:
    assert score(pod("p", "1", resources={"example.com/a": "1"}), by(LEAST, cpu=1, **{"example.com/a": 9})) == 75
    assert score(pod("p", "1"), by(LEAST, pods=1)) == 0  # not a resource that is scored
    assert score(pod("p", "1"), by(MOST, **{"example.com/a": 1})) == 0


def test_an_extended_resource_counts_only_if_the_pod_asks_for_it() -> None:
    strategy = by(MOST, cpu=1, **{GPU: 3})
    holder = (gpus(2, "other", on="n"),)
    assert score(gpus(1), strategy, others=holder) == 68  # cpu 50, gpu 75: (50 + 225) / 4
    assert score(pod("p", "1", "1Gi"), strategy, others=holder) == 50


def test_native_resources_count_whether_asked_for_or_not() -> None:
    strategy = by(LEAST, ephemeral_storage=1)
    holder = (pod("other", resources={"ephemeral-storage": "30Gi"}, node="n"),)
    assert score(pod("p"), strategy, others=holder) == 70  # no defaults for storage
    assert score(pod("p", resources={"ephemeral-storage": "20Gi"}), strategy, others=holder) == 50


def test_pod_level_requests_and_overhead_count() -> None:
    spec: JsonObject = {"resources": {"requests": {"cpu": "1"}}, "overhead": {"cpu": "1"}}
    assert score(pod("p", "100m", spec=spec), by(LEAST, cpu=1)) == 50


RISING = ((0, 0), (100, 10))
FALLING = ((0, 10), (100, 0))


@pytest.mark.parametrize(
    ("shape", "used", "expected"),
    [
        (RISING, "1", 25),
        (FALLING, "1", 75),
        (RISING, "4", 100),
        (RISING, "1010m", 25),  # 25.25 percent is 25
        (((40, 2), (60, 7)), "1", 20),  # level before the first point
        (((40, 2), (60, 7)), "2", 45),
        (((40, 2), (60, 7)), "3", 70),  # level after the last
        (((0, 0), (33, 10), (66, 0), (100, 5)), "1", 75),  # 100 * 25 / 33
        (((0, 10), (30, 3), (100, 8)), "1", 42),  # 100 - 70 * 25 / 30 = 100 - 58
        (((50, 4),), "1", 40),
    ],
)
def test_a_shape_gives_a_score_for_each_utilization(
    shape: tuple[tuple[int, int], ...], used: str, expected: int
) -> None:
    assert score(pod("p", used), by(RATIO, *shape, cpu=1)) == expected


def test_over_full_is_as_full() -> None:
    others = (pod("other", "4", node="n"),)
    assert score(pod("p", "4"), by(RATIO, (0, 0), (90, 10), (100, 6), cpu=1), others=others) == 60


def test_a_score_of_zero_takes_its_weight_out_of_the_mean() -> None:
    shape = ((50, 0), (100, 10))
    # cpu 25 percent: 0; memory 75 percent: 50
    assert score(pod("p", "1", "7680Mi"), by(RATIO, *shape, cpu=9, memory=1)) == 50
    assert score(pod("p", "1", "1Gi"), by(RATIO, *shape, cpu=1, memory=1)) == 0


def test_the_mean_is_rounded_half_up() -> None:
    # cpu 25, memory 30
    assert score(pod("p", "1", "3Gi"), by(RATIO, *RISING, cpu=1, memory=1)) == 28
    assert score(pod("p", "1", "3Gi"), by(RATIO, *RISING, cpu=3, memory=1)) == 26  # 26.25


def test_bin_packing_of_devices_prefers_the_node_that_ends_up_full() -> None:
    cluster = Cluster(
        node("empty", resources={GPU: "4"}),
        node("half", resources={GPU: "4"}),
        node("none"),
        pods=[gpus(2, "other", on="half")],
    )
    plugin = cluster.plugin(NodeResourcesFit, scoringStrategy=by(RATIO, *RISING, **{GPU: 1}))
    assert cluster.scores(plugin, gpus(2)) == {"empty": 50, "half": 100, "none": 0}


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({"resources": []}, [f'type: found "", allowed: {LEAST}, {MOST}, {RATIO}']),
        ({"type": "Most"}, [f'type: found "Most", allowed: {LEAST}, {MOST}, {RATIO}']),
        (
            by(LEAST, cpu=101, memory=-1),
            [
                "resources[0].weight: found 101, allowed: 1 to 100, or 0 for 1",
                "resources[1].weight: found -1, allowed: 1 to 100, or 0 for 1",
            ],
        ),
        ({"type": RATIO}, ["requestedToCapacityRatio.shape: found none, allowed: at least one point"]),
        (by(MOST, *RISING), [f"requestedToCapacityRatio: found with type {MOST}, allowed: with {RATIO} only"]),
        (
            by(RATIO, (0, 11), (0, -1), (101, 1)),
            [
                "requestedToCapacityRatio.shape[0].score: found 11, allowed: 0 to 10",
                "requestedToCapacityRatio.shape[1].utilization: found 0, allowed: more than in the point before",
                "requestedToCapacityRatio.shape[1].score: found -1, allowed: 0 to 10",
                "requestedToCapacityRatio.shape[2].utilization: found 101, allowed: 0 to 100",
            ],
        ),
    ],
)
def test_strategies_that_cannot_be(strategy: Mapping[str, object], expected: list[str]) -> None:
    found = problems(NodeResourcesFit, scoringStrategy=strategy)
    assert found == [f"scoringStrategy.{problem}" for problem in expected]
