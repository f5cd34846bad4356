"""Rules of nodes."""

from scheduler.sandbox.errors import Cause, field_required
from scheduler.sandbox.fields import (
    JsonObject,
    copy_json,
    ensure_object,
    name_of,
    object_at,
    objects_at,
    text_at,
    value_at,
)
from scheduler.sandbox.names import dns_subdomain, qualified_name
from scheduler.sandbox.quantities import canonicalize_resources
from scheduler.sandbox.strategy import Lookup, Strategy, carry_over, keep_only


class NodeStrategy(Strategy):
    """Rules of nodes; their status may be given at creation, as kubelets do."""

    def default(self, obj: JsonObject) -> None:
        ensure_object(obj, "spec")
        ensure_object(obj, "status")
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
            if not text_at(taint, "effect"):
                causes.append(field_required(f"{path}.effect"))
        return causes

    def prepare_update(self, new: JsonObject, old: JsonObject) -> None:
        carry_over(new, old, "status")

    def prepare_status_update(self, new: JsonObject, old: JsonObject) -> None:
        keep_only(new, old, "status")
        self.default(new)


def is_schedulable(node: JsonObject) -> bool:
    """Whether a node is not cordoned."""
    return not object_at(node, "spec").get("unschedulable")
