"""What an update may change in a pod (ValidatePodUpdate, ValidatePodStatusUpdate, ValidatePodResize in 1.36)."""

from collections.abc import Mapping

from scheduler.sandbox.errors import Cause, field_forbidden, field_invalid, field_required
from scheduler.sandbox.fields import (
    JsonObject,
    copy_object,
    ensure_object,
    integer_at,
    object_at,
    objects_at,
    string_map_at,
    text_at,
    value_at,
)
from scheduler.sandbox.names import dns_subdomain
from scheduler.sandbox.pods.qos import qos_class
from scheduler.sandbox.pods.validation import validate_pod
from scheduler.sandbox.strategy import carry_over

_MUTABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
_CONTAINER_FIELDS = ("initContainers", "containers")
_RESIZABLE = ("cpu", "memory")


def validate_pod_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """What is wrong with an update of a pod's spec."""
    causes = validate_pod(new)
    new_spec, old_spec = object_at(new, "spec"), object_at(old, "spec")
    for field in _CONTAINER_FIELDS:
        if len(objects_at(new_spec, field)) != len(objects_at(old_spec, field)):
            return [*causes, field_forbidden(f"spec.{field}", "pod updates may not add or remove containers")]
        for index, container in enumerate(objects_at(new_spec, field)):
            if not text_at(container, "image"):
                causes.append(field_required(f"spec.{field}[{index}].image"))
    causes += _validate_deadline(new_spec, old_spec)
    causes += _validate_added_tolerations(new_spec, old_spec)
    causes += _validate_removed_gates(new_spec, old_spec)
    compared = _without_mutable(new_spec, old_spec)
    if objects_at(old_spec, "schedulingGates"):
        causes += _validate_gated(compared, old_spec)
    if compared != old_spec:
        causes.append(field_forbidden("spec", f"pod updates may not change fields other than {','.join(_MUTABLE)}"))
    return causes


def validate_pod_status_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """What is wrong with an update of a pod's status."""
    path = "status.nominatedNodeName"
    nominated, before = text_at(new, "status", "nominatedNodeName"), text_at(old, "status", "nominatedNodeName")
    causes: list[Cause] = []
    if nominated and nominated != before:
        causes += dns_subdomain(path, nominated)
        if text_at(old, "spec", "nodeName"):
            causes.append(field_forbidden(path, "may not be set on pods that are already bound to a node"))
    if text_at(new, "status", "qosClass") != text_at(old, "status", "qosClass"):
        causes.append(field_invalid("status.qosClass", text_at(new, "status", "qosClass"), "field is immutable"))
    return causes


def prepare_resize(new: JsonObject, old: JsonObject) -> None:
    """Keep nothing of an update through pods/resize but the resources and resize policies of containers."""
    spec = copy_object(object_at(old, "spec"))
    for field in _CONTAINER_FIELDS:
        changed = {text_at(c, "name"): c for c in objects_at(object_at(new, "spec"), field)}
        for container in objects_at(spec, field):
            wanted = changed.get(text_at(container, "name"))
            if wanted is not None:
                carry_over(container, wanted, "resources")
                carry_over(container, wanted, "resizePolicy")
    if (resources := value_at(new, "spec", "resources")) is not None:
        spec["resources"] = resources
    new["spec"] = spec
    carry_over(new, old, "status")


def validate_resize(new: JsonObject, old: JsonObject) -> list[Cause]:
    """What is wrong with a change of resources through pods/resize."""
    causes = validate_pod(new)
    if qos_class(object_at(new, "spec")) != text_at(old, "status", "qosClass"):
        why = "Pod QOS Class may not change as a result of resizing"
        causes.append(field_invalid("spec", text_at(new, "status", "qosClass"), why))
    for field in _CONTAINER_FIELDS:
        pairs = zip(objects_at(object_at(new, "spec"), field), objects_at(object_at(old, "spec"), field), strict=True)
        for index, (container, before) in enumerate(pairs):
            causes += _validate_container_resize(f"spec.{field}[{index}].resources", container, before)
    return causes


def _validate_container_resize(path: str, new: JsonObject, old: JsonObject) -> list[Cause]:
    causes: list[Cause] = []
    for amounts in ("limits", "requests"):
        after, before = string_map_at(new, "resources", amounts), string_map_at(old, "resources", amounts)
        if before and not set(before) <= set(after):
            causes.append(field_forbidden(f"{path}.{amounts}", f"resource {amounts} cannot be removed"))
        if _others(after) != _others(before):
            causes.append(field_forbidden("spec", "only cpu and memory resources are mutable"))
    return causes


def _others(amounts: Mapping[str, str]) -> dict[str, str]:
    return {name: amount for name, amount in amounts.items() if name not in _RESIZABLE}


def _validate_deadline(new_spec: JsonObject, old_spec: JsonObject) -> list[Cause]:
    path = "spec.activeDeadlineSeconds"
    new, old = integer_at(new_spec, "activeDeadlineSeconds"), integer_at(old_spec, "activeDeadlineSeconds")
    if new is None:
        why = "must not update from a positive integer to nil value"
        return [] if old is None else [field_invalid(path, None, why)]
    if old is not None and new > old:
        return [field_invalid(path, new, "must be less than or equal to previous value")]
    return []


def _validate_added_tolerations(new_spec: JsonObject, old_spec: JsonObject) -> list[Cause]:
    kept = [_without_seconds(t) for t in objects_at(new_spec, "tolerations")]
    if all(_without_seconds(toleration) in kept for toleration in objects_at(old_spec, "tolerations")):
        return []
    why = "existing toleration can not be modified except its tolerationSeconds"
    return [field_forbidden("spec.tolerations", why)]


def _without_seconds(toleration: JsonObject) -> JsonObject:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _validate_removed_gates(new_spec: JsonObject, old_spec: JsonObject) -> list[Cause]:
    old = {text_at(gate, "name") for gate in objects_at(old_spec, "schedulingGates")}
    return [
        field_forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{text_at(gate, 'name')}'",
        )
        for index, gate in enumerate(objects_at(new_spec, "schedulingGates"))
        if text_at(gate, "name") not in old
    ]


def _without_mutable(new_spec: JsonObject, old_spec: JsonObject) -> JsonObject:
    """The new spec with everything that may change set back to what it was."""
    spec = copy_object(new_spec)
    for field in _CONTAINER_FIELDS:
        for container, before in zip(objects_at(spec, field), objects_at(old_spec, field), strict=True):
            container["image"] = before.get("image")
    for field in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        carry_over(spec, old_spec, field)
    old_grace = integer_at(old_spec, "terminationGracePeriodSeconds")
    if old_grace is not None and old_grace < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        spec["terminationGracePeriodSeconds"] = old_grace
    return spec


def _validate_gated(spec: JsonObject, old_spec: JsonObject) -> list[Cause]:
    """A gated pod's node selector and node affinity may be narrowed; sets both back in `spec`."""
    causes: list[Cause] = []
    new_labels, old_labels = string_map_at(spec, "nodeSelector"), string_map_at(old_spec, "nodeSelector")
    if any(new_labels.get(key) != value for key, value in old_labels.items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        causes.append(field_invalid("spec.nodeSelector", new_labels, why))
    carry_over(spec, old_spec, "nodeSelector")
    new_affinity = object_at(spec, "affinity", "nodeAffinity")
    old_affinity = object_at(old_spec, "affinity", "nodeAffinity")
    if new_affinity != old_affinity:
        causes += _validate_narrowed_affinity(new_affinity, old_affinity)
        if "affinity" in old_spec:
            carry_over(ensure_object(spec, "affinity"), object_at(old_spec, "affinity"), "nodeAffinity")
        elif set(object_at(spec, "affinity")) <= {"nodeAffinity"}:
            spec.pop("affinity", None)
    return causes


def _validate_narrowed_affinity(new: JsonObject, old: JsonObject) -> list[Cause]:
    """Required terms keep their number and may only gain requirements; preferred ones are free."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    path = f"spec.affinity.nodeAffinity.{required}"
    old_terms, new_terms = (
        objects_at(old, required, "nodeSelectorTerms"),
        objects_at(new, required, "nodeSelectorTerms"),
    )
    if not old_terms:
        return []
    if len(old_terms) != len(new_terms):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [field_invalid(f"{path}.nodeSelectorTerms", None, why)]
    causes: list[Cause] = []
    for index, (before, after) in enumerate(zip(old_terms, new_terms, strict=True)):
        for part in ("matchExpressions", "matchFields"):
            kept = objects_at(after, part)[: len(objects_at(before, part))]
            if kept != objects_at(before, part):
                why = "only additions are allowed (no mutations or deletions)"
                causes.append(field_invalid(f"{path}.nodeSelectorTerms[{index}]", None, why))
    return causes
