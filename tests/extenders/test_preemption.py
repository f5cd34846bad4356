"""The preempt verb: extenders narrow down where pods would be evicted."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from plugins.registry import load_registry
from scheduler.config import load
from scheduler.framework import (
    CycleState,
    Plugin,
    PodInfo,
    PostFilter,
    PostFilterResult,
    Status,
    Victims,
    unschedulable,
)
from scheduler.messages import DeletePod
from scheduler.sandbox.faults import CallPlan, extending
from tests.extenders.extender import URL, ScriptedExtender, extender_config
from tests.extenders.stage import world
from tests.scenarios.world import BERTH, World

PROFILES = "profiles: [{plugins: {postFilter: {enabled: [{name: Narrow}], disabled: [{name: '*'}]}}}]\n"


class Narrow(PostFilter):
    """Offers all pods of every node, and keeps what the extenders make of it."""

    name = "Narrow"
    answers: ClassVar[list[Mapping[str, Victims] | Status]] = []

    async def post_filter(self, state: CycleState, pod: PodInfo, verdicts: Mapping[str, Status]) -> PostFilterResult:
        nodes = [self.handle.node(name) for name in verdicts]
        offered = {node.name: Victims(tuple(node.pods.values()), 1) for node in nodes if node is not None and node.pods}
        self.answers.append(await self.handle.process_preemption(pod, offered))
        return PostFilterResult(unschedulable("narrowed"))


def full_world(extender: ScriptedExtender, **fields: Any) -> World:
    """Two nodes with a pod each, and no room for another."""
    Narrow.answers.clear()
    registry: dict[str, type[Plugin]] = {**load_registry(), "Narrow": Narrow}
    item = extender_config(preemptVerb="preempt", **fields)
    stage = World(load(f"{BERTH}{PROFILES}extenders: {json.dumps([item])}\n", "test", registry), registry=registry)
    stage.driver.extenders[URL] = extender
    for number in (1, 2):
        stage.node(f"n{number}")
        stage.pod(f"v{number}", "3", node=f"n{number}")
    stage.pod("p", "2")
    return stage


def narrowed() -> dict[str, tuple[list[str], int]]:
    """The names of the victims by node, and what their budgets would forbid."""
    (answer,) = Narrow.answers
    assert not isinstance(answer, Status), answer
    return {name: ([pod.name for pod in victims.pods], victims.violations) for name, victims in answer.items()}


def test_an_extender_takes_nodes_away() -> None:
    extender = ScriptedExtender(
        preempt=lambda body: {"NodeNameToMetaVictims": {"n2": body["NodeNameToMetaVictims"]["n2"]}}
    )
    stage = full_world(extender).start()
    assert narrowed() == {"n2": (["v2"], 1)}
    (body,) = extender.bodies("preempt")
    assert body["NodeNameToMetaVictims"] == {
        name: {"Pods": [{"UID": stage.pod_uid(f"v{name[1]}")}], "NumPDBViolations": 1} for name in ("n1", "n2")
    }


def test_one_without_a_cache_is_shown_whole_pods() -> None:
    extender = ScriptedExtender(preempt=lambda body: {})
    full_world(extender, nodeCacheCapable=False).start()
    assert narrowed() == {}
    (body,) = extender.bodies("preempt")
    assert body["NodeNameToVictims"]["n1"]["Pods"][0]["spec"]["containers"]


@pytest.mark.parametrize(
    ("preempt", "said"),
    [
        (
            lambda body: {"NodeNameToMetaVictims": {"n9": {"Pods": [{"UID": "x"}]}}},
            'node "n9", which it was not offered',
        ),
        (lambda body: {"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "x"}]}}}, "claims to preempt pod x on node"),
        (lambda body: {"NodeNameToMetaVictims": {"n1": {"Pods": []}}}, "expected at least one victim pod on node"),
        (lambda body: {"NodeNameToMetaVictims": {"n1": None}}, "expected at least one victim pod on node"),
        (lambda body: b"no", "the answer cannot be read"),
    ],
)
def test_what_cannot_be_is_an_error_or_ignored(preempt: Any, said: str) -> None:
    full_world(ScriptedExtender(preempt=preempt)).start()
    (answer,) = Narrow.answers
    assert isinstance(answer, Status)
    assert said in answer.message
    full_world(ScriptedExtender(preempt=preempt), ignorable=True).start()
    assert "n9" not in narrowed()


def preempting_world(extender: ScriptedExtender, *, nodes: int = 2) -> World:
    """Full nodes, and an important pod that fits nowhere, with the plugins of the default."""
    stage = world({"preemptVerb": "preempt"})
    stage.driver.extenders[URL] = extender
    for number in range(1, nodes + 1):
        stage.node(f"n{number}")
        stage.pod(f"v{number}", "3", node=f"n{number}")
    stage.pod("p", "2", spec={"priorityClassName": "system-node-critical"})
    return stage


def evicted(stage: World) -> list[str]:
    """The pods that were deleted to make room."""
    return [effect.name for effect in stage.driver.sent if isinstance(effect, DeletePod)]


def test_pods_are_evicted_only_where_the_extender_lets_them() -> None:
    extender = ScriptedExtender(
        preempt=lambda body: {"NodeNameToMetaVictims": {"n2": body["NodeNameToMetaVictims"]["n2"]}}
    )
    stage = preempting_world(extender).start()
    assert evicted(stage) == ["v2"]


def test_nobody_is_evicted_if_the_extender_leaves_no_node() -> None:
    stage = preempting_world(ScriptedExtender(preempt=lambda body: {})).start()
    stage.run(60)
    assert evicted(stage) == []
    assert stage.said("p")[1].endswith("preemption: no candidate node for preemption")


def test_an_extender_that_fails_evicts_nobody() -> None:
    stage = preempting_world(ScriptedExtender(status=500)).start()
    assert evicted(stage) == []
    assert stage.why("p")[0] == "SchedulerError"
    assert URL in stage.why("p")[1]


def test_nobody_is_evicted_for_a_pod_that_is_gone_when_the_answer_comes() -> None:
    stage = preempting_world(ScriptedExtender())
    stage.faults.calls(extending, CallPlan(after=2.0))
    stage.start()
    stage.delete("p")
    stage.run()
    assert evicted(stage) == []


def test_nobody_is_evicted_from_a_node_where_room_has_come_meanwhile() -> None:
    """What was found of the node before the extender was asked does not hold any more."""
    stage = preempting_world(ScriptedExtender(), nodes=1)
    stage.faults.calls(extending, CallPlan(after=2.0), times=1)
    stage.start()
    stage.delete("v1")
    stage.run()
    assert evicted(stage) == []
    assert stage.node_of("p") == "n1"


def test_a_node_that_has_changed_meanwhile_is_looked_at_afresh() -> None:
    extender = ScriptedExtender()
    stage = preempting_world(extender, nodes=1)
    stage.faults.calls(extending, CallPlan(after=2.0), times=1)
    stage.start()
    stage.pod("late", "500m", node="n1")
    stage.run()
    assert len(extender.bodies("preempt")) == 2
    assert evicted(stage) == ["v1"]


def test_others_are_decided_while_an_extender_thinks_about_victims() -> None:
    extender = ScriptedExtender()
    stage = full_world(extender, managedResources=[{"name": "x.example/gpu"}])
    stage.pod("gpu", "2", resources={"x.example/gpu": "1"})
    stage.faults.calls(extending, CallPlan(after=2.0))
    stage.start()
    stage.pod("small", "500m")
    stage.run(0.5)
    assert stage.node_of("small")
    assert len(Narrow.answers) == 1, "of the plain pod, about which nobody is asked"
    stage.run()
    assert len(extender.asked) > 0
