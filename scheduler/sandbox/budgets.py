"""Rules of policy/v1 PodDisruptionBudgets. Their status is the work of a controller, which the sandbox does not have."""

from scheduler.sandbox.fields import JsonObject, ensure_object
from scheduler.sandbox.strategy import Lookup, SpecAndStatus

_COUNTS = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")


class BudgetStrategy(SpecAndStatus):
    """A spec, a generation, and a status whose counts are always written."""

    def prepare_create(self, obj: JsonObject, lookup: Lookup) -> None:
        super().prepare_create(obj, lookup)
        obj["status"] = {}
        self.default(obj)

    def default(self, obj: JsonObject) -> None:
        for count in _COUNTS:
            ensure_object(obj, "status").setdefault(count, 0)
