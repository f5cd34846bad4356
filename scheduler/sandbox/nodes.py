"""Rules of nodes."""

from scheduler.sandbox.errors import Cause, field_duplicate, field_required, field_unsupported
from scheduler.sandbox.fields import (
    JsonObject,
    copy_json,
    ensure_object,
    name_of,
    objects_at,
    text_at,
    value_at,
)
from scheduler.sandbox.names import dns_subdomain, qualified_name
from scheduler.sandbox.quantities import canonicalize_resources
from scheduler.sandbox.strategy import Lookup, Strategy, carry_over, keep_only

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_NODE_INFO = (
    "architecture",
    "bootID",
    "containerRuntimeVersion",
    "kernelVersion",
    "kubeProxyVersion",
    "kubeletVersion",
    "machineID",
    "operatingSystem",
    "osImage",
    "systemUUID",
)


class NodeStrategy(Strategy):
    """Rules of nodes; their status may be given at creation, as kubelets do."""

    def default(self, obj: JsonObject) -> None:
        ensure_object(obj, "spec")
        status = ensure_object(obj, "status")
        for field in _NODE_INFO:
            ensure_object(status, "nodeInfo").setdefault(field, "")
        ensure_object(status, "daemonEndpoints", "kubeletEndpoint").setdefault("Port", 0)
        for amounts in ("capacity", "allocatable"):
            canonicalize_resources(obj, "status", amounts, kind="Node")
        if value_at(obj, "status", "allocatable") is None and value_at(obj, "status", "capacity") is not None:
            ensure_object(obj, "status")["allocatable"] = copy_json(value_at(obj, "status", "capacity"))

    def admit(self, obj: JsonObject, lookup: Lookup) -> None:
        """The plugin TaintNodesByCondition is off here, so that nodes made by a test are not born tainted."""

    def prepare_create(self, obj: JsonObject, lookup: Lookup) -> None:
        """Nothing: nodes have no generation."""

    def validate(self, obj: JsonObject) -> list[Cause]:
        causes = dns_subdomain("metadata.name", name_of(obj))
        for index, taint in enumerate(objects_at(obj, "spec", "taints")):
            path = f"metadata.taints[{index}]"
            causes += qualified_name(f"{path}.key", text_at(taint, "key"))
            effect = text_at(taint, "effect")
            if not effect:
                causes.append(field_required(f"{path}.effect"))
            elif effect not in _EFFECTS:
                causes.append(field_unsupported(f"{path}.effect", effect, _EFFECTS))
            seen = [(t.get("key"), t.get("effect")) for t in objects_at(obj, "spec", "taints")[:index]]
            if (taint.get("key"), taint.get("effect")) in seen:
                causes.append(_duplicate_taint(path, taint))
        return causes

    def prepare_update(self, new: JsonObject, old: JsonObject) -> None:
        carry_over(new, old, "status")

    def prepare_status_update(self, new: JsonObject, old: JsonObject) -> None:
        keep_only(new, old, "status")
        self.default(new)
        for condition in objects_at(new, "status", "conditions"):
            for field in ("lastHeartbeatTime", "lastTransitionTime"):
                condition.setdefault(field, None)


def _duplicate_taint(path: str, taint: JsonObject) -> Cause:
    shown = {
        "Key": taint.get("key"),
        "Value": text_at(taint, "value"),
        "Effect": taint.get("effect"),
        "TimeAdded": None,
    }
    cause = field_duplicate(path, shown)
    return Cause(cause.reason, f"{cause.message}: taints must be unique by key and effect pair", path)
