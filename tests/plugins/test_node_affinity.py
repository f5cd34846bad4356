"""Node selectors, node affinity, and the affinity that a profile adds."""

import pytest

from plugins.node_affinity import NodeAffinity
from scheduler.framework import SUCCESS, Action, Code, CycleState, EventResource, PodInfo, unresolvable
from tests.builders import JsonObject, node, pod
from tests.plugins.cluster import Cluster, problems, wakes

REFUSED = unresolvable("node(s) didn't match Pod's node affinity/selector")
REFUSED_BY_PROFILE = unresolvable("node(s) didn't match scheduler-enforced node affinity")
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

EAST = node("east", labels={"zone": "east", "disk": "ssd", "cores": "64"})
WEST = node("west", labels={"zone": "west", "cores": "8"})
CLUSTER = Cluster(EAST, WEST)


def label(key: str, operator: str, *values: str) -> JsonObject:
    return {"key": key, "operator": operator, "values": list(values)}


def expressions(*requirements: JsonObject) -> JsonObject:
    return {"matchExpressions": list(requirements)}


def named(operator: str, *names: str) -> JsonObject:
    return {"matchFields": [label("metadata.name", operator, name) for name in names]}


def requiring(*terms: JsonObject, **spec: object) -> PodInfo:
    return pod("p", spec={"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}, **spec})


def preferring(*terms: tuple[int, JsonObject]) -> PodInfo:
    preferred = [{"weight": weight, "preference": term} for weight, term in terms]
    return pod("p", spec={"affinity": {"nodeAffinity": {PREFERRED: preferred}}})


def feasible(pod_info: PodInfo, **args: object) -> set[str]:
    verdicts = CLUSTER.verdicts(CLUSTER.plugin(NodeAffinity, **args), pod_info)
    assert set(verdicts.values()) <= {SUCCESS, REFUSED, REFUSED_BY_PROFILE}
    return {name for name, status in verdicts.items() if status.ok}


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        (label("zone", "In", "east", "north"), {"east"}),
        (label("zone", "NotIn", "east"), {"west"}),
        (label("disk", "NotIn", "hdd"), {"east", "west"}),
        (label("disk", "Exists"), {"east"}),
        (label("disk", "DoesNotExist"), {"west"}),
        (label("cores", "Gt", "8"), {"east"}),
        (label("cores", "Lt", "64"), {"west"}),
        (label("zone", "Gt", "1"), set()),
        (label("missing", "Lt", "1"), set()),
    ],
)
def test_operators_on_labels(requirement: JsonObject, expected: set[str]) -> None:
    assert feasible(requiring(expressions(requirement))) == expected


def test_requirements_of_a_term_must_all_hold_and_one_term_is_enough() -> None:
    east, small = label("zone", "In", "east"), label("cores", "Lt", "10")
    assert feasible(requiring(expressions(east, small))) == set()
    assert feasible(requiring(expressions(east), expressions(small))) == {"east", "west"}


def test_a_term_that_says_nothing_matches_nothing() -> None:
    assert feasible(requiring({})) == set()
    assert feasible(requiring({}, expressions(label("zone", "In", "west")))) == {"west"}
    assert feasible(requiring()) == set()


def test_a_node_selector_must_hold_together_with_the_terms() -> None:
    assert feasible(pod("p", spec={"nodeSelector": {"zone": "west"}})) == {"west"}
    assert feasible(pod("p", spec={"nodeSelector": {"zone": "west", "disk": "ssd"}})) == set()
    assert feasible(requiring(expressions(label("cores", "Exists")), nodeSelector={"zone": "east"})) == {"east"}
    assert feasible(requiring(expressions(label("zone", "In", "west")), nodeSelector={"zone": "east"})) == set()


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([named("In", "east")], {"east"}),
        ([named("In", "east"), named("In", "gone")], {"east", "gone"}),
        ([named("In", "east"), expressions(label("zone", "Exists"))], None),
        ([named("NotIn", "east")], None),
        ([{**named("In", "east"), **expressions(label("zone", "In", "west"))}], {"east"}),
        ([], None),
    ],
)
def test_the_search_is_narrowed_if_every_term_names_nodes(terms: list[JsonObject], expected: set[str] | None) -> None:
    result = CLUSTER.plugin(NodeAffinity).pre_filter(CycleState(), requiring(*terms))
    assert (result.status, result.node_names) == (SUCCESS, None if expected is None else frozenset(expected))


def test_names_that_contradict_each_other_end_the_attempt() -> None:
    result = CLUSTER.plugin(NodeAffinity).pre_filter(CycleState(), requiring(named("In", "east", "west")))
    assert result.status == unresolvable("pod affinity terms conflict")
    either = requiring(named("In", "east", "west"), named("In", "west"))
    assert CLUSTER.plugin(NodeAffinity).pre_filter(CycleState(), either).node_names == frozenset({"west"})


def test_names_are_matched_by_the_filter_too() -> None:
    assert feasible(requiring(named("In", "east"))) == {"east"}
    assert feasible(requiring(named("NotIn", "east"))) == {"west"}


def test_a_pod_that_asks_for_nothing_is_not_looked_at() -> None:
    state = CycleState()
    assert CLUSTER.plugin(NodeAffinity).pre_filter(state, pod("p")).status.code is Code.SKIP
    assert CLUSTER.plugin(NodeAffinity).pre_filter(state, preferring()).status.code is Code.SKIP
    enforcing = CLUSTER.plugin(NodeAffinity, addedAffinity=added(expressions(label("zone", "Exists"))))
    assert enforcing.pre_filter(state, pod("p")).status.ok


def added(*terms: JsonObject, preferred: tuple[tuple[int, JsonObject], ...] = ()) -> JsonObject:
    affinity: JsonObject = {PREFERRED: [{"weight": weight, "preference": term} for weight, term in preferred]}
    if terms:
        affinity[REQUIRED] = {"nodeSelectorTerms": list(terms)}
    return affinity


def test_what_the_profile_adds_holds_for_every_pod_and_is_named_first() -> None:
    plugin = CLUSTER.plugin(NodeAffinity, addedAffinity=added(expressions(label("zone", "In", "east"))))
    assert CLUSTER.verdicts(plugin, pod("p")) == {"east": SUCCESS, "west": REFUSED_BY_PROFILE}
    unhappy = pod("p", spec={"nodeSelector": {"zone": "north"}})
    assert CLUSTER.verdicts(plugin, unhappy) == {"east": REFUSED, "west": REFUSED_BY_PROFILE}


def test_weights_of_matching_preferences_add_up_to_at_most_100() -> None:
    east, fast, west = (
        expressions(label(*r)) for r in (("zone", "In", "east"), ("disk", "Exists"), ("zone", "In", "west"))
    )
    pod_info = preferring((30, east), (10, fast), (20, west), (5, {}))
    plugin = CLUSTER.plugin(NodeAffinity)
    assert CLUSTER.scores(plugin, pod_info) == {"east": 100, "west": 50}
    assert CLUSTER.scores(plugin, preferring((5, named("In", "west")))) == {"east": 0, "west": 100}
    assert CLUSTER.scores(plugin, preferring((5, expressions(label("gpu", "Exists"))))) == {"east": 0, "west": 0}


def test_preferences_of_the_profile_are_added_to_the_pods() -> None:
    west = expressions(label("zone", "In", "west"))
    plugin = CLUSTER.plugin(NodeAffinity, addedAffinity=added(preferred=((60, west),)))
    assert CLUSTER.scores(plugin, pod("p")) == {"east": 0, "west": 100}
    assert CLUSTER.scores(plugin, preferring((20, west), (20, expressions(label("disk", "Exists"))))) == {
        "east": 25,
        "west": 100,
    }


def test_a_pod_that_prefers_nothing_is_not_scored() -> None:
    assert CLUSTER.scores(CLUSTER.plugin(NodeAffinity), requiring(named("In", "east"))) is None


def test_arguments_are_checked_as_the_api_server_checks_a_pod() -> None:
    terms = expressions(
        label("zone", "In"),
        label("zone", "Is", "east"),
        label("zone", "Exists", "east"),
        label("cores", "Gt", "many"),
        label("-zone", "In", "spaced out"),
    )
    where = f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions"
    assert problems(NodeAffinity, addedAffinity=added(terms)) == [
        f"{where}[0].values: found none, allowed for In: at least one",
        f'{where}[1].operator: found "Is", allowed: In, NotIn, Exists, DoesNotExist, Gt, Lt',
        f"{where}[2].values: found 1, allowed for Exists: none",
        f"{where}[3].values: found ['many'], allowed for Gt: one integer",
        f'{where}[4].key: found "-zone", allowed: a label key such as example.com/name',
        f'{where}[4].values[0]: found "spaced out", allowed: a label value (at most 63 letters, digits, -, _, .)',
    ]
    fields = {"matchFields": [label("metadata.uid", "Exists")]}
    where = f"addedAffinity.{PREFERRED}[0]"
    assert problems(NodeAffinity, addedAffinity=added(preferred=((0, fields),))) == [
        f"{where}.weight: found 0, allowed: 1 to 100",
        f'{where}.preference.matchFields[0].key: found "metadata.uid", allowed: metadata.name',
        f'{where}.preference.matchFields[0].operator: found "Exists", allowed: In, NotIn',
        f"{where}.preference.matchFields[0].values: found 0, allowed: exactly one",
    ]


def test_a_node_that_matches_now_wakes_a_pod() -> None:
    plugin = CLUSTER.plugin(NodeAffinity)
    waiting = requiring(expressions(label("zone", "In", "east")), nodeSelector={"disk": "ssd"})
    add, change = (EventResource.NODE, Action.ADD), (EventResource.NODE, Action.UPDATE_NODE_LABEL)
    assert wakes(plugin, *add, waiting, None, EAST)
    assert not wakes(plugin, *add, waiting, None, WEST)
    assert wakes(plugin, *change, waiting, WEST, EAST)
    assert not wakes(plugin, *change, waiting, EAST, EAST)
    assert not wakes(plugin, *change, waiting, EAST, WEST)
    assert not wakes(plugin, EventResource.NODE, Action.UPDATE_NODE_TAINT, waiting, WEST, EAST)


def test_a_node_that_matches_what_the_profile_adds_wakes_a_pod() -> None:
    plugin = CLUSTER.plugin(NodeAffinity, addedAffinity=added(expressions(label("zone", "In", "east"))))
    change = (EventResource.NODE, Action.UPDATE_NODE_LABEL)
    assert wakes(plugin, *change, pod("p"), WEST, EAST)
    assert not wakes(plugin, *change, pod("p"), EAST, WEST)
