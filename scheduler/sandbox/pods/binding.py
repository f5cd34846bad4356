"""POST pods/binding: the only way a pod gets a node (pkg/registry/core/pod/storage/storage.go, BindingREST).

There is no check of capacity, ports or affinity, nor that the node exists.
"""

from scheduler.sandbox.errors import Cause, bad_request, conflict, field_required, field_unsupported, internal
from scheduler.sandbox.fields import (
    JsonObject,
    copy_object,
    ensure_object,
    is_deleting,
    name_of,
    namespace_of,
    objects_at,
    string_map_at,
    text_at,
    uid_of,
    value_at,
    version_of,
)
from scheduler.sandbox.identity import GroupResource, Key, timestamp
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.pods.admission import PODS, topology_labels
from scheduler.sandbox.pods.conditions import set_condition
from scheduler.sandbox.registry import Registry, precondition_failed

_BINDINGS = GroupResource("", "pods/binding")


def bind(registry: Registry, pods: Resource, namespace: str, name: str, binding: JsonObject, *, dry_run: bool) -> None:
    """Give a pod its node. Raises ApiError 400, 404, 409, or 500 for a target that is missing or is not a Node.

    The Binding's UID and resourceVersion are preconditions; its annotations and labels are merged into the pod's.
    """
    if (given := name_of(binding)) != name:
        raise bad_request("name in URL does not match name in Binding object")
    if causes := _validate(binding):
        text = [str(cause) for cause in causes]
        raise internal(text[0] if len(text) == 1 else f"[{', '.join(text)}]")
    node_name = text_at(binding, "target", "name")
    labels = string_map_at(binding, "metadata", "labels")
    if text_at(binding, "target", "kind") == "Node":
        labels |= topology_labels(node_name, registry)
    old = registry.stored(pods, namespace, name)
    _check_preconditions(pods, binding, old)
    if why := _refusal(old, given):
        raise conflict(_BINDINGS, name, why)
    if not dry_run:
        pod = _bound(old, node_name, string_map_at(binding, "metadata", "annotations"), labels)
        set_condition(pod, "PodScheduled", "True", timestamp(registry.now()))
        registry.store.write(pods.storage, Key(namespace, name), pod)


def _validate(binding: JsonObject) -> list[Cause]:
    kind = text_at(binding, "target", "kind")
    causes = [field_unsupported("target.kind", kind, ["Node", "<empty>"])] if kind not in ("", "Node") else []
    return causes if text_at(binding, "target", "name") else [*causes, field_required("target.name")]


def _check_preconditions(pods: Resource, binding: JsonObject, pod: JsonObject) -> None:
    for what, wanted, found in (
        ("UID", uid_of(binding), uid_of(pod)),
        ("ResourceVersion", version_of(binding), version_of(pod)),
    ):
        if wanted and wanted != found:
            why = precondition_failed(pods, Key(namespace_of(pod), name_of(pod)), what, wanted, found)
            raise conflict(PODS, name_of(pod), why)


def _refusal(pod: JsonObject, name: str) -> str:
    if is_deleting(pod):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if node_name := text_at(pod, "spec", "nodeName"):
        return f'pod {name} is already assigned to node "{node_name}"'
    if objects_at(pod, "spec", "schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""


def _bound(old: JsonObject, node_name: str, annotations: dict[str, str], labels: dict[str, str]) -> JsonObject:
    pod = copy_object(old)
    ensure_object(pod, "spec")["nodeName"] = node_name
    status = ensure_object(pod, "status")
    status.pop("nominatedNodeName", None)
    for field, added in (("annotations", annotations), ("labels", labels)):
        if added or value_at(pod, "metadata", field) is not None:
            ensure_object(pod, "metadata", field).update(added)
    return pod
