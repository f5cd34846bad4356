"""What happens to metadata on a write: what the server sets, what a client cannot change, what is invalid.

Follows apiserver's rest.BeforeCreate and rest.BeforeUpdate and apimachinery's ValidateObjectMeta. managedFields are not kept.
"""

from scheduler.sandbox.errors import (
    Cause,
    bad_request,
    field_forbidden,
    field_invalid,
    field_too_long,
)
from scheduler.sandbox.fields import (
    JsonObject,
    ensure_object,
    is_deleting,
    labels_of,
    name_of,
    namespace_of,
    object_at,
    objects_at,
    string_map_at,
    strings_at,
    text_at,
)
from scheduler.sandbox.identity import Identities
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.names import path_segment, qualified_name, validate_labels
from scheduler.sandbox.strategy import carry_over

_SYSTEM_FIELDS = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
_ANNOTATIONS_LIMIT = 256 * 1024
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_STATUS_KEEPS = ("labels", "annotations", "finalizers", "ownerReferences", "generateName")


def check_type(obj: JsonObject, resource: Resource) -> None:
    """The body's kind and apiVersion, if given, are those of the resource. Raises ApiError 400."""
    kind, version = text_at(obj, "kind"), text_at(obj, "apiVersion")
    if version and version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version ({resource.api_version})"
        )
    if kind and kind != resource.kind:
        raise bad_request(f'the object provided is unrecognized (must be of type {resource.kind}): kind "{kind}"')


def check_name(obj: JsonObject, name: str) -> None:
    """The object's name is the request's. Raises ApiError 400."""
    if (given := name_of(obj)) != name:
        raise bad_request(f"the name of the object ({given}) does not match the name on the URL ({name})")


def check_namespace(obj: JsonObject, resource: Resource, namespace: str) -> None:
    """The object's namespace agrees with the request's, and is set. Raises ApiError 400."""
    given = namespace_of(obj)
    if not resource.namespaced:
        ensure_object(obj, "metadata").pop("namespace", None)
        return
    if given and given != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    ensure_object(obj, "metadata")["namespace"] = namespace


def set_system_fields(obj: JsonObject, resource: Resource, identities: Identities, now: str) -> None:
    """Type, UID, creation time and, from generateName, a name; drops what a client may not set on creation."""
    obj["kind"], obj["apiVersion"] = resource.kind, resource.stored_version
    metadata = ensure_object(obj, "metadata")
    for field in (*_SYSTEM_FIELDS, "managedFields", "resourceVersion"):
        metadata.pop(field, None)
    metadata["uid"] = identities.uid()
    metadata["creationTimestamp"] = now
    if not text_at(metadata, "name") and (prefix := text_at(metadata, "generateName")):
        metadata["name"] = identities.name(prefix)


def carry_over_system_fields(new: JsonObject, old: JsonObject, resource: Resource) -> None:
    """What an update cannot change keeps its value, whatever the client sent."""
    new["kind"], new["apiVersion"] = resource.kind, resource.stored_version
    metadata, before = ensure_object(new, "metadata"), object_at(old, "metadata")
    metadata.pop("managedFields", None)
    for field in (*_SYSTEM_FIELDS, "generation", "name", "namespace"):
        carry_over(metadata, before, field)


def keep_metadata_of(new: JsonObject, old: JsonObject) -> None:
    """Undo changes of metadata, for the status of kinds that do not allow them there (ResetObjectMetaForStatus)."""
    for field in _STATUS_KEEPS:
        carry_over(ensure_object(new, "metadata"), object_at(old, "metadata"), field)


def validate_metadata(obj: JsonObject, resource: Resource) -> list[Cause]:
    """What is wrong with the metadata of any object."""
    metadata = object_at(obj, "metadata")
    causes = path_segment("metadata.name", name_of(obj))
    causes += validate_labels("metadata.labels", labels_of(obj))
    annotations = string_map_at(metadata, "annotations")
    for key in annotations:
        causes += qualified_name("metadata.annotations", key.lower())
    if sum(len(key) + len(value) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
        causes.append(field_too_long("metadata.annotations", _ANNOTATIONS_LIMIT))
    for owner in objects_at(metadata, "ownerReferences"):
        causes += _validate_owner("metadata.ownerReferences", owner)
    for index, finalizer in enumerate(strings_at(metadata, "finalizers")):
        causes += qualified_name("metadata.finalizers", finalizer)
        if not resource.group and "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            causes.append(field_invalid(f"metadata.finalizers[{index}]", finalizer, why))
    return causes


def validate_immutable(new: JsonObject, old: JsonObject) -> list[Cause]:
    """What an update tries to change in metadata that never changes; before the old values are carried over."""
    metadata, before = object_at(new, "metadata"), object_at(old, "metadata")
    return [
        field_invalid(f"metadata.{field}", metadata[field], "field is immutable")
        for field in ("uid", "deletionTimestamp", "deletionGracePeriodSeconds")
        if metadata.get(field) and metadata[field] != before.get(field) and (field == "uid" or not is_deleting(old))
    ]


def validate_metadata_update(new: JsonObject, old: JsonObject) -> list[Cause]:
    """What is wrong with a change of metadata."""
    causes: list[Cause] = []
    added = sorted(set(strings_at(new, "metadata", "finalizers")) - set(strings_at(old, "metadata", "finalizers")))
    if is_deleting(old) and added:
        shown = ", ".join(f'"{name}"' for name in added)
        why = f"no new finalizers can be added if the object is being deleted, found new finalizers []string{{{shown}}}"
        causes.append(field_forbidden("metadata.finalizers", why))
    return causes


def _validate_owner(path: str, owner: JsonObject) -> list[Cause]:
    return [
        field_invalid(
            f"{path}.{field}", "", "version must not be empty" if field == "apiVersion" else "must not be empty"
        )
        for field in ("apiVersion", "kind", "name", "uid")
        if not text_at(owner, field)
    ]
