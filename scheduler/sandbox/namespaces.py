"""Namespaces: what may be created in them, and how they end.

The API server only marks a namespace as Terminating; emptying it is a controller's work (`empty_terminating`), as in a cluster.
"""

from scheduler.sandbox.errors import Cause, forbidden, not_found
from scheduler.sandbox.fields import JsonObject, ensure_object, is_deleting, name_of, text_at, value_at
from scheduler.sandbox.identity import GroupResource
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.names import dns_label
from scheduler.sandbox.strategy import Lookup, Strategy, carry_over

NAMESPACES = GroupResource("", "namespaces")
NAMESPACE_STORAGE = "namespaces."
IMMORTAL = ("default", "kube-system", "kube-public")
BUILT_IN = (*IMMORTAL, "kube-node-lease")


class NamespaceStrategy(Strategy):
    """Rules of namespaces."""

    graceful = True
    writes_grace = False
    returns_deleted = True

    def default(self, obj: JsonObject) -> None:
        if name := name_of(obj):
            ensure_object(obj, "metadata", "labels")["kubernetes.io/metadata.name"] = name

    def prepare_create(self, obj: JsonObject, lookup: Lookup) -> None:
        obj["status"] = {"phase": "Active"}
        ensure_object(obj, "spec")["finalizers"] = ["kubernetes"]

    def validate(self, obj: JsonObject) -> list[Cause]:
        return dns_label("metadata.name", name_of(obj))

    def prepare_update(self, new: JsonObject, old: JsonObject) -> None:
        carry_over(new, old, "status")
        carry_over(new, old, "spec")

    def grace_seconds(self, obj: JsonObject, requested: int | None) -> int:
        ensure_object(obj, "status")["phase"] = "Terminating"
        return 0


def check_namespace_open(resource: Resource, namespace: str, name: str, lookup: Lookup) -> None:
    """Refuse to create in a namespace that is missing (404) or terminating (403)."""
    found = lookup.find(NAMESPACE_STORAGE, "", namespace)
    if found is None:
        raise not_found(NAMESPACES, namespace)
    if is_deleting(found) or text_at(found, "status", "phase") == "Terminating":
        cause = Cause("NamespaceTerminating", f"namespace {namespace} is being terminated", "metadata.namespace")
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        raise forbidden(resource.group_resource, name, why, [cause])


def check_deletable(name: str) -> None:
    """Refuse to delete a namespace that the cluster cannot be without."""
    if name in IMMORTAL:
        raise forbidden(NAMESPACES, name, "this namespace may not be deleted")


def finalized(namespace: JsonObject) -> JsonObject:
    """The namespace without its own finalizer, as its controller leaves it when it is empty."""
    spec = {field: value for field, value in ensure_object(namespace, "spec").items() if field != "finalizers"}
    return {**namespace, "spec": spec}


def terminating(lookup: Lookup) -> list[str]:
    """Names of the namespaces that wait for being emptied."""
    return [
        name_of(n) for n in lookup.all(NAMESPACE_STORAGE) if value_at(n, "metadata", "deletionTimestamp") is not None
    ]
