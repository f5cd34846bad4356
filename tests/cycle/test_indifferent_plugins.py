"""A plugin that has nothing to say about pods of a template is not called for them."""

from typing import ClassVar

from plugins.registry import load_registry
from scheduler.config import load
from scheduler.framework import (
    SUCCESS,
    CycleState,
    IntArray,
    NodeRows,
    Permit,
    PermitResult,
    PodInfo,
    PodTemplate,
    PreBind,
    PreFilter,
    PreFilterResult,
    PreScore,
    Reserve,
    RowFilter,
    RowScore,
    RowVerdicts,
    Status,
    unschedulable,
)
from tests.scenarios.world import BERTH, World

RULES = f"{BERTH}\nprofiles: [{{plugins: {{multiPoint: {{enabled: [{{name: Picky}}]}}}}}}]\n"


class Picky(PreFilter, RowFilter, PreScore, RowScore, Reserve, Permit, PreBind):
    """Cares about pods labelled for=picky, and refuses them; says of pods labelled for=trouble nothing but an error."""

    name = "Picky"
    called: ClassVar[list[str]]

    def indifferent(self, template: PodTemplate) -> bool:
        if template.labels.get("for") == "trouble":
            raise ZeroDivisionError("cannot tell")
        return template.labels.get("for") != "picky"

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        self.called.append(f"{pod.name} PreFilter")
        return PreFilterResult()

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:
        self.called.append(f"{pod.name} Filter")
        return RowVerdicts.failing(rows.named("b"), unschedulable("not b"))

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:
        self.called.append(f"{pod.name} PreScore")
        return SUCCESS

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:
        self.called.append(f"{pod.name} Score")
        return rows.named("a").astype(int)

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        self.called.append(f"{pod.name} Reserve")
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        self.called.append(f"{pod.name} Unreserve")

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        self.called.append(f"{pod.name} Permit")
        return PermitResult(SUCCESS)

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        self.called.append(f"{pod.name} PreBind")
        return SUCCESS


EVERYWHERE = ["PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit", "PreBind"]


def world() -> World:
    Picky.called = []
    registry = load_registry()
    registry["Picky"] = Picky
    made = World(load(RULES, "test", registry), registry=registry)
    for name in ("a", "b", "c"):
        made.node(name, cpu="8")
    made.start()
    return made


def test_it_is_called_at_every_point_for_pods_it_cares_about() -> None:
    cluster = world()
    cluster.pod("p", "1", labels={"for": "picky"})
    cluster.driver.settle()
    assert cluster.node_of("p") == "a"
    assert list(dict.fromkeys(Picky.called)) == [f"p {point}" for point in EVERYWHERE]


def test_it_is_not_called_at_all_for_others() -> None:
    cluster = world()
    for number in range(3):
        cluster.pod(f"p{number}", "1")
    cluster.driver.settle()
    assert all(cluster.node_of(f"p{number}") for number in range(3))
    assert Picky.called == []


def test_one_that_cannot_tell_is_called_and_reported_once() -> None:
    cluster = world()
    for number in range(3):
        cluster.pod(f"p{number}", "1", labels={"for": "trouble"})
    cluster.driver.settle()
    assert all(f"p{number} PreFilter" in Picky.called for number in range(3))
    assert cluster.notes.raised == ["Picky: ZeroDivisionError('cannot tell')"]


def test_what_it_refuses_to_others_is_not_refused_to_those_it_does_not_care_about() -> None:
    cluster = world()
    for name in ("a", "c"):
        cluster.change_node(name, {"spec": {"unschedulable": True}})
    cluster.pod("picky", "1", labels={"for": "picky"})
    cluster.pod("other", "1")
    cluster.driver.settle()
    assert cluster.node_of("picky") is None
    assert cluster.node_of("other") == "b"
