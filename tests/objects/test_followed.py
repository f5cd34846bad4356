"""Kinds beside pods and nodes: what is decoded, and that an odd object ends no watch."""

from typing import Any

import msgspec
import pytest

from scheduler.api import ApiObject, Kind, PodDisruptionBudget
from scheduler.objects import FOLLOWED

META = {"name": "x", "namespace": "ns", "uid": "u1", "resourceVersion": "7", "labels": {"a": "b"}}


def decode(kind: Kind, **fields: Any) -> ApiObject:
    return FOLLOWED[kind].decoder().decode(msgspec.json.encode({"metadata": META, **fields}))


@pytest.mark.parametrize("kind", FOLLOWED)
def test_an_object_that_says_nothing_but_its_name_is_decoded(kind: Kind) -> None:
    decoded = decode(kind)
    assert (decoded.kind, decoded.uid, decoded.name, decoded.resource_version) == (kind, "u1", "x", "7")


@pytest.mark.parametrize("kind", FOLLOWED)
def test_lists_and_watch_lines_are_decoded_alike(kind: Kind) -> None:
    decoder = FOLLOWED[kind].decoder()
    listed, version, token = decoder.decode_list(
        msgspec.json.encode({"metadata": {"resourceVersion": "9", "continue": "t"}, "items": [{"metadata": META}]})
    )
    event = decoder.decode_event(msgspec.json.encode({"type": "ADDED", "object": {"metadata": META}}))
    assert (version, token, event.resource_version) == ("9", "t", "7")
    assert msgspec.structs.astuple(listed[0]) == msgspec.structs.astuple(event.object) if event.object else False


def test_a_budget_says_whom_it_protects_and_how_many_may_go() -> None:
    budget = decode(
        Kind.POD_DISRUPTION_BUDGET,
        spec={"selector": {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "k", "operator": "Exists"}]}},
        status={"disruptionsAllowed": 2, "disruptedPods": {"p1": "2026-01-01T00:00:00Z"}},
    )
    assert isinstance(budget, PodDisruptionBudget)
    assert budget.selector is not None
    assert budget.selector.matches({"app": "a", "k": ""})
    assert not budget.selector.matches({"app": "a"})
    assert (budget.disruptions_allowed, budget.disrupted) == (2, frozenset({"p1"}))


def test_a_selector_that_cannot_be_understood_protects_nobody() -> None:
    odd = {"selector": {"matchExpressions": [{"key": "k", "operator": "Sometimes"}]}}
    budget = decode(Kind.POD_DISRUPTION_BUDGET, spec=odd)
    assert isinstance(budget, PodDisruptionBudget)
    assert budget.selector is None
