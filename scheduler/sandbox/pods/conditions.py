"""Setting a condition in a pod's status as the server itself does."""

from scheduler.sandbox.fields import JsonObject, ensure_object, objects_at, text_at


def default_conditions(pod: JsonObject) -> None:
    """Times that a client left out are written as null."""
    for condition in objects_at(pod, "status", "conditions"):
        condition.setdefault("lastProbeTime", None)
        condition.setdefault("lastTransitionTime", None)


def set_condition(pod: JsonObject, kind: str, status: str, now: str, *, reason: str = "", message: str = "") -> None:
    """Add or replace a condition; lastTransitionTime moves only when its status changes (podutil.UpdatePodCondition)."""
    conditions = objects_at(pod, "status", "conditions")
    condition: JsonObject = {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": now}
    if reason:
        condition["reason"] = reason
    if message:
        condition["message"] = message
    for index, before in enumerate(conditions):
        if text_at(before, "type") == kind:
            if text_at(before, "status") == status:
                condition["lastTransitionTime"] = before.get("lastTransitionTime")
            conditions[index] = condition
            break
    else:
        conditions.append(condition)
    ensure_object(pod, "status")["conditions"] = [*conditions]
