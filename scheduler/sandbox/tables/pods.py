"""The row of a pod: readiness, status and restarts, as printPod has them."""

from datetime import datetime

from scheduler.sandbox.fields import (
    Json,
    JsonObject,
    integer_at,
    is_deleting,
    name_of,
    object_at,
    objects_at,
    text_at,
    value_at,
)
from scheduler.sandbox.kinds import Column
from scheduler.sandbox.tables.ages import age

COLUMNS = (
    Column("Name", format="name"),
    Column("Ready"),
    Column("Status"),
    Column("Restarts"),
    Column("Age"),
    Column("IP", priority=1),
    Column("Node", priority=1),
    Column("Nominated Node", priority=1),
    Column("Readiness Gates", priority=1),
)
_NONE = "<none>"
_FINISHED = ("Succeeded", "Failed")


def row(pod: JsonObject, now: datetime) -> list[Json]:
    """The cells of a pod."""
    addresses = objects_at(pod, "status", "podIPs")
    statuses = objects_at(pod, "status", "containerStatuses")
    running = [s for s in statuses if s.get("ready") is True and object_at(s, "state").get("running") is not None]
    total = len(objects_at(pod, "spec", "containers")) + len(_sidecars(pod))
    return [
        name_of(pod),
        f"{len(running) + _ready_sidecars(pod)}/{total}",
        _status(pod, statuses, running),
        str(sum(integer_at(status, "restartCount") or 0 for status in statuses)),
        age(value_at(pod, "metadata", "creationTimestamp"), now),
        (text_at(addresses[0], "ip") if addresses else "") or _NONE,
        text_at(pod, "spec", "nodeName") or _NONE,
        text_at(pod, "status", "nominatedNodeName") or _NONE,
        _readiness_gates(pod),
    ]


def _status(pod: JsonObject, statuses: list[JsonObject], running: list[JsonObject]) -> str:
    phase = text_at(pod, "status", "phase")
    reason = text_at(pod, "status", "reason") or phase
    for condition in objects_at(pod, "status", "conditions"):
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    initializing = _initializing(pod)
    reason = initializing or _container_reason(statuses, running, reason)
    if is_deleting(pod) and text_at(pod, "status", "reason") == "NodeLost":
        return "Unknown"
    if is_deleting(pod) and phase not in _FINISHED:
        return "Terminating"
    return reason


def _container_reason(statuses: list[JsonObject], running: list[JsonObject], reason: str) -> str:
    """The first container's trouble wins; `Completed` gives way to those that run on or failed."""
    failed = ""
    for status in reversed(statuses):
        terminated = object_at(status, "state", "terminated")
        if waiting := text_at(status, "state", "waiting", "reason"):
            reason = waiting
        elif terminated:
            reason = text_at(terminated, "reason") or f"ExitCode:{integer_at(terminated, 'exitCode') or 0}"
            failed = reason if integer_at(terminated, "exitCode") else failed
    if reason == "Completed" and running:
        return failed or "Running"
    return failed if reason == "Completed" and failed else reason


def _initializing(pod: JsonObject) -> str:
    """What an init container that has not ended well shows; empty when all have."""
    sidecars = _sidecars(pod)
    total = len(objects_at(pod, "spec", "initContainers"))
    for index, status in enumerate(objects_at(pod, "status", "initContainerStatuses")):
        terminated = object_at(status, "state", "terminated")
        waiting = text_at(status, "state", "waiting", "reason")
        if terminated and not integer_at(terminated, "exitCode"):
            continue
        if text_at(status, "name") in sidecars and status.get("started") is True:
            continue
        if terminated:
            return "Init:" + (text_at(terminated, "reason") or f"ExitCode:{integer_at(terminated, 'exitCode')}")
        return f"Init:{waiting}" if waiting not in ("", "PodInitializing") else f"Init:{index}/{total}"
    return ""


def _sidecars(pod: JsonObject) -> set[str]:
    return {text_at(c, "name") for c in objects_at(pod, "spec", "initContainers") if c.get("restartPolicy") == "Always"}


def _ready_sidecars(pod: JsonObject) -> int:
    sidecars = _sidecars(pod)
    statuses = objects_at(pod, "status", "initContainerStatuses")
    return sum(text_at(s, "name") in sidecars and s.get("started") is True and s.get("ready") is True for s in statuses)


def _readiness_gates(pod: JsonObject) -> str:
    gates = [text_at(gate, "conditionType") for gate in objects_at(pod, "spec", "readinessGates")]
    if not gates:
        return _NONE
    true = {text_at(c, "type") for c in objects_at(pod, "status", "conditions") if c.get("status") == "True"}
    return f"{sum(gate in true for gate in gates)}/{len(gates)}"
