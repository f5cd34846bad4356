"""kube-scheduler as an oracle: how it scored each node for a pod, and what it says of a pod that fits nowhere."""

import re
from collections import defaultdict
from pathlib import Path

from kubernetes.client import CoreV1Api

from scheduler.config.catalog import PLUGINS
from tests.builders import JsonObject
from tests.controlplane.process import wait_until

_SCORED = re.compile(
    r'"Plugin scored node for pod" pod="[^/"]*/(?P<pod>[^"]*)" plugin="(?P<plugin>[^"]*)" node="(?P<node>[^"]*)" '
    r"score=(?P<score>-?\d+)"
)

Scores = dict[tuple[str, str], int]
"""Weighted score by plugin and node."""


def profile(plugins: set[str], args: list[JsonObject]) -> JsonObject:
    """A profile of these plugins only, scoring all nodes."""
    missing = [{"name": name} for name in sorted(PLUGINS - plugins)]
    return {
        "schedulerName": "default-scheduler",
        "percentageOfNodesToScore": 100,
        "plugins": {"multiPoint": {"disabled": missing}},
        "pluginConfig": args,
    }


def decision(core: CoreV1Api, name: str) -> str:
    """The node a pod was bound to, or the message of its PodScheduled condition."""

    def decided() -> str | None:
        pod = core.read_namespaced_pod(name, "default")
        if pod.spec.node_name:
            return str(pod.spec.node_name)
        conditions = pod.status.conditions or []
        return next((str(c.message) for c in conditions if c.type == "PodScheduled" and c.status == "False"), None)

    return wait_until(decided, 30, f"a decision about pod {name}")


def scores(log: Path) -> dict[str, Scores]:
    """By pod, what kube-scheduler wrote down with -v=10. A pod with one feasible node is not scored."""
    found: dict[str, Scores] = defaultdict(dict)
    for match in _SCORED.finditer(log.read_text(errors="replace")):
        found[match["pod"]][match["plugin"], match["node"]] = int(match["score"])
    return found
