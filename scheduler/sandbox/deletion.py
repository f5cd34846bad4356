"""How objects go: preconditions, grace, finalizers (apiserver's rest.BeforeDelete and the generic store's Delete).

There is no garbage collector: propagationPolicy is accepted and dependents stay.
"""

from datetime import datetime, timedelta

import msgspec

from scheduler.sandbox.errors import conflict
from scheduler.sandbox.fields import (
    JsonObject,
    ensure_object,
    integer_at,
    is_deleting,
    name_of,
    strings_at,
    text_at,
    uid_of,
    value_at,
    version_of,
)
from scheduler.sandbox.identity import GroupResource, parse_timestamp, timestamp
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.strategy import bump_generation


class DeleteOptions(msgspec.Struct, frozen=True):
    """What a metav1.DeleteOptions asks for. `grace_seconds` None leaves it to the object."""

    uid: str | None = None
    resource_version: str | None = None
    grace_seconds: int | None = None
    dry_run: bool = False


def parse_delete_options(body: JsonObject) -> DeleteOptions:
    """DeleteOptions from their JSON form."""
    return DeleteOptions(
        uid=text_at(body, "preconditions", "uid") or None,
        resource_version=text_at(body, "preconditions", "resourceVersion") or None,
        grace_seconds=integer_at(body, "gracePeriodSeconds"),
        dry_run=bool(strings_at(body, "dryRun")),
    )


def check_preconditions(resource: Resource, obj: JsonObject, options: DeleteOptions) -> None:
    """Raises ApiError 409, which names the kind where other conflicts name the resource."""
    named = GroupResource(resource.group, resource.kind)
    if options.uid is not None and options.uid != uid_of(obj):
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({uid_of(obj)}). "
            "The object might have been deleted and then recreated"
        )
        raise conflict(named, name_of(obj), why)
    if options.resource_version is not None and options.resource_version != version_of(obj):
        why = (
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the ResourceVersion "
            f"in record ({version_of(obj)}). The object might have been modified"
        )
        raise conflict(named, name_of(obj), why)


def begin_deletion(resource: Resource, obj: JsonObject, options: DeleteOptions, now: datetime) -> bool:
    """Mark an object as being deleted, or shorten the grace it has; answers whether it has changed.

    An object without grace and finalizers goes unmarked.
    """
    metadata = ensure_object(obj, "metadata")
    requested = None if options.grace_seconds is None else max(options.grace_seconds, 1 if options.grace_seconds else 0)
    if is_deleting(obj):
        return _shorten(metadata, requested, now)
    if not resource.strategy.graceful and not strings_at(metadata, "finalizers"):
        return False
    grace = resource.strategy.grace_seconds(obj, requested) if resource.strategy.graceful else 0
    metadata["deletionTimestamp"] = timestamp(now + timedelta(seconds=grace))
    if resource.strategy.writes_grace:
        metadata["deletionGracePeriodSeconds"] = grace
    if value_at(metadata, "generation"):
        bump_generation(obj)
    return True


def unheld(obj: JsonObject) -> bool:
    """Whether nothing holds back an object that is to go: no finalizer, and its grace is over."""
    grace = integer_at(obj, "metadata", "deletionGracePeriodSeconds")
    return not strings_at(obj, "metadata", "finalizers") and not grace and not _held_by_kind(obj)


def _held_by_kind(obj: JsonObject) -> bool:
    """A namespace has finalizers of its own in spec.finalizers."""
    return text_at(obj, "kind") == "Namespace" and bool(strings_at(obj, "spec", "finalizers"))


def _shorten(metadata: JsonObject, requested: int | None, now: datetime) -> bool:
    """Grace can only be shortened, and the end of it does not move into the past."""
    before = integer_at(metadata, "deletionGracePeriodSeconds") or 0
    if requested is None or requested >= before:
        return False
    end = parse_timestamp(text_at(metadata, "deletionTimestamp")) + timedelta(seconds=requested - before)
    if end < now:
        end, requested = now, 1 if requested else 0
    metadata["deletionTimestamp"] = timestamp(end)
    metadata["deletionGracePeriodSeconds"] = requested
    return True
