"""Rules of coordination.k8s.io Leases."""

from scheduler.sandbox.errors import Cause, field_invalid
from scheduler.sandbox.fields import JsonObject, ensure_object, integer_at, name_of
from scheduler.sandbox.names import dns_subdomain
from scheduler.sandbox.strategy import Strategy


class LeaseStrategy(Strategy):
    """Leases may be made by an update, and an update must say which version it replaces."""

    create_on_update = True
    unconditional_update = False

    def default(self, obj: JsonObject) -> None:
        ensure_object(obj, "spec")

    def validate(self, obj: JsonObject) -> list[Cause]:
        causes = dns_subdomain("metadata.name", name_of(obj))
        duration = integer_at(obj, "spec", "leaseDurationSeconds")
        if duration is not None and duration <= 0:
            causes.append(field_invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
        transitions = integer_at(obj, "spec", "leaseTransitions")
        if transitions is not None and transitions < 0:
            causes.append(field_invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
        return causes
