"""The worked examples of docs/plugins.md at work: each is named by where it is, in a profile of an ordinary configuration."""

from pathlib import Path

import pytest

from plugins.registry import load_registry
from scheduler.config import load
from scheduler.queue.entry import Part
from tests.scenarios.world import BERTH, World

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "plugins"
MERGE = "application/merge-patch+json"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


def world(place: str, *, queue_sort: bool = False) -> World:
    """A cluster without nodes, whose scheduler has the example."""
    registry = load_registry()
    multi_point = f'multiPoint: {{enabled: [{{name: "{place}"}}]}}'
    sort = f'queueSort: {{disabled: [{{name: "*"}}], enabled: [{{name: "{place}"}}]}}'
    text = f"{BERTH}profiles: [{{plugins: {{{sort if queue_sort else multi_point}}}}}]\n"
    return World(load(text, "berth.yaml", registry), registry=registry)


def test_nodes_of_a_team_take_only_its_pods() -> None:
    w = world("team_nodes:TeamNodes")
    w.node("blue", labels={"example.com/team": "blue"})
    w.start()
    w.pod("ours", "1", labels={"example.com/team": "blue"})
    w.pod("theirs", "1", labels={"example.com/team": "red"})
    w.run()
    assert w.placed() == {"ours": "blue"}
    assert w.why("theirs") == (
        "Unschedulable",
        "0/1 nodes are available: 1 node(s) belonged to another team.",
    )
    w.change_node("blue", {"metadata": {"labels": {"example.com/team": None}}})
    w.run()
    assert w.node_of("theirs") == "blue"


def test_the_cheapest_node_that_has_room_is_preferred() -> None:
    w = world("cheapest:Cheapest")
    for name, price in (("dear", "90"), ("cheap", "10"), ("unknown", "")):
        w.node(name, cpu="2", labels={"example.com/price-per-hour": price})
    w.start()
    for name in ("a", "b"):
        w.pod(name, "1500m")
        w.run()
    assert w.placed() == {"a": "cheap", "b": "dear"}


def test_the_nearest_deadline_comes_first() -> None:
    w = world("deadlines:Deadlines", queue_sort=True)
    w.start()
    for name, deadline in (("none", None), ("late", "300"), ("soon", "100")):
        w.pod(name, "1", labels={"example.com/deadline": deadline} if deadline else {})
    w.run()
    w.node("n1")
    w.run()
    assert [bind.name for bind in w.bindings()] == ["soon", "late", "none"]


def test_pods_of_a_paused_namespace_wait_outside_the_queue() -> None:
    w = world("paused:Paused")
    w.node("n1")
    w.cluster.patch("namespaces", None, "default", {"metadata": {"labels": {"example.com/paused": "true"}}}, MERGE)
    w.start()
    w.pod("a", "1")
    w.run()
    entry = w.engine.state.queue.get(w.pod_uid("a"))
    assert entry is not None
    assert entry.part is Part.GATED
    w.cluster.patch("namespaces", None, "default", {"metadata": {"labels": {"example.com/paused": None}}}, MERGE)
    w.run()
    assert w.node_of("a") == "n1"


def test_a_group_is_bound_when_it_is_complete_and_gives_its_room_back_if_it_never_is() -> None:
    w = world("together:Together")
    w.node("n1", cpu="4")
    w.start()
    labels = {"example.com/group": "g", "example.com/group-size": "3"}
    for name in ("a", "b"):
        w.pod(name, "1", labels=labels)
    w.run()
    assert (w.placed(), w.used("n1")) == ({}, 2000)
    w.run(50.0)
    assert w.placed() == {}
    assert "timed out waiting on permit plugin Together" in w.why("a")[1]
    w.pod("c", "1", labels=labels)
    w.run(120.0)
    assert w.placed() == {"a": "n1", "b": "n1", "c": "n1"}
