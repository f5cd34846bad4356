"""Pods that must, must not, would rather or rather not be with others."""

import pytest

from plugins.inter_pod_affinity import InterPodAffinity
from scheduler.framework import SUCCESS, Action, EventResource, PodInfo, Status, unresolvable, unschedulable
from tests.builders import JsonObject, node, pod
from tests.plugins.cluster import Cluster, problems, wakes

NO_FRIEND = unresolvable("node(s) didn't match pod affinity rules")
FOE = unschedulable("node(s) didn't match pod anti-affinity rules")
HATED = unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
WEB, DB = {"app": "web"}, {"app": "db"}
NODES = [node("a1", labels={"zone": "a"}), node("a2", labels={"zone": "a"}), node("b1", labels={"zone": "b"})]


def term(labels: dict[str, str], key: str = "zone", **more: object) -> JsonObject:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **more}


def required(kind: str, *terms: JsonObject) -> JsonObject:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def preferred(kind: str, weight: int, what: JsonObject) -> JsonObject:
    weighted = [{"weight": weight, "podAffinityTerm": what}]
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}}


def verdicts(wanting: PodInfo, *others: PodInfo) -> dict[str, Status]:
    cluster = Cluster(*NODES, node("bare"), pods=others)
    return cluster.verdicts(cluster.plugin(InterPodAffinity), wanting)


def scores(wanting: PodInfo, *others: PodInfo, **args: object) -> dict[str, int] | None:
    cluster = Cluster(*NODES, pods=others)
    return cluster.scores(cluster.plugin(InterPodAffinity, **args), wanting)


def where(found: dict[str, Status], status: Status) -> set[str]:
    return {name for name, verdict in found.items() if verdict == status}


def test_it_goes_to_domains_that_have_a_pod_which_all_terms_are_about() -> None:
    wanting = pod("p", spec=required("podAffinity", term(DB), term({"tier": "x"})))
    half, whole = pod("half", node="b1", labels=DB), pod("whole", node="a1", labels={**DB, "tier": "x"})
    found = verdicts(wanting, half, whole)
    assert where(found, SUCCESS) == {"a1", "a2"}
    assert where(found, NO_FRIEND) == {"b1", "bare"}


def test_the_first_of_its_kind_may_go_anywhere_with_the_keys_if_it_fulfils_its_own_terms() -> None:
    own = required("podAffinity", term(WEB))
    assert where(verdicts(pod("p", labels=WEB, spec=own)), SUCCESS) == {"a1", "a2", "b1"}
    assert where(verdicts(pod("p", labels=DB, spec=own)), SUCCESS) == set()
    assert where(verdicts(pod("p", labels=WEB, spec=own), pod("q", node="b1", labels=WEB)), SUCCESS) == {"b1"}


def test_it_stays_out_of_domains_with_pods_that_a_term_is_about_and_nodes_without_the_key_are_no_domain() -> None:
    wanting = pod("p", spec=required("podAntiAffinity", term(DB)))
    found = verdicts(wanting, pod("q", node="a2", labels=DB), pod("r", node="bare", labels=DB))
    assert where(found, FOE) == {"a1", "a2"}
    assert where(found, SUCCESS) == {"b1", "bare"}


def test_pods_on_nodes_keep_it_out_though_it_says_nothing() -> None:
    hater = pod("q", node="a1", spec=required("podAntiAffinity", term(WEB)))
    found = verdicts(pod("p", labels=WEB), hater)
    assert where(found, HATED) == {"a1", "a2"}
    assert set(verdicts(pod("p", labels=DB), hater).values()) == {SUCCESS}


def test_pods_that_are_being_deleted_still_count() -> None:
    going = pod("q", node="a1", labels=DB, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert where(verdicts(pod("p", spec=required("podAntiAffinity", term(DB))), going), FOE) == {"a1", "a2"}


@pytest.mark.parametrize(
    ("more", "met"),
    [
        ({}, False),
        ({"namespaces": ["other"]}, True),
        ({"namespaces": ["third"]}, False),
        ({"namespaceSelector": {}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, False),
        ({"namespaces": ["other"], "namespaceSelector": {"matchLabels": {"team": "x"}}}, True),
    ],
)
def test_terms_are_about_the_namespaces_they_say(more: JsonObject, met: bool) -> None:
    wanting = pod("p", spec=required("podAntiAffinity", term(DB, **more)))
    assert bool(where(verdicts(wanting, pod("q", namespace="other", node="a1", labels=DB)), FOE)) is met
    hater = pod("q", namespace="other", node="a1", spec=required("podAntiAffinity", term(WEB, **more)))
    about_default = more.get("namespaceSelector") == {}
    assert bool(where(verdicts(pod("p", labels=WEB), hater), HATED)) is about_default


def test_a_term_without_a_selector_is_about_no_pod() -> None:
    nobody = {"topologyKey": "zone"}
    assert set(verdicts(pod("p", spec=required("podAntiAffinity", nobody)), pod("q", node="a1")).values()) == {SUCCESS}


def test_preferences_add_up_for_and_against() -> None:
    likes = preferred("podAffinity", 10, term(DB))
    assert scores(pod("p", spec=likes), pod("q", node="a1", labels=DB)) == {"a1": 100, "a2": 100, "b1": 0}
    avoids = preferred("podAntiAffinity", 10, term(DB, "kubernetes.io/hostname"))
    assert scores(pod("p", spec=avoids), pod("q", node="a1", labels=DB)) == {"a1": 0, "a2": 100, "b1": 100}


def test_preferences_of_pods_on_nodes_count_and_so_does_their_required_affinity() -> None:
    fond = pod("q", node="a1", spec=preferred("podAffinity", 5, term(WEB)))
    assert scores(pod("p", labels=WEB), fond) == {"a1": 100, "a2": 100, "b1": 0}
    averse = pod("q", node="a1", spec=preferred("podAntiAffinity", 5, term(WEB)))
    assert scores(pod("p", labels=WEB), averse) == {"a1": 0, "a2": 0, "b1": 100}
    bound_to = pod("q", node="b1", spec=required("podAffinity", term(WEB)))
    assert scores(pod("p", labels=WEB), bound_to) == {"a1": 0, "a2": 0, "b1": 100}
    assert scores(pod("p", labels=WEB), bound_to, hardPodAffinityWeight=0) is None
    assert scores(pod("p", labels=WEB), fond, ignorePreferredTermsOfExistingPods=True) is None


def test_where_no_term_matters_nothing_is_scored() -> None:
    assert scores(pod("p", labels=WEB), pod("q", node="a1", labels=DB)) is None


def test_arguments_that_cannot_be() -> None:
    assert problems(InterPodAffinity, hardPodAffinityWeight=101) == [
        "hardPodAffinityWeight: found 101, allowed: 0 to 100"
    ]


def test_what_wakes_a_pod_that_was_refused() -> None:
    plugin = Cluster().plugin(InterPodAffinity)
    assigned, nodes = EventResource.ASSIGNED_POD, EventResource.NODE
    friend, stranger = pod("o", node="n", labels=DB), pod("o", node="n", labels={"app": "x"})
    likes, avoids = (
        pod("p", spec=required("podAffinity", term(DB))),
        pod("p", spec=required("podAntiAffinity", term(DB))),
    )
    hated = pod("p", labels=WEB)
    hater = pod("h", node="n", spec=required("podAntiAffinity", term(WEB)))
    assert wakes(plugin, assigned, Action.ADD, likes, None, friend)
    assert wakes(plugin, assigned, Action.UPDATE_POD_LABEL, likes, stranger, friend)
    assert wakes(plugin, assigned, Action.UPDATE_POD_LABEL, avoids, friend, stranger)
    assert wakes(plugin, assigned, Action.DELETE, avoids, friend, None)
    assert wakes(plugin, assigned, Action.DELETE, hated, hater, None)
    assert not wakes(plugin, assigned, Action.ADD, likes, None, stranger)
    assert not wakes(plugin, assigned, Action.ADD, avoids, None, friend)
    assert not wakes(plugin, assigned, Action.DELETE, avoids, stranger, None)
    assert not wakes(plugin, assigned, Action.DELETE, likes, friend, None)
    assert wakes(plugin, EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_LABEL, hated, hated, likes)
    in_a, in_b, nowhere = node("n", labels={"zone": "a"}), node("n", labels={"zone": "b"}), node("n")
    assert wakes(plugin, nodes, Action.ADD, likes, None, in_a)
    assert not wakes(plugin, nodes, Action.ADD, likes, None, nowhere)
    assert wakes(plugin, nodes, Action.UPDATE_NODE_LABEL, likes, nowhere, in_a)
    assert wakes(plugin, nodes, Action.ADD, avoids, None, nowhere)
    assert wakes(plugin, nodes, Action.UPDATE_NODE_LABEL, avoids, in_a, in_b)
    assert wakes(plugin, nodes, Action.UPDATE_NODE_LABEL, avoids, in_a, nowhere)
    assert not wakes(plugin, nodes, Action.UPDATE_NODE_LABEL, avoids, nowhere, in_a)
    assert not wakes(plugin, nodes, Action.UPDATE_NODE_LABEL, likes, in_a, in_a)
