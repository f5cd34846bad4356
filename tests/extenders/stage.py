"""A sandbox with extenders in it."""

import json
from typing import Any

from plugins.registry import load_registry
from scheduler.config import load
from tests.extenders.extender import URL, JsonObject, ScriptedExtender, extender_config
from tests.scenarios.world import BERTH, World

FILTER: JsonObject = {"filterVerb": "filter"}
PRIORITIZE: JsonObject = {"prioritizeVerb": "prioritize", "weight": 1}
BIND: JsonObject = {"bindVerb": "bind"}
GPU: JsonObject = {"managedResources": [{"name": "x.example/gpu", "ignoredByScheduler": True}]}


def world(*extenders: JsonObject, more: str = "") -> World:
    """A cluster whose scheduler is configured with these extenders (fields beside the usual ones)."""
    items = [extender_config(**fields) for fields in extenders]
    return World(load(f"{BERTH}{more}\nextenders: {json.dumps(items)}\n", "test", load_registry()))


def world_with(extender: ScriptedExtender, *, nodes: int = 3, **fields: Any) -> World:
    """A cluster of nodes n1, n2, ... with one extender."""
    stage = world(fields)
    stage.driver.extenders[URL] = extender
    for number in range(1, nodes + 1):
        stage.node(f"n{number}")
    return stage
