"""The cache by itself: assume, forget and confirm in any order; unknown nodes; laws (BR-013, 056, 057, 135, 136, 137)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.cache.cache import Cache
from scheduler.cache.rows import Rows
from scheduler.framework import HostPort, Node, PodInfo, PodSpec, PodTemplate, Resources
from scheduler.matching import Effect, NodeSelector, NodeSelectorTerm, Operator, Requirement, Taint, Toleration

SPEC = PodSpec("berth", 0, "", Resources({}), (), None, (), (), (HostPort(80),), (), 1, ())
TEMPLATE = PodTemplate(1, "default", {}, SPEC)


def pod(uid: str, node_name: str = "", cpu: int = 1000) -> PodInfo:
    usage = Resources({"cpu": cpu, "memory": 100}, cpu, 100)
    return PodInfo(uid, uid, TEMPLATE, usage, node_name, "", "Pending", "", False, False, 0.0, 0.0, 1, "1", None, None)


def node(name: str, cpu: int = 4000, zone: str = "a", uid: str = "", taints: tuple[Taint, ...] = ()) -> Node:
    allocatable = {"cpu": cpu, "memory": 1000, "pods": 10}
    return Node(uid or name, name, {"zone": zone}, {}, taints, False, allocatable, (), {}, "1")


@pytest.fixture
def cache() -> Cache:
    made = Cache()
    made.put_node(node("n1"))
    made.put_node(node("n2", zone="b"))
    return made


def used(cache: Cache, name: str) -> int:
    info = cache.nodes.by_name(name)
    assert info is not None
    cache.validate()
    return info.requested.get("cpu", 0)


def test_an_assumed_pod_takes_its_room_at_once_and_forgetting_gives_it_back(cache: Cache) -> None:
    cache.assume(pod("p"), "n1")
    assert used(cache, "n1") == 1000
    assert cache.forget("p")
    assert used(cache, "n1") == 0
    assert not cache.forget("p")


def test_a_pod_is_assumed_once(cache: Cache) -> None:
    cache.assume(pod("p"), "n1")
    with pytest.raises(ValueError, match="already on node n1"):
        cache.assume(pod("p"), "n2")


def test_confirmation_and_forgetting_end_the_same_in_either_order(cache: Cache) -> None:
    cache.assume(pod("p"), "n1")
    cache.put(pod("p", "n1"))
    assert not cache.forget("p")
    assert used(cache, "n1") == 1000
    assert not cache.is_assumed("p")


def test_the_api_is_right_about_where_a_pod_is(cache: Cache) -> None:
    cache.assume(pod("p"), "n1")
    cache.put(pod("p", "n2"))
    assert (used(cache, "n1"), used(cache, "n2")) == (0, 1000)
    cache.put(pod("p", "n1"))
    assert (used(cache, "n1"), used(cache, "n2")) == (1000, 0)


def test_a_pod_is_released_once_however_often_it_goes(cache: Cache) -> None:
    cache.put(pod("p", "n1"))
    assert cache.drop("p") is not None
    assert cache.drop("p") is None
    assert cache.drop("never seen") is None
    assert used(cache, "n1") == 0


def test_a_pod_on_an_unknown_node_is_counted_when_the_node_appears(cache: Cache) -> None:
    cache.put(pod("p", "later"))
    cache.validate()
    cache.put_node(node("later"))
    assert used(cache, "later") == 1000


def test_a_node_that_comes_back_still_holds_its_pods(cache: Cache) -> None:
    cache.put(pod("stays", "n1"))
    cache.put(pod("goes", "n1"))
    cache.drop_node("n1")
    assert cache.nodes.by_name("n1") is None
    cache.drop("goes")
    cache.put_node(node("n1", uid="another"))
    assert used(cache, "n1") == 1000


def test_less_allocatable_than_used_is_no_harm_to_other_resources(cache: Cache) -> None:
    cache.put(pod("p", "n1", cpu=3000))
    cache.put_node(node("n1", cpu=1000))
    info = cache.nodes.by_name("n1")
    assert info is not None
    assert (info.free("cpu"), info.free("memory")) == (-2000, 900)


def test_a_row_that_is_used_again_keeps_nothing_of_the_old_node(cache: Cache) -> None:
    cache.nodes.label("zone")
    cache.put(pod("p", "n1"))
    cache.drop_node("n1")
    cache.drop("p")
    cache.put_node(node("n3", zone="c"))
    rows = Rows.everything(cache.nodes)
    assert rows.named("n1").sum() == 0
    assert rows.meets(Requirement("zone", Operator.IN, ("a",))).sum() == 0
    assert rows.port_conflicts((HostPort(80),)).sum() == 0
    cache.validate()


def test_ports_conflict_by_number_protocol_and_address(cache: Cache) -> None:
    cache.put(pod("p", "n1"))
    rows = Rows.everything(cache.nodes)
    assert rows.port_conflicts((HostPort(80, "TCP", "10.0.0.1"),)).tolist() == [True, False]
    assert rows.port_conflicts((HostPort(80, "UDP"),)).tolist() == [False, False]
    assert rows.port_conflicts((HostPort(81),)).tolist() == [False, False]


def test_taints_are_counted_by_effect_and_toleration(cache: Cache) -> None:
    hard, soft = Taint("k", "v", Effect.NO_SCHEDULE), Taint("k", "v", Effect.PREFER_NO_SCHEDULE)
    cache.put_node(node("n2", taints=(hard, soft)))
    rows = Rows.everything(cache.nodes)
    effects = frozenset({Effect.NO_SCHEDULE.value, Effect.NO_EXECUTE.value})
    assert rows.untolerated((), effects).tolist() == [0, 1]
    assert rows.untolerated((Toleration("k", "Exists"),), effects).tolist() == [0, 0]
    assert rows.untolerated((), frozenset({Effect.PREFER_NO_SCHEDULE.value})).tolist() == [0, 1]


REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from(["zone", "tier", "size"]),
    st.sampled_from(list(Operator)),
    st.lists(st.sampled_from(["a", "b", "1", "5", "-3"]), min_size=1, max_size=2).map(tuple),
)
LABELS = st.dictionaries(
    st.sampled_from(["zone", "tier", "size"]), st.sampled_from(["a", "b", "1", "7", "x"]), max_size=3
)
TERMS = st.lists(REQUIREMENTS, max_size=3).map(lambda e: NodeSelectorTerm(tuple(e)))


@given(st.lists(LABELS, min_size=1, max_size=8), st.lists(TERMS, max_size=3))
def test_a_selector_over_columns_says_what_it_says_node_by_node(
    labels: list[dict[str, str]], terms: list[NodeSelectorTerm]
) -> None:
    cache = Cache()
    for i, given_labels in enumerate(labels):
        cache.put_node(Node(f"u{i}", f"n{i}", given_labels, {}, (), False, {}, (), {}, "1"))
    selector = NodeSelector(tuple(terms))
    by_column = Rows.everything(cache.nodes).matching(selector).tolist()
    assert by_column == [selector.matches(f"n{i}", given_labels) for i, given_labels in enumerate(labels)]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["assume", "forget", "bound", "gone", "node", "no node"]),
        st.integers(0, 4),
        st.sampled_from(["n1", "n2", "n3"]),
        st.integers(0, 2000),
    ),
    max_size=50,
)


@given(STEPS)
def test_after_any_history_the_sums_are_those_made_afresh(steps: list[tuple[str, int, str, int]]) -> None:
    cache = Cache()
    for what, number, name, cpu in steps:
        uid = f"p{number}"
        match what:
            case "assume" if cache.placement(uid) is None:
                cache.assume(pod(uid, cpu=cpu), name)
            case "forget":
                cache.forget(uid)
            case "bound":
                cache.put(pod(uid, name, cpu))
            case "gone":
                cache.drop(uid)
            case "node":
                cache.put_node(node(name, cpu))
            case "no node":
                cache.drop_node(name)
        cache.validate()


def test_sums_beyond_an_int64_are_exact_and_are_undone(cache: Cache) -> None:
    for uid in ("p", "q"):
        cache.put(pod(uid, "n1", cpu=2**63))
    assert used(cache, "n1") == 2**64
    assert Rows.everything(cache.nodes).requested("cpu").max() == 2**63 - 1
    for uid in ("p", "q"):
        cache.drop(uid)
    assert used(cache, "n1") == 0
    assert Rows.everything(cache.nodes).requested("cpu").max() == 0
