"""status.qosClass of a pod (pkg/apis/core/helper/qos)."""

from collections import defaultdict
from decimal import Decimal

from scheduler.matching import quantity
from scheduler.sandbox.fields import JsonObject, string_map_at, value_at
from scheduler.sandbox.pods.defaults import containers

_COUNTED = ("cpu", "memory")


def qos_class(spec: JsonObject) -> str:
    """Guaranteed, Burstable or BestEffort; pod-level resources decide alone where they are given."""
    owners = [spec] if value_at(spec, "resources") is not None else containers(spec)
    requests: dict[str, Decimal] = defaultdict(Decimal)
    limits: dict[str, Decimal] = defaultdict(Decimal)
    guaranteed = True
    for owner in owners:
        _add(requests, owner, "requests")
        guaranteed &= _add(limits, owner, "limits") == set(_COUNTED)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _add(total: dict[str, Decimal], owner: JsonObject, amounts: str) -> set[str]:
    found = {
        name: value
        for name, text in string_map_at(owner, "resources", amounts).items()
        if name in _COUNTED and (value := quantity(text)) > 0
    }
    for name, value in found.items():
        total[name] += value
    return set(found)
