"""What pods ask for and what they take (BR-049, 051, 052, 053, 055; kube-scheduler's PodRequests)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import container, node, pod

JsonObject = dict[str, Any]
GIB = 2**30


def sidecar(cpu: str, name: str = "sidecar") -> JsonObject:
    return container(cpu, name=name, restart_policy="Always")


def cpu_of(containers: list[JsonObject], init: list[JsonObject], **spec: Any) -> int:
    return pod("p", containers=containers, spec={"initContainers": init, **spec}).spec.requests.amounts.get("cpu", 0)


@pytest.mark.parametrize(
    ("init", "main", "total"),
    [
        pytest.param([sidecar("250m")], "4", 4250, id="a sidecar runs beside the main container"),
        pytest.param(
            [sidecar("100m"), container("200m", name="i")], "100m", 300, id="an init container beside a sidecar"
        ),
        pytest.param(
            [container("500m", name="i"), sidecar("100m")], "100m", 500, id="an init container before the sidecar"
        ),
        pytest.param(
            [sidecar("100m", "s1"), sidecar("100m", "s2"), container("1", name="i")],
            "500m",
            1200,
            id="two sidecars first",
        ),
    ],
)
def test_init_containers_and_sidecars_count_in_their_order(init: list[JsonObject], main: str, total: int) -> None:
    assert cpu_of([container(main)], init) == total


def test_pod_level_requests_replace_the_sum_and_overhead_is_added_once() -> None:
    containers = [
        container("500m", "1Gi", name="a"),
        container("500m", "1Gi", name="b", resources={"nvidia.com/gpu": "1"}),
    ]
    init = [container("8", name="heavy")]
    spec = {"resources": {"requests": {"cpu": "2"}}, "initContainers": init, "overhead": {"cpu": "250m"}}
    amounts = pod("p", containers=containers, spec=spec).spec.requests.amounts
    assert amounts == {"cpu": 2250, "memory": 2 * GIB, "nvidia.com/gpu": 1}


def test_the_defaults_for_scoring_are_per_container_and_an_explicit_zero_stays_zero() -> None:
    requests = pod("p", containers=[container("1", name="a"), container("0", "0", name="b")]).spec.requests
    assert (requests.nonzero_cpu, requests.nonzero_memory) == (1000, 200 * 2**20)
    assert requests.amounts == {"cpu": 1000}


def test_sums_are_exact_before_they_are_rounded() -> None:
    assert cpu_of([container("0.1", name=n) for n in "abc"], []) == 300
    assert cpu_of([container("0.0004", name=n) for n in "abcde"], []) == 2


def resizing(spec: str, allocated: str, actual: str, conditions: list[JsonObject] | None = None) -> int:
    status: JsonObject = {
        "phase": "Running",
        "conditions": conditions or [],
        "containerStatuses": [
            {
                "name": "main",
                "allocatedResources": {"cpu": allocated},
                "resources": {"requests": {"cpu": actual}},
            }
        ],
    }
    return pod("p", spec, node="n1", status=status).usage.amounts["cpu"]


INFEASIBLE = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
DEFERRED = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]


@pytest.mark.parametrize(
    ("spec", "allocated", "actual", "conditions", "counted"),
    [
        pytest.param("3", "1", "1", None, 3000, id="growing: what is wanted"),
        pytest.param("3", "1", "1", INFEASIBLE, 1000, id="infeasible: what it has"),
        pytest.param("3", "1", "1", DEFERRED, 3000, id="deferred: what it waits for"),
        pytest.param("1", "3", "3", None, 3000, id="shrinking: what it has until the status falls"),
        pytest.param("1", "1", "3", None, 3000, id="shrinking: what is actually there"),
        pytest.param("1", "1", "1", None, 1000, id="at rest"),
    ],
)
def test_a_resize_counts_the_largest_number_that_may_hold(
    spec: str, allocated: str, actual: str, conditions: list[JsonObject] | None, counted: int
) -> None:
    assert resizing(spec, allocated, actual, conditions) == counted


def test_a_pod_that_waits_counts_its_spec_only() -> None:
    waiting = pod("p", "3", status={"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "9"}}}]})
    assert waiting.usage.amounts["cpu"] == 3000


@pytest.mark.parametrize("amount", ["1Kx", "1 Gi", "", "0x10"])
def test_an_unreadable_quantity_makes_a_pod_with_a_problem_that_says_where(amount: str) -> None:
    broken = pod("p", memory=amount)
    assert broken.problem is not None
    assert "spec.containers[main].resources.requests[memory]" in broken.problem
    assert repr(amount) in broken.problem
    assert broken.spec.scheduler_name == "berth"


def test_a_node_keeps_what_can_be_read() -> None:
    assert node("n", memory="lots").allocatable == {"cpu": 4000, "pods": 110}


def test_pods_that_say_the_same_share_everything_but_who_they_are() -> None:
    first, second = pod("a", "1", labels={"app": "x"}), pod("b", "1", labels={"app": "x"}, node="n1")
    other = pod("c", "1", labels={"app": "y"})
    assert first.template is second.template
    assert other.template is not first.template
    assert other.spec is first.spec


@given(st.permutations(["100m", "250m", "1", "2500m"]))
def test_the_order_of_regular_containers_and_of_sidecars_does_not_matter(amounts: list[str]) -> None:
    containers = [container(cpu, name=f"c{i}") for i, cpu in enumerate(amounts)]
    sidecars = [sidecar(cpu, f"s{i}") for i, cpu in enumerate(amounts)]
    assert cpu_of(containers, sidecars) == 7700
