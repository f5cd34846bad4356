"""Pods that are to be spread over the domains of a label."""

import pytest

from plugins.pod_topology_spread import PodTopologySpread
from scheduler.framework import SUCCESS, Action, EventResource, Node, PodInfo, Status, unresolvable, unschedulable
from tests.builders import JsonObject, node, pod, taint
from tests.plugins.cluster import Cluster, problems, wakes

NO_KEY = unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
SKEWED = unschedulable("node(s) didn't match pod topology spread constraints")
WEB = {"app": "web"}


def constraint(key: str = "zone", skew: int = 1, *, hard: bool = True, **more: object) -> JsonObject:
    what = "DoNotSchedule" if hard else "ScheduleAnyway"
    return {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": what,
        "labelSelector": {"matchLabels": WEB},
        **more,
    }


def spread(*constraints: JsonObject, labels: dict[str, str] | None = None, **spec: object) -> PodInfo:
    chosen = WEB if labels is None else labels
    return pod("p", labels=chosen, spec={"topologySpreadConstraints": list(constraints), **spec})


def zoned(**zones: str) -> list[Node]:
    return [node(name, labels={"zone": zone}) for name, zone in zones.items()]


def on(name: str, count: int, labels: dict[str, str] = WEB, **more: object) -> list[PodInfo]:
    meta = [{"uid": f"{name}-{i}-{sorted(labels.items())}{sorted(more)}"} for i in range(count)]
    return [pod(f"{name}-{i}", node=name, labels=labels, metadata={**meta[i], **more}) for i in range(count)]


def verdicts(cluster: Cluster, wanting: PodInfo) -> dict[str, Status]:
    return cluster.verdicts(cluster.plugin(PodTopologySpread), wanting)


def test_a_domain_may_not_get_further_ahead_than_the_skew() -> None:
    cluster = Cluster(*zoned(a1="a", a2="a", b1="b"), pods=[*on("a1", 1)])
    assert verdicts(cluster, spread(constraint())) == {"a1": SKEWED, "a2": SKEWED, "b1": SUCCESS}
    assert verdicts(cluster, spread(constraint(skew=2))) == dict.fromkeys(("a1", "a2", "b1"), SUCCESS)


def test_a_pod_that_its_own_selector_does_not_match_adds_nothing() -> None:
    cluster = Cluster(*zoned(a1="a", b1="b"), pods=on("a1", 1))
    assert verdicts(cluster, spread(constraint(), labels={"app": "db"})) == {"a1": SUCCESS, "b1": SUCCESS}


def test_nodes_without_the_key_are_out_and_their_pods_do_not_count() -> None:
    cluster = Cluster(*zoned(a1="a", b1="b"), node("bare"), pods=[*on("bare", 5), *on("a1", 1), *on("b1", 1)])
    assert verdicts(cluster, spread(constraint())) == {"a1": SUCCESS, "b1": SUCCESS, "bare": NO_KEY}


def test_only_nodes_that_have_every_key_count() -> None:
    nodes = [node("a1", labels={"zone": "a", "rack": "1"}), node("b1", labels={"zone": "b"})]
    cluster = Cluster(*nodes, pods=on("a1", 1))
    # b1 has no rack, so that zone b is no domain and a is the least one itself.
    found = verdicts(cluster, spread(constraint(), constraint("rack")))
    assert found == {"a1": SUCCESS, "b1": NO_KEY}


def test_what_is_deleted_in_another_namespace_or_not_selected_does_not_count() -> None:
    others = [
        *on("a1", 1, deletionTimestamp="2026-01-01T00:00:00Z"),
        *on("a1", 1, namespace="other"),
        *on("a1", 1, {"app": "db"}),
    ]
    assert verdicts(Cluster(*zoned(a1="a", b1="b"), pods=others), spread(constraint())) == {
        "a1": SUCCESS,
        "b1": SUCCESS,
    }


def test_a_constraint_without_a_selector_counts_nothing() -> None:
    cluster = Cluster(*zoned(a1="a", b1="b"), pods=on("a1", 3))
    nothing = {**constraint(), "labelSelector": None}
    assert verdicts(cluster, spread(nothing)) == {"a1": SUCCESS, "b1": SUCCESS}


def test_with_too_few_domains_the_least_is_taken_as_nothing() -> None:
    cluster = Cluster(*zoned(a1="a", b1="b"), pods=[*on("a1", 1), *on("b1", 1)])
    assert verdicts(cluster, spread(constraint(minDomains=2))) == {"a1": SUCCESS, "b1": SUCCESS}
    assert verdicts(cluster, spread(constraint(minDomains=3))) == {"a1": SKEWED, "b1": SKEWED}


@pytest.mark.parametrize(("policy", "expected"), [("Honor", SUCCESS), ("Ignore", SKEWED)])
def test_nodes_that_the_pod_may_not_go_to_count_by_policy(policy: str, expected: Status) -> None:
    nodes = [node("a1", labels={"zone": "a", "disk": "ssd"}), node("b1", labels={"zone": "b"})]
    cluster = Cluster(*nodes, pods=on("a1", 1))
    wanting = spread(constraint(nodeAffinityPolicy=policy), nodeSelector={"disk": "ssd"})
    assert verdicts(cluster, wanting)["a1"] == expected


@pytest.mark.parametrize(("policy", "expected"), [("Honor", SUCCESS), ("Ignore", SKEWED)])
def test_tainted_nodes_count_by_policy(policy: str, expected: Status) -> None:
    nodes = [*zoned(a1="a"), node("b1", labels={"zone": "b"}, taints=[taint("k")])]
    cluster = Cluster(*nodes, pods=on("a1", 1))
    assert verdicts(cluster, spread(constraint(nodeTaintsPolicy=policy)))["a1"] == expected


def test_match_label_keys_add_the_pods_own_values() -> None:
    old, new = {**WEB, "hash": "1"}, {**WEB, "hash": "2"}
    cluster = Cluster(*zoned(a1="a", b1="b"), pods=on("a1", 3, old))
    by_revision = constraint(matchLabelKeys=["hash", "absent"])
    assert verdicts(cluster, spread(by_revision, labels=new)) == {"a1": SUCCESS, "b1": SUCCESS}
    assert verdicts(cluster, spread(by_revision, labels=old))["a1"] == SKEWED


def test_the_constraint_that_comes_first_gives_the_reason() -> None:
    nodes = [
        node("a1", labels={"zone": "a", "rack": "1"}),
        node("b1", labels={"zone": "b", "rack": "1"}),
        *zoned(a2="a"),
    ]
    cluster = Cluster(*nodes, pods=on("a1", 1))
    assert verdicts(cluster, spread(constraint(), constraint("rack", 9)))["a2"] == SKEWED
    assert verdicts(cluster, spread(constraint("rack", 9), constraint()))["a2"] == NO_KEY


def test_soft_constraints_refuse_nobody_and_prefer_the_emptier_domain() -> None:
    cluster = Cluster(*zoned(a1="a", a2="a", b1="b"), pods=[*on("a1", 2), *on("b1", 1)])
    plugin = cluster.plugin(PodTopologySpread)
    wanting = spread(constraint(hard=False))
    assert cluster.verdicts(plugin, wanting) == dict.fromkeys(("a1", "a2", "b1"), SUCCESS)
    # Two domains weigh ln(4): 2.77 and 1.39 pods, rounded to 3 and 1; 100 * (3 + 1 - s) / 3.
    assert cluster.scores(plugin, wanting) == {"a1": 33, "a2": 33, "b1": 100}


def test_where_nothing_is_counted_all_are_equal_and_without_the_key_nodes_get_nothing() -> None:
    cluster = Cluster(*zoned(a1="a", b1="b"), node("bare"))
    found = cluster.scores(cluster.plugin(PodTopologySpread), spread(constraint(hard=False)))
    assert found == {"a1": 100, "b1": 100, "bare": 0}


def test_hostnames_are_counted_node_by_node() -> None:
    cluster = Cluster(node("n1"), node("n2"), node("n3"), pods=[*on("n1", 4), *on("n2", 2)])
    found = cluster.scores(cluster.plugin(PodTopologySpread), spread(constraint("kubernetes.io/hostname", hard=False)))
    assert found == {"n1": 0, "n2": 50, "n3": 100}


def test_pods_without_constraints_of_their_own_get_those_of_the_list_if_something_selects_them() -> None:
    listed = [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
    cluster = Cluster(*zoned(a1="a", b1="b"), pods=on("a1", 1))
    plugin = cluster.plugin(PodTopologySpread, defaultConstraints=listed, defaultingType="List")
    assert cluster.verdicts(plugin, pod("p", labels=WEB)) == {"a1": SUCCESS, "b1": SUCCESS}


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({"defaultingType": "Some"}, 'defaultingType: found "Some", allowed: List, System'),
        (
            {"defaultConstraints": [{"topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]},
            "defaultConstraints: found with defaultingType System, allowed: with List only",
        ),
        (
            {"defaultingType": "List", "defaultConstraints": [{"topologyKey": "z", "maxSkew": 0}]},
            "defaultConstraints[0].maxSkew: found 0, allowed: more than 0",
        ),
        (
            {
                "defaultingType": "List",
                "defaultConstraints": 2 * [{"topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}],
            },
            'defaultConstraints[1]: found "z" with ScheduleAnyway again, allowed: once',
        ),
        (
            {
                "defaultingType": "List",
                "defaultConstraints": [{"topologyKey": "", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}],
            },
            "defaultConstraints[0].topologyKey: found none, allowed: a label such as topology.kubernetes.io/zone",
        ),
    ],
)
def test_arguments_that_cannot_be(args: dict[str, object], line: str) -> None:
    assert line in problems(PodTopologySpread, **args)


def test_what_wakes_a_pod_that_was_refused() -> None:
    plugin = Cluster().plugin(PodTopologySpread)
    waiting = spread(constraint(nodeTaintsPolicy="Honor"))
    assigned, unscheduled, nodes = EventResource.ASSIGNED_POD, EventResource.UNSCHEDULED_POD, EventResource.NODE
    ours, other = pod("o", node="n", labels=WEB), pod("o", node="n", labels={"app": "db"})
    foreign = pod("o", namespace="other", node="n", labels=WEB)
    assert wakes(plugin, assigned, Action.ADD, waiting, None, ours)
    assert wakes(plugin, assigned, Action.DELETE, waiting, ours, None)
    assert wakes(plugin, assigned, Action.UPDATE_POD_LABEL, waiting, ours, other)
    assert not wakes(plugin, assigned, Action.ADD, waiting, None, other)
    assert not wakes(plugin, assigned, Action.DELETE, waiting, foreign, None)
    assert not wakes(plugin, assigned, Action.UPDATE_POD_LABEL, waiting, ours, ours)
    tolerant = spread(constraint(nodeTaintsPolicy="Honor"), tolerations=[{"key": "k", "operator": "Exists"}])
    assert wakes(plugin, unscheduled, Action.UPDATE_POD_TOLERATIONS, waiting, waiting, tolerant)
    assert not wakes(plugin, unscheduled, Action.UPDATE_POD_TOLERATIONS, spread(constraint()), waiting, tolerant)
    in_a, in_b, nowhere = node("n", labels={"zone": "a"}), node("n", labels={"zone": "b"}), node("n")
    assert wakes(plugin, nodes, Action.ADD, waiting, None, in_a)
    assert wakes(plugin, nodes, Action.DELETE, waiting, in_a, None)
    assert wakes(plugin, nodes, Action.UPDATE_NODE_LABEL, waiting, in_a, in_b)
    assert wakes(plugin, nodes, Action.UPDATE_NODE_LABEL, waiting, nowhere, in_b)
    assert not wakes(plugin, nodes, Action.ADD, waiting, None, nowhere)
    assert not wakes(plugin, nodes, Action.UPDATE_NODE_LABEL, waiting, in_a, in_a)
