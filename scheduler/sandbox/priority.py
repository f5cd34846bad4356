"""Rules of scheduling.k8s.io PriorityClasses, and the two that every cluster has."""

from scheduler.sandbox.errors import Cause, field_forbidden, field_invalid, forbidden
from scheduler.sandbox.fields import JsonObject, ensure_object, integer_at, name_of, text_at
from scheduler.sandbox.identity import GroupResource
from scheduler.sandbox.names import dns_subdomain
from scheduler.sandbox.pods.admission import PRIORITY_CLASSES
from scheduler.sandbox.strategy import Lookup, Strategy

_HIGHEST_USER_VALUE = 1_000_000_000
_SYSTEM_VALUES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_DESCRIPTIONS = {
    "system-node-critical": ("Used for system critical pods that must not be moved from their current node."),
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ),
}


class PriorityClassStrategy(Strategy):
    """Rules of priority classes: a value that stays, and one global default at most."""

    def prepare_create(self, obj: JsonObject, lookup: Lookup) -> None:
        obj.setdefault("value", 0)
        ensure_object(obj, "metadata")["generation"] = 1

    def default(self, obj: JsonObject) -> None:
        obj.setdefault("preemptionPolicy", "PreemptLowerPriority")

    def admit(self, obj: JsonObject, lookup: Lookup) -> None:
        if obj.get("globalDefault") is not True:
            return
        for other in lookup.all(PRIORITY_CLASSES):
            if other.get("globalDefault") is True:
                why = f"PriorityClass {name_of(other)} is already marked as default. Only one default can exist"
                raise forbidden(GroupResource("scheduling.k8s.io", "priorityclasses"), name_of(obj), why)

    def validate(self, obj: JsonObject) -> list[Cause]:
        name, value = name_of(obj), integer_at(obj, "value") or 0
        causes = dns_subdomain("metadata.name", name)
        if name.startswith("system-"):
            if _SYSTEM_VALUES.get(name) != value:
                why = (
                    "priority class names with 'system-' prefix are reserved for system use only. "
                    f"error: {name} is not a known system priority class"
                )
                causes.append(field_forbidden("metadata.name", why))
        elif value > _HIGHEST_USER_VALUE:
            why = f"maximum allowed value of a user defined priority is {_HIGHEST_USER_VALUE}"
            causes.append(field_forbidden("value", why))
        return causes

    def validate_update(self, new: JsonObject, old: JsonObject) -> list[Cause]:
        causes = self.validate(new)
        if integer_at(new, "value") != integer_at(old, "value"):
            causes.append(field_forbidden("value", "may not be changed in an update."))
        if (policy := text_at(new, "preemptionPolicy")) != text_at(old, "preemptionPolicy"):
            causes.append(field_invalid("preemptionPolicy", policy, "field is immutable"))
        return causes


def system_classes() -> list[JsonObject]:
    """The priority classes that the API server itself creates."""
    return [
        {"metadata": {"name": name}, "value": value, "description": _DESCRIPTIONS[name]}
        for name, value in _SYSTEM_VALUES.items()
    ]
