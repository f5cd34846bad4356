"""Placements that no scheduler may make are found, whatever is wrong with them."""

import pytest

from tests.bench.cluster.checks import BrokenRuleError, check
from tests.bench.cluster.quality import quality
from tests.bench.cluster.workloads.bodies import image, node, pod
from tests.bench.cluster.workloads.catalog import WORKLOADS
from tests.bench.cluster.workloads.model import JsonObject, Placements

RUN = "run-1"


def on(number: int, index: int, **more: int) -> JsonObject:
    """The measured pod of this number on a node."""
    made = pod(number, **more)
    made["metadata"]["namespace"] = RUN
    made["spec"]["nodeName"] = f"node-{index:05d}"
    return made


def placements(*pods: JsonObject, nodes: int = 12) -> Placements:
    made = [node(number) for number in range(nodes)]
    return Placements({each["metadata"]["name"]: each for each in made}, list(pods))


@pytest.mark.parametrize(
    ("pods", "what"),
    [
        ([on(0, 1, cpu=3000), on(1, 1, cpu=1001)], "cpu"),
        ([on(0, 1, memory=20 * 1024), on(1, 1, memory=13 * 1024)], "memory"),
        ([on(number, 1, cpu=1, memory=1) for number in range(111)], "pods"),
    ],
)
def test_a_node_with_too_much_on_it(pods: list[JsonObject], what: str) -> None:
    with pytest.raises(BrokenRuleError, match=f"node-00001 is over-committed: .* of {what}"):
        check(placements(*pods), WORKLOADS["plain"], RUN)


def test_pods_of_others_count_too() -> None:
    other = on(0, 1, cpu=3000)
    other["metadata"]["namespace"] = "population"
    with pytest.raises(BrokenRuleError, match="over-committed"):
        check(placements(other, on(1, 1, cpu=2000)), WORKLOADS["plain"], RUN)


@pytest.mark.parametrize(
    ("workload", "pods", "message"),
    [
        ("node-affinity", [on(0, 4)], "which is not disk=fast"),
        ("spread-hard", [*(on(0, 0) for _ in range(7)), on(0, 1), on(0, 2)], "app-0 is spread"),
        ("anti-affinity", [on(0, 1), on(5, 1)], "two pods of app-0 are on node-00001"),
        ("affinity", [on(0, 0), on(5, 1)], "apps are in several domains"),
    ],
)
def test_a_hard_rule_that_is_broken(workload: str, pods: list[JsonObject], message: str) -> None:
    with pytest.raises(BrokenRuleError, match=message):
        check(placements(*pods), WORKLOADS[workload], RUN)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_placements_with_which_nothing_is_wrong(workload: str) -> None:
    check(placements(on(0, 1), on(1, 2), on(5, 10)), WORKLOADS["plain"], RUN)
    check(placements(on(0, 1), on(1, 2), on(2, 3)), WORKLOADS[workload], RUN)


def test_how_good_placements_are() -> None:
    even = quality(placements(*(on(0, number, cpu=400, memory=3277) for number in range(12))), RUN)
    heaped = quality(placements(*(on(0, 3 * number % 12, cpu=400, memory=3277) for number in range(9))), RUN)
    assert even.balance < heaped.balance
    assert (even.skew, heaped.skew) == (0, 9)
    assert quality(placements(on(0, 0), on(5, 3), on(1, 1)), RUN).skew == 1.5
    assert quality(placements(on(0, 0), on(5, 1)), RUN).images == 50
    assert node(0)["status"]["images"][0]["names"] == [image(0)]


def test_cpu_is_stranded_where_no_memory_is_left() -> None:
    full = quality(placements(on(0, 0, cpu=2000, memory=32 * 1024 - 10), nodes=2), RUN)
    assert full.stranded == pytest.approx(100 * 2 / 6)
