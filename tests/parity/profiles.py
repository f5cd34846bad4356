"""The profiles that both schedulers run with: the defaults, and two that change every argument of the resource plugins."""

from collections.abc import Mapping

import yaml

from plugins.registry import BUILT_IN
from scheduler.config import Configuration, load
from scheduler.config.catalog import PLUGINS
from tests.builders import JsonObject
from tests.parity.worlds import FPGA, GPU

SHAPE = {"shape": [{"utilization": 0, "score": 9}, {"utilization": 35, "score": 2}, {"utilization": 100, "score": 10}]}
DEVICES = [
    {"name": name, "weight": weight} for name, weight in (("cpu", 1), ("memory", 2), (GPU, 5), ("ephemeral-storage", 1))
]
BALANCED = [{"name": name} for name in ("cpu", "memory", GPU, "ephemeral-storage")]
ADDED = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "rank", "operator": "Gt", "values": ["1"]}]}]
    },
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 30, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["east"]}]}}
    ],
}
ARGUMENTS: Mapping[str, list[JsonObject]] = {
    "defaults": [],
    "most-allocated": [
        {
            "name": "NodeResourcesFit",
            "args": {"ignoredResources": [FPGA], "scoringStrategy": {"type": "MostAllocated", "resources": DEVICES}},
        },
        {"name": "NodeResourcesBalancedAllocation", "args": {"resources": BALANCED}},
    ],
    "by-utilization": [
        {
            "name": "NodeResourcesFit",
            "args": {
                "scoringStrategy": {
                    "type": "RequestedToCapacityRatio",
                    "resources": DEVICES,
                    "requestedToCapacityRatio": SHAPE,
                }
            },
        },
        {"name": "NodeAffinity", "args": {"addedAffinity": ADDED}},
    ],
}


def profiles() -> list[JsonObject]:
    """One profile for each set of arguments, without the plugins that berth does not have, scoring all nodes."""
    missing = [{"name": name} for name in sorted(PLUGINS - BUILT_IN.keys())]
    return [
        {
            "schedulerName": name,
            "percentageOfNodesToScore": 100,
            "plugins": {"multiPoint": {"disabled": missing}},
            "pluginConfig": arguments,
        }
        for name, arguments in ARGUMENTS.items()
    ]


def configuration() -> Configuration:
    """The same, as berth reads it."""
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return load(yaml.safe_dump({**head, "profiles": profiles()}), "profiles", BUILT_IN)
