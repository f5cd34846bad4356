"""Reserve, Permit, PreBind, Bind and PostBind: who is called when, what a refusal undoes, and what an exception costs (INV-4)."""

from collections.abc import Callable, Hashable

import pytest

from plugins.registry import load_registry
from scheduler.config import load
from scheduler.framework import (
    SUCCESS,
    Code,
    CycleState,
    Handle,
    NodeRows,
    Permit,
    PermitResult,
    Plugin,
    PluginArgs,
    PodInfo,
    PodTemplate,
    PostBind,
    PreBind,
    Reserve,
    RowFilter,
    RowVerdicts,
    Status,
    unschedulable,
)
from tests.scenarios.world import BERTH, World

Answer = Callable[[], Status]


class Journal:
    """What the plugins of one test were asked, and what they answer."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.answers: dict[str, Answer] = {}
        self.handle: Handle | None = None

    def ask(self, line: str) -> Status:
        self.lines.append(line)
        return self.answers.get(line, lambda: SUCCESS)()


def keeper(name: str, journal: Journal) -> type[Plugin]:
    """A plugin at all points past the decision that writes down what it is asked."""

    class Keeper(Reserve, Permit, PreBind, PostBind):
        def __init__(self, args: PluginArgs, handle: Handle) -> None:
            super().__init__(args, handle)
            journal.handle = handle

        def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
            return journal.ask(f"{name} reserve")

        def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
            journal.ask(f"{name} unreserve")

        def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
            return PermitResult(journal.ask(f"{name} permit"), timeout=30.0)

        async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
            return journal.ask(f"{name} pre_bind")

        def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
            journal.ask(f"{name} post_bind")

    Keeper.name = name
    return Keeper


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture
def world(journal: Journal) -> World:
    registry: dict[str, type[Plugin]] = {**load_registry(), "A": keeper("A", journal), "B": keeper("B", journal)}
    text = f"{BERTH}\nprofiles: [{{plugins: {{multiPoint: {{enabled: [{{name: A}}, {{name: B}}]}}}}}}]\n"
    made = World(load(text, "test", registry), registry=registry)
    made.node("n1", cpu="2")
    return made.start()


FORWARD = ["A reserve", "B reserve", "A permit", "B permit", "A pre_bind", "B pre_bind"]


def once(status: Status) -> Answer:
    """This answer the first time, success afterwards."""
    answers = iter([status])
    return lambda: next(answers, SUCCESS)


def raising() -> Status:
    raise RuntimeError("broken")


def test_all_are_called_in_order_and_told_in_the_end(world: World, journal: Journal) -> None:
    world.pod("p", cpu="1")
    world.run()
    assert journal.lines == [*FORWARD, "A post_bind", "B post_bind"]
    assert world.node_of("p") == "n1"


@pytest.mark.parametrize("point", FORWARD)
@pytest.mark.parametrize("failure", [lambda: unschedulable("not now"), raising], ids=["refusal", "exception"])
def test_a_failure_at_any_point_is_undone_in_reverse_and_the_room_is_free(
    world: World, journal: Journal, point: str, failure: Answer
) -> None:
    journal.answers[point] = failure
    world.pod("p", cpu="2")
    world.driver.settle()
    assert journal.lines == [*FORWARD[: FORWARD.index(point) + 1], "B unreserve", "A unreserve"]
    assert world.used("n1") == 0
    assert not world.bindings()
    assert bool(world.notes.raised) is (failure is raising)
    journal.answers.clear()
    world.node("n2", cpu="2")
    world.run()
    assert world.node_of("p") is not None


def test_a_refusal_by_permit_asks_for_nodes_and_an_exception_does_not(world: World, journal: Journal) -> None:
    journal.answers["B permit"] = lambda: unschedulable("quorum is missing")
    world.pod("p", cpu="1")
    world.driver.settle()
    assert world.why("p") == ("Unschedulable", "0/1 nodes are available: 1 quorum is missing.")
    journal.answers["B permit"] = raising
    world.change_node("n1", {"metadata": {"labels": {"any": "change"}}})
    world.run()
    assert world.why("p")[0] == "SchedulerError"
    assert 'running Permit plugin "B": RuntimeError: broken' in world.why("p")[1]


class TestWaiting:
    """Permit may answer Wait."""

    @pytest.fixture(autouse=True)
    def wait(self, world: World, journal: Journal) -> str:
        journal.answers["A permit"] = once(Status(Code.WAIT))
        journal.answers["B permit"] = once(Status(Code.WAIT))
        uid = world.pod("p", cpu="2")
        world.run(1.0)
        assert world.used("n1") == 2000
        assert not world.bindings()
        return uid

    def test_the_pod_goes_on_when_all_have_allowed_it(self, world: World, journal: Journal, wait: str) -> None:
        assert journal.handle is not None
        assert journal.handle.allow(wait, "A")
        world.run(1.0)
        assert not world.bindings()
        assert journal.handle.allow(wait, "B")
        assert not journal.handle.allow(wait, "B")
        world.run(1.0)
        assert world.node_of("p") == "n1"

    def test_a_rejection_ends_the_wait(self, world: World, journal: Journal, wait: str) -> None:
        assert journal.handle is not None
        assert journal.handle.reject(wait, "A", "siblings are gone")
        world.driver.settle()
        assert journal.lines[-2:] == ["B unreserve", "A unreserve"]
        assert world.why("p") == ("Unschedulable", "0/1 nodes are available: 1 siblings are gone.")

    def test_a_wait_ends_by_itself(self, world: World) -> None:
        world.run(28.0)
        assert world.used("n1") == 2000
        world.driver.run(2.0)
        assert "timed out waiting on permit plugin A" in world.why("p")[1]

    def test_a_pod_that_is_deleted_frees_its_room_at_once(self, world: World, journal: Journal) -> None:
        world.delete("p")
        world.driver.settle()
        assert world.used("n1") == 0
        assert journal.lines[-2:] == ["B unreserve", "A unreserve"]
        assert not world.events("p", "FailedScheduling")

    def test_other_pods_are_decided_meanwhile(self, world: World) -> None:
        world.node("n2")
        world.pod("q", cpu="1")
        world.run(1.0)
        assert world.node_of("q") == "n2"


def test_promised_room_counts_against_pods_of_no_higher_priority(world: World) -> None:
    world.node("n2", cpu="4", labels={"big": "yes"})
    only_there = {"nodeSelector": {"big": "yes"}}
    world.pod("foreign", cpu="3", scheduler="other")
    world.change_pod("foreign", {"status": {"nominatedNodeName": "n2"}}, status=True)
    world.pod("p", cpu="2", spec=only_there)
    world.run()
    assert world.why("p")[1].startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match")
    world.pod(
        "urgent", cpu="1", spec={**only_there, "priorityClassName": "system-cluster-critical"}, namespace="default"
    )
    world.run()
    assert world.node_of("urgent") == "n2"
    world.change_pod("foreign", {"status": {"nominatedNodeName": None}}, status=True)
    world.driver.settle()
    assert world.node_of("p") == "n2"


class Careless(RowFilter):
    """A row rule whose key cannot be had."""

    name = "Careless"
    key: Callable[[], object] = staticmethod(list)

    def row_key(self, template: PodTemplate) -> Hashable | None:
        return Careless.key()

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:
        return RowVerdicts.failing(rows.named("n1"), unschedulable("never"))


@pytest.mark.parametrize("key", [list, raising], ids=["unhashable", "exception"])
def test_a_rule_without_a_usable_key_costs_its_pod_an_attempt_and_nobody_else(
    key: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Careless, "key", staticmethod(key))
    registry: dict[str, type[Plugin]] = {**load_registry(), "Careless": Careless}
    text = f"{BERTH}\nprofiles: [{{plugins: {{multiPoint: {{enabled: [{{name: Careless}}]}}}}}}, {{schedulerName: plain}}]\n"
    text = text.replace("[{plugins", "[{schedulerName: berth, plugins")
    world = World(load(text, "test", registry), registry=registry)
    world.node("n1")
    world.start()
    world.pod("p")
    world.pod("other", scheduler="plain")
    world.run()
    assert world.node_of("other") == "n1"
    assert world.why("p")[0] == "SchedulerError"
    assert world.notes.raised[0].startswith("Careless: ")
