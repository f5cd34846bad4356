"""The pod's rules, in the order in which the server applies them (pkg/registry/core/pod/strategy.go)."""

from scheduler.sandbox.errors import Cause
from scheduler.sandbox.fields import (
    JsonObject,
    ensure_object,
    integer_at,
    object_at,
    objects_at,
    text_at,
    value_at,
)
from scheduler.sandbox.identity import timestamp
from scheduler.sandbox.pods.admission import add_default_tolerations, admit_pod, merge_label_keys
from scheduler.sandbox.pods.conditions import default_conditions, set_condition
from scheduler.sandbox.pods.defaults import default_pod
from scheduler.sandbox.pods.qos import qos_class
from scheduler.sandbox.pods.updates import (
    prepare_resize,
    validate_pod_status_update,
    validate_pod_update,
    validate_resize,
)
from scheduler.sandbox.pods.validation import validate_new_pod
from scheduler.sandbox.strategy import Lookup, Strategy, bump_generation, carry_over, keep_only

_GATED = "Scheduling is blocked due to non-empty scheduling gates"
_FINISHED = ("Succeeded", "Failed")


class PodStrategy(Strategy):
    """Rules of pods and their status."""

    graceful = True
    returns_deleted = True

    def default(self, obj: JsonObject) -> None:
        default_pod(obj)
        default_conditions(obj)

    def admit(self, obj: JsonObject, lookup: Lookup) -> None:
        admit_pod(obj, lookup)

    def prepare_create(self, obj: JsonObject, lookup: Lookup) -> None:
        ensure_object(obj, "metadata")["generation"] = 1
        spec = object_at(obj, "spec")
        obj["status"] = {"phase": "Pending", "qosClass": qos_class(spec)}
        if objects_at(spec, "schedulingGates"):
            set_condition(
                obj, "PodScheduled", "False", timestamp(lookup.now()), reason="SchedulingGated", message=_GATED
            )
        merge_label_keys(obj)

    def validate(self, obj: JsonObject) -> list[Cause]:
        return validate_new_pod(obj)

    def prepare_update(self, new: JsonObject, old: JsonObject) -> None:
        carry_over(new, old, "status")
        spec, old_spec = object_at(new, "spec"), object_at(old, "spec")
        for field in ("priority", "preemptionPolicy"):  # set by admission, so a client may leave them out
            if spec.get(field) is None:
                carry_over(spec, old_spec, field)
        add_default_tolerations(spec)
        if spec != old_spec:
            bump_generation(new)

    def validate_update(self, new: JsonObject, old: JsonObject) -> list[Cause]:
        return validate_pod_update(new, old)

    def prepare_status_update(self, new: JsonObject, old: JsonObject) -> None:
        keep_only(new, old, "status")
        carry_over(ensure_object(new, "metadata"), object_at(old, "metadata"), "ownerReferences")
        if not text_at(new, "status", "qosClass"):
            ensure_object(new, "status")["qosClass"] = text_at(old, "status", "qosClass")
        default_conditions(new)
        _keep_observed_generations(new, old)

    def validate_status_update(self, new: JsonObject, old: JsonObject) -> list[Cause]:
        return validate_pod_status_update(new, old)

    def grace_seconds(self, obj: JsonObject, requested: int | None) -> int:
        period = integer_at(obj, "spec", "terminationGracePeriodSeconds") if requested is None else requested
        if not text_at(obj, "spec", "nodeName") or text_at(obj, "status", "phase") in _FINISHED:
            return 0
        return 1 if (period or 0) < 0 else period or 0


class ResizeStrategy(PodStrategy):
    """Rules of pods/resize."""

    def prepare_update(self, new: JsonObject, old: JsonObject) -> None:
        prepare_resize(new, old)
        if new.get("spec") != old.get("spec"):
            bump_generation(new)

    def validate_update(self, new: JsonObject, old: JsonObject) -> list[Cause]:
        return validate_resize(new, old)


def _keep_observed_generations(new: JsonObject, old: JsonObject) -> None:
    """observedGeneration of a status and of its conditions cannot be cleared, only moved."""
    if not value_at(new, "status", "observedGeneration") and value_at(old, "status", "observedGeneration"):
        ensure_object(new, "status")["observedGeneration"] = value_at(old, "status", "observedGeneration")
    before = {text_at(c, "type"): c for c in reversed(objects_at(old, "status", "conditions"))}
    for condition in objects_at(new, "status", "conditions"):
        generation = before.get(text_at(condition, "type"), {}).get("observedGeneration")
        if not condition.get("observedGeneration") and generation:
            condition["observedGeneration"] = generation
