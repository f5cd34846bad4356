"""Victims that are not bound yet: they go back to the queue, and nothing is written about them."""

from typing import Any

import pytest

from plugins.registry import load_registry
from scheduler.config import load
from scheduler.eviction import IN_MEMORY
from scheduler.framework import SUCCESS, Code, CycleState, Permit, PermitResult, Plugin, PodInfo, PreBind, Status
from scheduler.messages import DeletePod, MarkDisrupted
from scheduler.sandbox.faults import CallPlan, binding
from scheduler.tasks import CancelledError, Sleep
from tests.scenarios.world import BERTH, World

LONG = 600.0


class Slow(Permit, PreBind):
    """Lets pods labelled slow wait where the label says."""

    name = "Slow"

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        waits = pod.labels.get("slow") == "permit"
        return PermitResult(Status(Code.WAIT), LONG) if waits else PermitResult(SUCCESS)

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        if pod.labels.get("slow") == "prebind":
            await Sleep(LONG)
        return SUCCESS


class Stubborn(Slow):
    """Does not want to hear that it is to stop."""

    name = "Slow"

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        try:
            return await super().pre_bind(state, pod, node_name)
        except CancelledError:
            return SUCCESS


def world_with(plugin: type[Plugin]) -> World:
    registry: dict[str, type[Plugin]] = {**load_registry(), "Slow": plugin}
    text = f"{BERTH}\nprofiles: [{{plugins: {{multiPoint: {{enabled: [{{name: Slow}}]}}}}}}]\n"
    return World(load(text, "test", registry), registry=registry)


@pytest.mark.parametrize(("plugin", "where"), [(Slow, "permit"), (Slow, "prebind"), (Stubborn, "prebind")])
def test_a_victim_that_waits_to_be_bound_goes_back_to_the_queue(plugin: type[Plugin], where: str) -> None:
    world = world_with(plugin)
    world.node("n1", cpu="2")
    world.start()
    labels: dict[str, Any] = {"labels": {"slow": where}}
    world.pod("low", "2", **labels)
    world.driver.settle()
    assert world.used("n1") == 2000
    world.pod("high", "2", priority=10)
    world.driver.settle()
    assert world.node_of("high") == "n1"
    assert not [effect for effect in world.driver.sent if isinstance(effect, DeletePod | MarkDisrupted)]
    assert [event.note.endswith(IN_MEMORY) for event in world.events("low", "Preempted")] == [True]
    world.run(30.0)
    assert world.node_of("low") is None
    world.delete("high")
    world.node("n2", cpu="2")
    world.run(LONG + 30.0 if where == "prebind" else 30.0)
    assert (world.node_of("low") is not None) == (where == "prebind")


def test_a_victim_whose_binding_is_under_way_is_deleted_like_any_other() -> None:
    world = world_with(Slow)
    world.node("n1", cpu="2")
    world.start()
    world.faults.calls(binding, CallPlan(before=5.0), times=1)
    world.pod("low", "2")
    world.driver.settle()
    world.pod("high", "2", priority=10)
    world.run(30.0)
    assert [effect.name for effect in world.driver.sent if isinstance(effect, DeletePod)] == ["low"]
    assert world.placed() == {"high": "n1"}
