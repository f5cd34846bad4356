"""What makes a pod invalid, as far as tests of a scheduler run into it (pkg/apis/core/validation).

Volumes, probes, security contexts, affinity terms and ports are taken as they come.
"""

from scheduler.matching import quantity
from scheduler.sandbox.errors import (
    Cause,
    field_duplicate,
    field_forbidden,
    field_invalid,
    field_required,
    field_unsupported,
)
from scheduler.sandbox.fields import JsonObject, objects_at, string_map_at, text_at
from scheduler.sandbox.names import dns_label, dns_subdomain, qualified_name, validate_labels

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_TOLERATION_OPERATORS = ("Equal", "Exists")
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")


def validate_pod(pod: JsonObject) -> list[Cause]:
    """What is wrong with a pod's name and spec."""
    spec = pod["spec"] if isinstance(pod.get("spec"), dict) else {}
    if not isinstance(spec, dict):
        return [field_required("spec")]
    causes = dns_subdomain("metadata.name", text_at(pod, "metadata", "name"))
    causes += _validate_containers(spec)
    causes += _validate_restart_policy(spec)
    causes += validate_labels("spec.nodeSelector", string_map_at(spec, "nodeSelector"))
    causes += validate_tolerations(spec)
    causes += _validate_spread(spec)
    causes += _validate_gates(spec)
    if node_name := text_at(spec, "nodeName"):
        causes += dns_subdomain("spec.nodeName", node_name)
    return causes


def validate_new_pod(pod: JsonObject) -> list[Cause]:
    """What is wrong with a pod at its creation."""
    causes = validate_pod(pod)
    spec = pod.get("spec")
    if not isinstance(spec, dict):
        return causes
    if objects_at(spec, "ephemeralContainers"):
        causes.append(field_forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if text_at(spec, "nodeName") and objects_at(spec, "schedulingGates"):
        causes.append(field_forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    return causes


def validate_tolerations(spec: JsonObject) -> list[Cause]:
    """Keys, operators and effects of spec.tolerations."""
    causes: list[Cause] = []
    for index, toleration in enumerate(objects_at(spec, "tolerations")):
        path = f"spec.tolerations[{index}]"
        key, operator = text_at(toleration, "key"), text_at(toleration, "operator")
        value, effect = text_at(toleration, "value"), text_at(toleration, "effect")
        if key:
            causes += qualified_name(f"{path}.key", key)
        if not key and operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            causes.append(field_invalid(f"{path}.operator", operator, why))
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            causes.append(field_invalid(f"{path}.effect", effect, why))
        if operator == "Exists" and value:
            why = "value must be empty when `operator` is 'Exists'"
            causes.append(field_invalid(f"{path}.operator", {**toleration}, why))
        if operator not in ("", *_TOLERATION_OPERATORS):
            causes.append(field_unsupported(f"{path}.operator", operator, _TOLERATION_OPERATORS))
        if effect and effect not in _EFFECTS:
            causes.append(field_unsupported(f"{path}.effect", effect, _EFFECTS))
    return causes


def _validate_containers(spec: JsonObject) -> list[Cause]:
    if not objects_at(spec, "containers"):
        return [field_required("spec.containers")]
    causes: list[Cause] = []
    names: set[str] = set()
    for field in ("initContainers", "containers"):
        for index, container in enumerate(objects_at(spec, field)):
            path = f"spec.{field}[{index}]"
            causes += _validate_container(path, container, names)
    return causes


def _validate_container(path: str, container: JsonObject, names: set[str]) -> list[Cause]:
    name = text_at(container, "name")
    causes: list[Cause] = []
    if not name:
        causes.append(field_required(f"{path}.name"))
    elif name in names:
        causes.append(field_duplicate(f"{path}.name", name))
    else:
        causes += dns_label(f"{path}.name", name)
    names.add(name)
    if not text_at(container, "image"):
        causes.append(field_required(f"{path}.image"))
    return causes + _validate_resources(f"{path}.resources", container)


def _validate_resources(path: str, container: JsonObject) -> list[Cause]:
    requests = string_map_at(container, "resources", "requests")
    limits = string_map_at(container, "resources", "limits")
    causes: list[Cause] = []
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            if quantity(amount) < 0:
                causes.append(field_invalid(f"{path}.{field}[{name}]", amount, "must be greater than or equal to 0"))
    for name, amount in requests.items():
        if name in limits:
            if quantity(amount) > quantity(limits[name]):
                why = f"must be less than or equal to {name} limit of {limits[name]}"
                causes.append(field_invalid(f"{path}.requests", amount, why))
            elif _is_extended(name) and quantity(amount) != quantity(limits[name]):
                causes.append(
                    field_invalid(f"{path}.requests", amount, f"must be equal to {name} limit of {limits[name]}")
                )
        elif _is_extended(name):
            causes.append(field_required(f"{path}.limits", "Limit must be set for non overcommitable resources"))
    return causes


def _is_extended(name: str) -> bool:
    """Whether a resource has a domain other than kubernetes.io: its limit is its request."""
    return "/" in name and "kubernetes.io/" not in name


def _validate_restart_policy(spec: JsonObject) -> list[Cause]:
    policy = text_at(spec, "restartPolicy")
    return [] if policy in _RESTART_POLICIES else [field_unsupported("spec.restartPolicy", policy, _RESTART_POLICIES)]


def _validate_spread(spec: JsonObject) -> list[Cause]:
    causes: list[Cause] = []
    for index, constraint in enumerate(objects_at(spec, "topologySpreadConstraints")):
        path = f"spec.topologySpreadConstraints[{index}]"
        skew = constraint.get("maxSkew")
        if not isinstance(skew, int) or skew <= 0:
            causes.append(field_invalid(f"{path}.maxSkew", skew or 0, "must be greater than zero"))
        if not text_at(constraint, "topologyKey"):
            causes.append(field_required(f"{path}.topologyKey", "can not be empty"))
        action = text_at(constraint, "whenUnsatisfiable")
        if action not in _UNSATISFIABLE:
            causes.append(field_unsupported(f"{path}.whenUnsatisfiable", action, _UNSATISFIABLE))
    return causes


def _validate_gates(spec: JsonObject) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for index, gate in enumerate(objects_at(spec, "schedulingGates")):
        name = text_at(gate, "name")
        causes += qualified_name(f"spec.schedulingGates[{index}]", name)
        if name in seen:
            causes.append(field_duplicate(f"spec.schedulingGates[{index}]", name))
        seen.add(name)
    return causes
