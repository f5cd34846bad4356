"""What admission adds to a new pod: priority, default tolerations, topology labels, and label keys merged into selectors.

The ServiceAccount plugin (token volume, default account) is left out.
"""

from scheduler.sandbox.errors import forbidden
from scheduler.sandbox.fields import (
    Json,
    JsonObject,
    ensure_object,
    integer_at,
    labels_of,
    name_of,
    object_at,
    objects_at,
    strings_at,
    text_at,
)
from scheduler.sandbox.identity import GroupResource
from scheduler.sandbox.strategy import Lookup

PODS = GroupResource("", "pods")
TOPOLOGY_LABELS = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")
PRIORITY_CLASSES = "priorityclasses.scheduling.k8s.io"
NODES = "nodes."
_TOLERATION_SECONDS = 300
_TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def admit_pod(pod: JsonObject, lookup: Lookup) -> None:
    """The mutating plugins that are on by default, in their order."""
    spec = ensure_object(pod, "spec")
    add_default_tolerations(spec)
    _set_priority(pod, spec, lookup)
    if node_name := text_at(spec, "nodeName"):
        labels = topology_labels(node_name, lookup)
        if labels:
            ensure_object(pod, "metadata", "labels").update(labels)


def topology_labels(node_name: str, lookup: Lookup) -> dict[str, str]:
    """Labels of a node that a pod on it gets too (KEP-4742); empty if the node is not there."""
    node = lookup.find(NODES, "", node_name)
    found = {} if node is None else labels_of(node)
    return {name: found[name] for name in TOPOLOGY_LABELS if name in found}


def merge_label_keys(pod: JsonObject) -> None:
    """Write matchLabelKeys and mismatchLabelKeys into the selectors next to them (KEP-3633, KEP-3243)."""
    labels = labels_of(pod)
    spec = object_at(pod, "spec")
    for constraint in objects_at(spec, "topologySpreadConstraints"):
        _merge_keys(constraint, labels, "matchLabelKeys", "In")
    for side in ("podAffinity", "podAntiAffinity"):
        affinity = object_at(spec, "affinity", side)
        preferred = objects_at(affinity, "preferredDuringSchedulingIgnoredDuringExecution")
        terms = [object_at(term, "podAffinityTerm") for term in preferred]
        for term in terms + objects_at(affinity, "requiredDuringSchedulingIgnoredDuringExecution"):
            _merge_keys(term, labels, "matchLabelKeys", "In")
            _merge_keys(term, labels, "mismatchLabelKeys", "NotIn")


def _merge_keys(term: JsonObject, labels: dict[str, str], keys: str, operator: str) -> None:
    if term.get("labelSelector") is None:
        return
    for key in strings_at(term, keys):
        if key in labels:
            requirement: JsonObject = {"key": key, "operator": operator, "values": [labels[key]]}
            selector = ensure_object(term, "labelSelector")
            selector["matchExpressions"] = [*objects_at(selector, "matchExpressions"), requirement]


def add_default_tolerations(spec: JsonObject) -> None:
    """Tolerate lost nodes for five minutes unless the pod says otherwise (DefaultTolerationSeconds); also on updates."""
    tolerations = objects_at(spec, "tolerations")
    missing = [key for key in _TOLERATED if not any(_tolerates_no_execute(t, key) for t in tolerations)]
    added: list[Json] = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATION_SECONDS}
        for key in missing
    ]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _tolerates_no_execute(toleration: JsonObject, key: str) -> bool:
    return text_at(toleration, "key") in ("", key) and text_at(toleration, "effect") in ("", "NoExecute")


def _set_priority(pod: JsonObject, spec: JsonObject, lookup: Lookup) -> None:
    priority_class = _priority_class(pod, spec, lookup)
    value = 0 if priority_class is None else integer_at(priority_class, "value") or 0
    policy = "PreemptLowerPriority" if priority_class is None else text_at(priority_class, "preemptionPolicy")
    given = integer_at(spec, "priority")
    if given is not None and given != value:
        raise forbidden(
            PODS,
            name_of(pod),
            f"the integer value of priority ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {value} from the given PriorityClass name",
        )
    given_policy = text_at(spec, "preemptionPolicy")
    if given_policy and given_policy != policy:
        raise forbidden(
            PODS,
            name_of(pod),
            f"the string value of PreemptionPolicy ({given_policy}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name",
        )
    if priority_class is not None:
        spec["priorityClassName"] = name_of(priority_class)
    spec["priority"] = value
    spec["preemptionPolicy"] = policy


def _priority_class(pod: JsonObject, spec: JsonObject, lookup: Lookup) -> JsonObject | None:
    """The class a pod names, or else the global default with the lowest value, if there is one."""
    name = text_at(spec, "priorityClassName")
    if name:
        found = lookup.find(PRIORITY_CLASSES, "", name)
        if found is None:
            raise forbidden(PODS, name_of(pod), f"no PriorityClass with name {name} was found")
        return found
    defaults = [c for c in lookup.all(PRIORITY_CLASSES) if c.get("globalDefault") is True]
    return min(defaults, key=lambda c: integer_at(c, "value") or 0) if defaults else None
