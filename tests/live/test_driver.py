"""The engine in an event loop: when it works, when it leaves room, and what happens if it breaks."""

import asyncio

import pytest

from plugins.registry import BUILT_IN
from scheduler.config import default
from scheduler.engine import Engine
from scheduler.live.driver import Driver
from scheduler.messages import (
    Bind,
    Effect,
    Fact,
    KindSynced,
    LeadershipGained,
    NodeSeen,
    PodSeen,
)
from scheduler.observer import Observer
from tests.builders import node, pod
from tests.live.waiting import eventually


class Desk:
    """A driver, what it was told to perform, and whether it may decide."""

    def __init__(self, engine: Engine | None = None) -> None:
        self.engine = engine or Engine(default(BUILT_IN), BUILT_IN, 0, Observer())
        self.performed: list[Effect] = []
        self.may_decide = True
        self.driver = Driver(self.engine, self.performed.append, lambda: self.may_decide)

    def feed(self, *facts: Fact) -> None:
        self.driver.feed(facts)

    def begin(self, nodes: int) -> None:
        self.feed(LeadershipGained(), *(NodeSeen(node(f"n{i}")) for i in range(nodes)))
        self.feed(*map(KindSynced, self.driver.engine.kinds))

    def bindings(self) -> list[Bind]:
        return [effect for effect in self.performed if isinstance(effect, Bind)]


async def test_what_comes_together_is_taken_in_one_turn() -> None:
    desk = Desk()
    desk.begin(1)
    desk.feed(PodSeen(pod("a", "1")), PodSeen(pod("b", "1")))
    assert desk.performed == []
    await eventually(lambda: len(desk.bindings()) == 2, "both are decided")


async def test_a_backoff_ends_by_itself() -> None:
    desk = Desk()
    desk.begin(0)
    desk.feed(PodSeen(pod("a", "1")))
    await eventually(lambda: desk.performed, "it fails")
    desk.feed(NodeSeen(node("n1")))
    assert desk.bindings() == []
    await eventually(desk.bindings, "it is decided")


async def test_without_leave_nothing_is_decided_and_the_loop_does_not_spin() -> None:
    desk = Desk()
    desk.begin(1)
    desk.may_decide = False
    desk.feed(PodSeen(pod("a", "1")))
    turns = 0

    def count() -> None:
        nonlocal turns
        turns += 1
        if turns < 1000:
            asyncio.get_running_loop().call_soon(count)

    count()
    await eventually(lambda: turns == 1000, "the loop has turned")
    assert desk.performed == []
    desk.may_decide = True
    desk.driver.wake()
    await eventually(desk.bindings, "it is decided")


async def test_a_long_backlog_leaves_room_for_everything_else() -> None:
    desk = Desk()
    desk.begin(40)
    desk.feed(*(PodSeen(pod(f"p{i}", "10m")) for i in range(1000)))
    turns = 0
    while len(desk.bindings()) < 1000:
        await asyncio.sleep(0)
        turns += 1
    # How many turns depends on the machine; that it is not one, on the driver.
    assert turns > 2


class Digestion(Engine):
    """An engine with a fault of its own."""

    def handle(self, fact: Fact, now: float) -> None:
        if isinstance(fact, PodSeen) and fact.pod.name == "poison":
            raise KeyError(fact.pod.uid)
        super().handle(fact, now)


async def test_a_fact_that_cannot_be_digested_does_not_keep_the_next_ones_out() -> None:
    desk = Desk(Digestion(default(BUILT_IN), BUILT_IN, 0, Observer()))
    desk.begin(1)
    desk.feed(PodSeen(pod("poison", "1")), PodSeen(pod("a", "1")))
    await eventually(desk.bindings, "the other is decided")
    assert not desk.driver.failed.done()


class Broken(Engine):
    """An engine that cannot go on."""

    def advance(self, now: float, cycles: int) -> list[Effect]:
        raise ZeroDivisionError


async def test_an_engine_that_cannot_go_on_is_told_to_whoever_runs_it() -> None:
    desk = Desk(Broken(default(BUILT_IN), BUILT_IN, 0, Observer()))
    desk.begin(1)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(desk.driver.failed, 5)
