"""A plugin that raises or answers nonsense costs one attempt of one pod, is named, and neither stops the loop nor keeps room."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
import pytest

from plugins.registry import load_registry
from scheduler.config import ConfigError, load
from scheduler.framework import (
    SUCCESS,
    Action,
    Code,
    CodeArray,
    CycleState,
    EventRegistration,
    EventResource,
    IntArray,
    NodeRows,
    Permit,
    PermitResult,
    Plugin,
    PluginArgs,
    PodInfo,
    PodTemplate,
    PostBind,
    PostFilter,
    PostFilterResult,
    PreBind,
    PreEnqueue,
    PreFilter,
    PreFilterResult,
    PreScore,
    QueueSort,
    Reserve,
    RowFilter,
    RowScore,
    RowVerdicts,
    Status,
    unschedulable,
)
from tests.scenarios.world import BERTH, World

NAME = "Naughty"
Answer = Callable[[], Any]
T = TypeVar("T")
RULES = f"{BERTH}\nprofiles: [{{plugins: {{multiPoint: {{enabled: [{{name: {NAME}}}]}}}}}}]\n"


class MuteError(Exception):
    """Raises even when it is asked what it says."""

    def __str__(self) -> str:
        raise RuntimeError


def raising() -> object:
    raise ZeroDivisionError("broken")


def mute() -> object:
    raise MuteError


class Deeds:
    """What the plugin of one test does wrong, to pods labelled is=bad."""

    def __init__(self) -> None:
        self.deeds: dict[str, Answer] = {}
        self.reserved: set[str] = set()

    def ask(self, point: str, template: PodTemplate, otherwise: T) -> T:
        wrong = point in self.deeds and template.labels.get("is") == "bad"
        answer: T = self.deeds[point]() if wrong else otherwise
        return answer


class Naughty(PreEnqueue, PreFilter, RowFilter, PostFilter, PreScore, RowScore, Reserve, Permit, PreBind, PostBind):
    """A plugin at every extension point but QueueSort and Bind, with row rules that are kept."""

    name = NAME
    deeds: ClassVar[Deeds]

    def pre_enqueue(self, pod: PodInfo) -> Status:
        return self.deeds.ask("PreEnqueue", pod.template, SUCCESS)

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        return self.deeds.ask("PreFilter", pod.template, PreFilterResult())

    def row_key(self, template: PodTemplate) -> Hashable | None:
        return self.deeds.ask("RowKey", template, template.signature)

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:
        return self.deeds.ask("Filter", pod.template, RowVerdicts.passing(len(rows)))

    async def post_filter(self, state: CycleState, pod: PodInfo, verdicts: Mapping[str, Status]) -> PostFilterResult:
        answer = self.deeds.ask("PostFilter", pod.template, PostFilterResult(unschedulable()))
        return await answer if asyncio.iscoroutine(answer) else answer

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:
        return self.deeds.ask("PreScore", pod.template, SUCCESS)

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:
        return self.deeds.ask("Score", pod.template, np.zeros(len(rows), np.int64))

    def normalize_scores(self, state: CycleState, pod: PodInfo, scores: IntArray) -> IntArray:
        return self.deeds.ask("NormalizeScore", pod.template, scores)

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        self.deeds.reserved.add(pod.name)
        return self.deeds.ask("Reserve", pod.template, SUCCESS)

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        self.deeds.reserved.discard(pod.name)
        self.deeds.ask("Unreserve", pod.template, None)

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        return self.deeds.ask("Permit", pod.template, PermitResult(SUCCESS))

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        answer = self.deeds.ask("PreBind", pod.template, SUCCESS)
        return await answer if asyncio.iscoroutine(answer) else answer

    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        self.deeds.ask("PostBind", pod.template, None)


def naughty(deeds: Deeds) -> type[Naughty]:
    """The plugin of one test."""
    return type(NAME, (Naughty,), {"deeds": deeds})


class Stage:
    """Two nodes that take both pods, and a plugin."""

    def __init__(self, deeds: Deeds) -> None:
        registry: dict[str, type[Plugin]] = {**load_registry(), NAME: naughty(deeds)}
        self.deeds = deeds
        self.world = World(load(RULES, "test", registry), registry=registry)
        self.world.node("n1", cpu="2")
        self.world.node("n2", cpu="2")
        self.world.start()

    def suffers(self, *, unplaced: bool = True) -> World:
        """A bad and a good pod come; the good one is placed; the bad one is once nothing is done wrong any more."""
        world = self.world
        world.pod("bad", cpu="1", labels={"is": "bad"})
        world.pod("good", cpu="1", labels={"is": "good"})
        world.driver.settle()
        assert world.node_of("good") is not None
        if unplaced:
            assert world.node_of("bad") is None
            assert world.engine.state.cache.assumed_count == 0
            assert sum(world.used(node) for node in ("n1", "n2")) == 1000
            assert self.deeds.reserved == {"good"}
        assert world.notes.raised
        assert all(note.startswith(NAME) for note in world.notes.raised)
        assert not world.notes.anomalies
        named_before = len(world.notes.raised)
        self.deeds.deeds.clear()
        world.change_node("n1", {"metadata": {"labels": {"any": "change"}}})
        world.run()
        assert world.node_of("bad") is not None
        assert len(world.notes.raised) == named_before
        return world


@pytest.fixture
def with_plugin() -> Stage:
    return Stage(Deeds())


def bad_reasons() -> object:
    return Status(Code.UNSCHEDULABLE, (1, 2))  # type: ignore[arg-type]  # what an untyped plugin may do


@pytest.mark.parametrize("deed", [raising, list], ids=["raises", "a list"])
@pytest.mark.parametrize("point", ["RowKey", "Filter", "Score"])
def test_what_went_well_for_pods_of_its_kind_may_go_wrong_for_the_next(
    with_plugin: Stage, point: str, deed: Answer
) -> None:
    world = with_plugin.world
    for name in ("first", "second", "third"):
        world.pod(name, cpu="100m", labels={"is": "bad"})
    world.driver.settle()
    world.change_node("n1", {"metadata": {"labels": {"any": "thing"}}})
    with_plugin.deeds.deeds[point] = deed
    world.pod("fourth", cpu="100m", labels={"is": "bad"})
    world.driver.settle()
    assert world.node_of("fourth") is None
    assert all(note.startswith(NAME) for note in world.notes.raised)
    assert len(world.notes.raised) == 1
    with_plugin.deeds.deeds.clear()
    world.run()
    assert world.node_of("fourth") is not None


STATUS_POINTS = ["PreEnqueue", "PreScore", "Reserve", "PreBind"]
RESULT_POINTS = ["PreFilter", "Permit"]
EVERYWHERE: dict[str, Answer] = {
    "raises": raising,
    "raises what cannot be told": mute,
    "nothing": lambda: None,
    "7": lambda: 7,
}


@pytest.mark.parametrize("deed", EVERYWHERE.values(), ids=EVERYWHERE)
@pytest.mark.parametrize("point", [*STATUS_POINTS, *RESULT_POINTS, "Filter", "Score", "NormalizeScore"])
def test_a_wrong_answer_at_any_point_costs_one_attempt(with_plugin: Stage, point: str, deed: Answer) -> None:
    with_plugin.deeds.deeds[point] = deed
    with_plugin.suffers()


@pytest.mark.parametrize("point", STATUS_POINTS)
def test_reasons_must_be_texts(with_plugin: Stage, point: str) -> None:
    with_plugin.deeds.deeds[point] = bad_reasons
    with_plugin.suffers()


@pytest.mark.parametrize("deed", [raising, list], ids=["raises", "unhashable"])
def test_a_key_for_kept_results_may_be_wrong(with_plugin: Stage, deed: Answer) -> None:
    with_plugin.deeds.deeds["RowKey"] = deed
    with_plugin.suffers()


def verdicts(codes: list[float], dtype: Any, reasons: int = 1) -> Answer:
    wrong: CodeArray = np.array(codes, dtype)
    return lambda: RowVerdicts(wrong, (unschedulable("no"),) * reasons)


@pytest.mark.parametrize(
    "deed",
    [
        verdicts([0], np.int16),
        verdicts([0, 0, 0], np.int16),
        verdicts([0, 2], np.int16),
        verdicts([-1, 0], np.int16),
        verdicts([0.0, 1.0], np.float64),
        lambda: RowVerdicts([0, 0], ()),  # type: ignore[arg-type]  # what an untyped plugin may do
        lambda: RowVerdicts(np.array([0, 1], np.int16), (None,)),  # type: ignore[arg-type]
    ],
    ids=["one for all", "too many", "code too large", "negative code", "floats", "a list", "no status"],
)
@pytest.mark.parametrize("kept", [True, False])
def test_verdicts_must_be_sound(with_plugin: Stage, deed: Answer, *, kept: bool) -> None:
    with_plugin.deeds.deeds["Filter"] = deed
    if not kept:
        with_plugin.deeds.deeds["RowKey"] = lambda: None
    with_plugin.suffers()


@pytest.mark.parametrize(
    "deed",
    [
        lambda: np.zeros(1, np.int64),
        lambda: np.zeros(3, np.int64),
        lambda: np.zeros(2),
        lambda: np.zeros((2, 1), np.int64),
    ],
    ids=["one for all", "too many", "floats", "a matrix"],
)
@pytest.mark.parametrize("point", ["Score", "NormalizeScore"])
def test_scores_must_be_sound(with_plugin: Stage, point: str, deed: Answer) -> None:
    with_plugin.deeds.deeds[point] = deed
    with_plugin.suffers()


async def waits_for_a_loop() -> Status:
    await asyncio.sleep(0)
    return SUCCESS


def test_pre_bind_can_await_the_handle_only(with_plugin: Stage) -> None:
    with_plugin.deeds.deeds["PreBind"] = waits_for_a_loop
    world = with_plugin.suffers()
    assert any("allowed: what the handle gives" in note for note in world.notes.raised)


@pytest.mark.parametrize("deed", [raising, lambda: None, waits_for_a_loop], ids=["raises", "nothing", "awaits a loop"])
def test_post_filter_that_fails_does_not_stop_deciding(with_plugin: Stage, deed: Answer) -> None:
    world = with_plugin.world
    with_plugin.deeds.deeds["PostFilter"] = deed
    world.pod("bad", cpu="3", labels={"is": "bad"})
    world.pod("good", cpu="1", labels={"is": "good"})
    world.driver.settle()
    assert world.node_of("good") is not None
    assert all(note.startswith(NAME) for note in world.notes.raised)
    assert world.why("bad")[0] == "SchedulerError"
    assert f'running PostFilter plugin "{NAME}"' in world.why("bad")[1]


@pytest.mark.parametrize("point", ["Unreserve", "PostBind"])
def test_what_fails_after_the_decision_changes_nothing(with_plugin: Stage, point: str) -> None:
    with_plugin.deeds.deeds[point] = raising
    if point == "Unreserve":
        with_plugin.deeds.deeds["PreBind"] = raising
    with_plugin.suffers(unplaced=point == "Unreserve")


def test_wait_from_pre_bind_is_no_reason_to_try_for_ever(with_plugin: Stage) -> None:
    with_plugin.deeds.deeds["PreBind"] = lambda: Status(Code.WAIT)
    with_plugin.world.pod("bad", cpu="1", labels={"is": "bad"})
    with_plugin.world.run(30.0)
    assert with_plugin.world.attempts("bad") < 10


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), 1e300])
def test_no_wait_on_permit_is_for_ever(with_plugin: Stage, timeout: float) -> None:
    with_plugin.deeds.deeds["Permit"] = lambda: PermitResult(Status(Code.WAIT), timeout)
    world = with_plugin.world
    world.pod("bad", cpu="1", labels={"is": "bad"})
    world.run(1.0)
    assert world.engine.state.cache.assumed_count == 1
    with_plugin.deeds.deeds["Permit"] = lambda: PermitResult(unschedulable("no"))
    world.driver.run(15 * 60.0)
    assert world.engine.state.cache.assumed_count == 0


def sorter(answer: Callable[[PodInfo], Any]) -> World:
    class Sorter(QueueSort):
        name = NAME

        def sort_key(self, pod: PodInfo, queued_at: float) -> tuple[float | str, ...]:
            key: tuple[float | str, ...] = answer(pod)
            return key

    registry: dict[str, type[Plugin]] = {**load_registry(), NAME: Sorter}
    plugins = f"{{queueSort: {{disabled: [{{name: '*'}}], enabled: [{{name: {NAME}}}]}}}}"
    world = World(load(f"{BERTH}\nprofiles: [{{plugins: {plugins}}}]\n", "test", registry), registry=registry)
    world.node("n1", cpu="4")
    return world.start()


@pytest.mark.parametrize(
    "answer",
    [
        lambda pod: 1 / 0,
        lambda pod: None,
        lambda pod: (1,) if pod.name == "p1" else ("1",),
        lambda pod: ([],),
        lambda pod: (1, pod),
        lambda pod: (1, 2) if pod.name == "p1" else (1, "x"),
    ],
    ids=["raises", "nothing", "mixed", "a list", "a pod", "mixed behind"],
)
def test_keys_that_cannot_be_compared_leave_the_order_to_arrival(answer: Callable[[PodInfo], Any]) -> None:
    world = sorter(answer)
    world.driver.stop()
    for i in range(4):
        world.pod(f"p{i}", cpu="1")
    world.driver.start()
    world.run()
    assert len(world.placed()) == 4
    assert world.notes.raised
    assert not world.notes.anomalies


def broken(method: str, deed: Answer) -> type[Plugin]:
    class Broken(PreEnqueue):
        name = NAME

        def __init__(self, args: PluginArgs, handle: Any) -> None:
            super().__init__(args, handle)
            if method == "__init__":
                deed()

        def events_to_register(self) -> Sequence[EventRegistration]:
            return deed() if method == "events_to_register" else ()

        def pre_enqueue(self, pod: PodInfo) -> Status:
            return SUCCESS

    return Broken


@pytest.mark.parametrize(
    ("method", "deed"),
    [("__init__", raising), ("events_to_register", raising), ("events_to_register", lambda: [1])],
)
def test_a_plugin_that_cannot_be_set_up_ends_the_start_with_its_name(method: str, deed: Answer) -> None:
    registry: dict[str, type[Plugin]] = {**load_registry(), NAME: broken(method, deed)}
    with pytest.raises(ConfigError, match=f'plugin "{NAME}": {method} failed'):
        World(load(RULES, "test", registry), registry=registry)


@pytest.mark.parametrize("deed", [raising, lambda: None, lambda: 7], ids=["raises", "nothing", "7"])
def test_a_hint_that_fails_wakes_the_pod(deed: Answer) -> None:
    deeds = Deeds()

    class Hinted(Naughty):
        def events_to_register(self) -> Sequence[EventRegistration]:
            return (EventRegistration(EventResource.NODE, Action.UPDATE_NODE_LABEL, lambda pod, old, new: deed()),)

    registry: dict[str, type[Plugin]] = {**load_registry(), NAME: type(NAME, (Hinted,), {"deeds": deeds})}
    world = World(load(RULES, "test", registry), registry=registry)
    world.node("n1", cpu="2")
    world.start()
    deeds.deeds["PreFilter"] = lambda: PreFilterResult(unschedulable("not yet"))
    world.pod("bad", cpu="1", labels={"is": "bad"})
    world.driver.settle()
    deeds.deeds.clear()
    world.change_node("n1", {"metadata": {"labels": {"any": "change"}}})
    world.run()
    assert world.node_of("bad") == "n1"
    assert any(note.startswith(NAME) for note in world.notes.raised)


class Sagging(RowScore):
    """A score that leaves its range where nodes are crowded, and leaves normalising to the runtime."""

    name = "Sagging"

    def row_key(self, template: PodTemplate) -> Hashable | None:
        return ()

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:
        return 100 - 30 * rows.requested("pods")


@pytest.mark.parametrize("roomy", [True, False], ids=["the node is feasible", "the node is full"])
def test_a_score_may_leave_its_range_only_where_the_pod_cannot_go(roomy: bool) -> None:
    registry: dict[str, type[Plugin]] = {**load_registry(), Sagging.name: Sagging}
    world = World(load(RULES.replace(NAME, Sagging.name), "test", registry), registry=registry)
    world.node("crowded", cpu="4" if roomy else "400m")
    world.node("n1", cpu="4")
    world.node("n2", cpu="4")
    for i in range(4):
        world.pod(f"other{i}", cpu="100m", scheduler="other")
        world.bind_elsewhere(f"other{i}", "crowded")
    world.start()
    for i in range(4):
        world.pod(f"p{i}", cpu="100m")
        world.driver.settle()
    if roomy:
        assert world.notes.raised
        assert "found scores from -20 to 100" in world.why("p0")[1]
    else:
        assert not world.notes.raised
        assert {world.node_of(f"p{i}") for i in range(4)} == {"n1", "n2"}
