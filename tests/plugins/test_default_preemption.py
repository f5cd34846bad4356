"""DefaultPreemption, by kube-scheduler's own tables (default_preemption_test.go) and the rules of the reference, 1.11."""

from collections import Counter
from typing import Any

import pytest

from plugins.default_preemption import DefaultPreemption, cost
from scheduler.framework import Node, PodInfo, Victims
from scheduler.messages import PodGone, PodSeen
from tests.builders import budget, container, node, pod, taint
from tests.plugins.cluster import problems
from tests.plugins.preempting import HIGH, HIGHEST, LOW, MID, Preempting, running

SMALL, MEDIUM, LARGE, VERY_LARGE = "1", "2", "3", "5"
APP = {"app": "foo"}


def preemptor(cpu: str = LARGE, priority: int = HIGH, **fields: Any) -> PodInfo:
    return pod("p", cpu, priority=priority, **fields)


def nodes(count: int, cpu: str = "5") -> list[Node]:
    return [node(f"node{i}", cpu) for i in range(1, count + 1)]


@pytest.mark.parametrize(
    ("pods", "victims"),
    [
        pytest.param(
            [("small", SMALL, LOW, None), ("large", LARGE, MID, None)],
            {"large"},
            id="a small one may stay, though it is less",
        ),
        pytest.param(
            [("a", SMALL, MID, None), ("b", SMALL, LOW, None), ("c", MEDIUM, MID, None), ("d", SMALL, HIGH, None)],
            {"b", "c"},
            id="the most important are spared first, and what still fits after them",
        ),
        pytest.param(
            [("a", SMALL, LOW, 5), ("b", SMALL, LOW, 4), ("c", MEDIUM, MID, 3), ("d", SMALL, HIGH, 2)],
            {"a", "c"},
            id="of equals the one that started last goes",
        ),
        pytest.param(
            [("started", MEDIUM, LOW, 1), ("not-yet", MEDIUM, LOW, None)],
            {"not-yet"},
            id="one that has not started goes first",
        ),
    ],
)
def test_only_those_go_that_must(pods: list[tuple[str, str, int, int | None]], victims: set[str]) -> None:
    cluster = Preempting(
        [node("node1", "5")], [running(name, "node1", cpu, prio, started=at) for name, cpu, prio, at in pods]
    )
    tried = cluster.attempt(preemptor())
    assert (tried.node, tried.victims) == ("node1", victims)


def test_nobody_of_the_same_priority_goes() -> None:
    cluster = Preempting([node("node1", "3")], [running("same", "node1", LARGE, HIGH)])
    tried = cluster.attempt(preemptor())
    assert (tried.node, tried.victims) == (None, set())
    assert tried.message == (
        "0/1 nodes are available: 1 Insufficient cpu. "
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )


def test_the_message_says_of_each_node_why_evictions_are_of_no_use() -> None:
    cluster = Preempting(
        [
            node("full-of-equals", "4"),
            node("too-full-all-the-same", "4"),
            node("too-small", "2"),
            node("tainted", "4", taints=[taint("k")]),
        ],
        [
            running("equal", "full-of-equals", LARGE, HIGH),
            running("greater", "too-full-all-the-same", MEDIUM, HIGHEST),
            running("less", "too-full-all-the-same", SMALL, LOW),
        ],
    )
    assert cluster.attempt(preemptor()).message.partition(" preemption: ")[2] == (
        "0/4 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, "
        "2 Preemption is not helpful for scheduling."
    )


def test_host_ports_are_freed_too() -> None:
    port: dict[str, Any] = {"containers": [container(SMALL, ports=[{"containerPort": 80, "hostPort": 80}])]}
    pods = [running("has-the-port", "node1", SMALL, LOW, **port), running("other", "node1", SMALL, LOW)]
    tried = Preempting([node("node1", "8")], pods).attempt(preemptor(**port))
    assert (tried.node, tried.victims) == ("node1", {"has-the-port"})


def anti_affine(labels: dict[str, str]) -> dict[str, Any]:
    """No pod with these labels on the same node."""
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def test_a_pod_that_does_not_want_this_one_beside_it_goes() -> None:
    pods = [
        running("unwilling", "node1", SMALL, LOW, labels=APP, spec=anti_affine(APP)),
        running("indifferent", "node1", SMALL, MID),
        running("great", "node1", SMALL, HIGH),
        running("greatest", "node2", SMALL, HIGHEST, labels=APP, spec=anti_affine(APP)),
    ]
    tried = Preempting(nodes(2), pods).attempt(preemptor(SMALL, labels=APP))
    assert (tried.node, tried.victims) == ("node1", {"unwilling"})


def test_a_spread_that_is_too_uneven_is_evened_out_by_evictions() -> None:
    zones = [node("a", labels={"zone": "1"}), node("b", labels={"zone": "1"}), node("x", labels={"zone": "2"})]
    pods = [
        running("a1", "a", SMALL, MID, labels=APP),
        running("a2", "a", SMALL, LOW, labels=APP, started=2),
        running("b1", "b", SMALL, LOW, labels=APP, started=1),
        running("x1", "x", SMALL, HIGH, labels=APP),
        running("x2", "x", SMALL, HIGH, labels=APP),
    ]
    spread = [
        {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": APP}}
        for key in ("zone", "kubernetes.io/hostname")
    ]
    tried = Preempting(zones, pods).attempt(preemptor(SMALL, labels=APP, spec={"topologySpreadConstraints": spread}))
    assert (tried.node, tried.victims) == ("a", {"a2"})


# Which node.


@pytest.mark.parametrize(
    ("on_nodes", "taken"),
    [
        pytest.param([[(HIGH, 0)], [(MID, 0)], [(LOW, 0)]], 2, id="the lowest highest priority"),
        pytest.param([[(MID, 0), (MID, 0)], [(MID, 0), (LOW, 0)]], 1, id="the smallest sum of priorities"),
        pytest.param(
            [[(-5, 0), (-6, 0), (-7, 0)], [(-5, 0), (-6, 0)]], 1, id="negative priorities do not make many cheap"
        ),
        pytest.param([[(0, 0), (0, 0)], [(0, 0)]], 1, id="the fewest"),
        pytest.param(
            [[(MID, 3), (LOW, 9)], [(MID, 5), (LOW, 1)]], 1, id="of the most important the one that started last"
        ),
        pytest.param([[(MID, 3), (MID, 9)], [(MID, 5), (MID, 6)]], 1, id="the earliest of the most important counts"),
    ],
)
def test_the_node_that_costs_least_is_taken(on_nodes: list[list[tuple[int, int]]], taken: int) -> None:
    candidates = [
        Victims(
            tuple(running(f"v{i}", "n", SMALL, priority, started=at + 1) for i, (priority, at) in enumerate(victims))
        )
        for victims in on_nodes
    ]
    assert min(range(len(candidates)), key=lambda i: cost(candidates[i])) == taken


def test_broken_budgets_count_before_priorities() -> None:
    pods = [
        running("guarded", "node1", LARGE, LOW, labels=APP),
        running("greater", "node2", LARGE, MID),
    ]
    cluster = Preempting(nodes(2, "3"), pods, [budget("b", APP, 0)])
    tried = cluster.attempt(preemptor())
    assert (tried.node, tried.victims) == ("node2", {"greater"})


def test_enough_candidates_are_enough_from_a_random_node_onwards() -> None:
    taken: Counter[str | None] = Counter()
    pods = [running(f"p{i}", f"node{i}", LARGE, MID) for i in range(1, 6)]
    for seed in range(40):
        few = "minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 1"
        taken[Preempting(nodes(5, "3"), pods, args=few, seed=seed).attempt(preemptor()).node] += 1
    assert taken.keys() == {f"node{i}" for i in range(1, 6)}


def test_the_search_goes_on_until_a_node_breaks_no_budget() -> None:
    pods = [running(f"p{i}", f"node{i}", LARGE, LOW, labels=APP) for i in range(1, 6)]
    pods[3] = running("p4", "node4", LARGE, MID)
    for seed in range(5):
        few = "minCandidateNodesPercentage: 40, minCandidateNodesAbsolute: 2"
        cluster = Preempting(nodes(5, "3"), pods, [budget("b", APP, 0)], args=few, seed=seed)
        assert cluster.attempt(preemptor()).victims == {"p4"}


# Budgets.


@pytest.mark.parametrize(
    ("allowed", "disrupted", "labels", "expected"),
    [
        pytest.param(
            1, (), APP, "other", id="the second of two breaks a budget of one, so that the other node is taken"
        ),
        pytest.param(2, (), APP, "node1", id="a budget of two is enough for two"),
        pytest.param(1, ("p2",), APP, "node1", id="whom the budget has counted already is not counted again"),
        pytest.param(0, ("p1", "p2"), APP, "node1", id="whoever is counted already breaks nothing"),
        pytest.param(0, (), {}, "node1", id="an empty selector protects nobody"),
        pytest.param(0, (), None, "node1", id="nor does none"),
        pytest.param(0, (), {"app": "bar"}, "node1", id="nor one that does not match"),
    ],
)
def test_budgets_are_counted_down_victim_by_victim(
    allowed: int, disrupted: tuple[str, ...], labels: dict[str, str] | None, expected: str
) -> None:
    pods = [running(f"p{i}", "node1", MEDIUM, LOW, labels=APP) for i in (1, 2)]
    pods.append(running("greater", "other", VERY_LARGE, MID))
    cluster = Preempting([node("node1"), node("other", "5")], pods, [budget("b", labels, allowed, disrupted)])
    assert cluster.attempt(preemptor("4")).node == expected


@pytest.mark.parametrize("guarded", [MID, LOW])
def test_those_a_budget_guards_are_spared_first_whatever_their_priority(guarded: int) -> None:
    pods = [
        running("guarded", "node1", MEDIUM, guarded, labels=APP),
        running("other", "node1", MEDIUM, MID + LOW - guarded),
    ]
    cluster = Preempting([node("node1")], pods, [budget("b", APP, 0)])
    assert cluster.attempt(preemptor(MEDIUM)).victims == {"other"}


def test_a_budget_is_broken_where_nothing_else_helps() -> None:
    pods = [running(f"p{i}", "node1", MEDIUM, LOW, labels=APP) for i in (1, 2)]
    cluster = Preempting([node("node1")], pods, [budget("b", APP, 0)])
    assert cluster.attempt(preemptor("4")).victims == {"p1", "p2"}


def test_a_pod_in_two_budgets_is_guarded_by_either() -> None:
    pods = [
        running("both", "node1", LARGE, LOW, labels={"app": "foo", "tier": "x"}),
        running("greater", "node2", LARGE, MID),
    ]
    budgets = [budget("generous", APP, 5), budget("used-up", {"tier": "x"}, 0)]
    assert Preempting(nodes(2, "3"), pods, budgets).attempt(preemptor()).victims == {"greater"}


# Who may.


def test_a_pod_that_says_never_evicts_nobody() -> None:
    cluster = Preempting([node("node1", "3")], [running("v", "node1", LARGE, LOW)])
    tried = cluster.attempt(preemptor(spec={"preemptionPolicy": "Never"}))
    assert (tried.node, tried.victims) == (None, set())
    assert tried.message.endswith(" preemption: not eligible due to preemptionPolicy=Never.")


def leaving(name: str, reason: str = "PreemptionByScheduler") -> PodInfo:
    """A pod that is being deleted."""
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    metadata = {"deletionTimestamp": "2026-01-01T00:00:30Z"}
    return running(name, "node1", LARGE, LOW, metadata=metadata, status={"conditions": [condition]})


@pytest.mark.parametrize(
    ("victim", "waits"),
    [
        pytest.param(leaving("v"), True, id="a victim of the scheduler"),
        pytest.param(leaving("v", "EvictionByEvictionAPI"), False, id="somebody else's"),
    ],
)
def test_whoever_has_evicted_waits_until_the_victims_are_gone(victim: PodInfo, waits: bool) -> None:
    cluster = Preempting(nodes(2, "3"), [victim, running("other", "node2", LARGE, LOW)])
    tried = cluster.attempt(preemptor(status={"nominatedNodeName": "node1"}))
    assert tried.message.endswith("not eligible due to a terminating pod on the nominated node.") == waits
    assert (tried.node is None) == waits


def test_a_promised_node_that_no_eviction_can_help_does_not_hold_the_pod_back() -> None:
    cluster = Preempting(
        [node("node1", "3", taints=[taint("k")]), node("node2", "3")],
        [leaving("v"), running("other", "node2", LARGE, LOW)],
    )
    tried = cluster.attempt(preemptor(status={"nominatedNodeName": "node1"}))
    assert (tried.node, tried.victims) == ("node2", {"other"})


def test_victims_that_are_leaving_anyway_are_waited_for() -> None:
    cluster = Preempting(nodes(1, "3"), [leaving("v", "EvictionByEvictionAPI")])
    tried = cluster.attempt(preemptor())
    assert (tried.node, tried.victims) == ("node1", set())


# Promises to others.


def test_a_node_promised_to_an_equal_does_not_do() -> None:
    cluster = Preempting(nodes(2, "3"), [running("v1", "node1", LARGE, LOW), running("v2", "node2", LARGE, MID)])
    cluster.engine.handle(
        PodSeen(pod("q", LARGE, priority=HIGH, scheduler="other", status={"nominatedNodeName": "node1"})), 0.0
    )
    assert cluster.attempt(preemptor()).node == "node2"


def test_less_important_pods_lose_the_promise_of_the_node() -> None:
    cluster = Preempting(nodes(1, "3"), [running("v", "node1", LARGE, LOW)])
    earlier = pod("earlier", LARGE, priority=MID)
    assert cluster.attempt(earlier).node == "node1"
    assert cluster.attempt(preemptor()).node == "node1"
    assert list(cluster.engine.state.nominator.uids()) == ["p"]


# Words.


def test_victims_learn_who_takes_their_place() -> None:
    cluster = Preempting(nodes(1, "3"), [running("v", "node1", LARGE, LOW)])
    event = next(event for event in cluster.attempt(preemptor()).events if event.reason == "Preempted")
    assert (event.uid, event.type, event.action) == ("v", "Normal", "Preempting")
    assert event.note == "Preempted by pod p on node node1"
    again = Preempting(nodes(1, "3"), [running("v", "node1", LARGE, LOW)])
    assert again.marked(preemptor())[0].message == "berth: preempting to accommodate a higher priority pod"


def test_the_pod_waits_for_its_victims_in_the_queue() -> None:
    cluster = Preempting(nodes(1, "3"), [running("v", "node1", LARGE, LOW), running("w", "node1", "0", LOW)])
    cluster.marked(preemptor())
    plugin = cluster.engine.state.profiles["berth"]
    assert plugin.pre_enqueue(preemptor()).message == "waiting for the preemption for this pod to be finished"
    assert plugin.pre_enqueue(pod("another")).ok
    cluster.engine.handle(PodGone("v"), 0.0)
    assert plugin.pre_enqueue(preemptor()).ok


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"minCandidateNodesPercentage": 101}, "minCandidateNodesPercentage: found 101, allowed: 0 to 100"),
        ({"minCandidateNodesPercentage": -1}, "minCandidateNodesPercentage: found -1, allowed: 0 to 100"),
        ({"minCandidateNodesAbsolute": -1}, "minCandidateNodesAbsolute: found -1, allowed: 0 or more"),
        (
            {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0},
            "minCandidateNodesPercentage, minCandidateNodesAbsolute: found 0 for both, allowed: 0 for one of them",
        ),
    ],
)
def test_arguments_out_of_range(args: dict[str, int], said: str) -> None:
    assert problems(DefaultPreemption, **args) == [said]
