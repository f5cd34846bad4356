"""Plugins that read other kinds: nothing is decided before they are known, and their changes wake whom they help."""

from collections.abc import Sequence
from typing import ClassVar

import pytest

from plugins.registry import load_registry
from scheduler.api import ApiObject, Kind, Namespace, PodDisruptionBudget
from scheduler.config import load
from scheduler.framework import (
    SUCCESS,
    Action,
    CycleState,
    EventRegistration,
    EventResource,
    PodInfo,
    PreFilter,
    PreFilterResult,
    unschedulable,
)
from scheduler.messages import KindStale, KindSynced
from tests.scenarios.world import BERTH, JsonObject, World

ENABLED = """profiles:
  - schedulerName: berth
    plugins:
      preFilter:
        enabled: [{name: OpenNamespaces}]
"""

BARE = """profiles:
  - schedulerName: berth
    plugins:
      multiPoint:
        disabled: [{name: "*"}]
        enabled: [{name: PrioritySort}, {name: DefaultBinder}]
"""


class OpenNamespaces(PreFilter):
    """Pods of namespaces labelled open=yes only."""

    name: ClassVar[str] = "OpenNamespaces"
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset({Namespace, PodDisruptionBudget})

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        namespace = self.handle.find(Namespace, "", pod.namespace)
        is_open = namespace is not None and namespace.labels.get("open") == "yes"
        return PreFilterResult(SUCCESS if is_open else unschedulable("the namespace is not open"))

    def events_to_register(self) -> Sequence[EventRegistration]:
        return [EventRegistration(EventResource.NAMESPACE, Action.ADD | Action.UPDATE, self._opens)]

    def _opens(self, pod: PodInfo, old: object, new: object) -> bool:
        return isinstance(new, Namespace) and new.name == pod.namespace and new.labels.get("open") == "yes"


@pytest.fixture
def world() -> World:
    registry = load_registry() | {OpenNamespaces.name: OpenNamespaces}
    made = World(load(BERTH + ENABLED, "test", registry), registry=registry)
    made.node("n1")
    return made


def label(world: World, value: str) -> None:
    patch: JsonObject = {"metadata": {"labels": {"open": value}}}
    world.cluster.patch("namespaces", None, "default", patch, "application/merge-patch+json")


def test_a_kind_is_followed_only_if_a_plugin_needs_it(world: World) -> None:
    assert world.engine.kinds >= {Kind.NAMESPACE, Kind.POD_DISRUPTION_BUDGET}
    bare = World(load(BERTH + BARE, "test", load_registry()))
    assert bare.engine.kinds == {Kind.POD, Kind.NODE}


def test_the_change_that_helps_is_what_wakes_the_pod(world: World) -> None:
    world.start()
    world.pod("p")
    world.run(5.0)
    assert world.why("p") == ("Unschedulable", "0/1 nodes are available: the namespace is not open.")
    label(world, "soon")
    world.run(5.0)
    assert world.attempts("p") == 1
    label(world, "yes")
    world.driver.settle()
    assert world.node_of("p") == "n1"


def test_nothing_is_decided_while_a_kind_is_stale(world: World) -> None:
    label(world, "yes")
    world.start()
    world.driver.tell(KindStale(Kind.NAMESPACE))
    world.pod("p")
    world.driver.run(5.0)
    assert world.node_of("p") is None
    world.driver.tell(KindSynced(Kind.NAMESPACE))
    world.driver.settle()
    assert world.node_of("p") == "n1"


def budget(name: str, app: str) -> JsonObject:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def known(world: World) -> PodDisruptionBudget | None:
    return world.engine.state.objects.find(PodDisruptionBudget, "default", "b")


def test_what_vanished_while_nobody_watched_is_gone_after_a_list(world: World) -> None:
    world.cluster.create("poddisruptionbudgets", budget("b", "a"))
    world.start()
    assert known(world) is not None
    world.driver.break_watch("poddisruptionbudgets")
    world.cluster.delete("poddisruptionbudgets", "default", "b")
    world.driver.settle()
    assert known(world) is not None
    world.driver.relist("poddisruptionbudgets")
    assert known(world) is None


def test_one_that_is_made_anew_under_the_same_name_is_another_one(world: World) -> None:
    world.cluster.create("poddisruptionbudgets", budget("b", "a"))
    world.start()
    first = known(world)
    world.driver.break_watch("poddisruptionbudgets")
    world.cluster.delete("poddisruptionbudgets", "default", "b")
    world.cluster.create("poddisruptionbudgets", budget("b", "other"))
    world.driver.relist("poddisruptionbudgets")
    second = known(world)
    assert first is not None
    assert second is not None
    assert second.uid != first.uid
    assert second.selector is not None
    assert second.selector.matches({"app": "other"})
