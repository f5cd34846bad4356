"""What the rules of one kind may decide about a request; the default keeps objects as they come.

The steps and their order are those of apiserver's rest.RESTCreateStrategy and its siblings. Rules that need other objects
(the node of a binding, a priority class) read them through a `Lookup`.
"""

from collections.abc import Sequence
from typing import Protocol

from scheduler.sandbox.errors import Cause
from scheduler.sandbox.fields import JsonObject, copy_json, name_of
from scheduler.sandbox.identity import WallClock
from scheduler.sandbox.names import dns_subdomain


class Lookup(Protocol):
    """Read access to the other objects of the cluster, and the time."""

    @property
    def now(self) -> WallClock:
        """Tells the time."""

    def find(self, storage: str, namespace: str, name: str) -> JsonObject | None:
        """A stored object, not to be changed; None if there is none."""

    def all(self, storage: str, namespace: str | None = None) -> Sequence[JsonObject]:
        """All stored objects of a collection, or those of one namespace; not to be changed."""


class Strategy:
    """Default rules: no status, no generation, no graceful deletion."""

    graceful = False  # deletion sets deletionTimestamp first and somebody else finishes it
    writes_grace = True  # with metadata.deletionGracePeriodSeconds
    create_on_update = False
    unconditional_update = True  # an update may leave out the resourceVersion
    returns_deleted = False  # DELETE answers the object, not a Status

    def admit(self, obj: JsonObject, lookup: Lookup) -> None:
        """Fill in what depends on other objects, or refuse (mutating admission on creation)."""

    def prepare_create(self, obj: JsonObject, lookup: Lookup) -> None:
        """Set defaults and drop what a client may not set."""

    def validate(self, obj: JsonObject) -> list[Cause]:
        """What is wrong with a new object."""
        return dns_subdomain("metadata.name", name_of(obj))

    def default(self, obj: JsonObject) -> None:
        """Set defaults of fields that a client left out, on creation and update alike."""

    def prepare_update(self, new: JsonObject, old: JsonObject) -> None:
        """Carry over what an update of the object itself may not touch."""

    def validate_update(self, new: JsonObject, old: JsonObject) -> list[Cause]:
        """What is wrong with an update; `new` already has what an update cannot change."""
        return self.validate(new)

    def prepare_status_update(self, new: JsonObject, old: JsonObject) -> None:
        """Carry over all but the status."""
        keep_only(new, old, "status")

    def validate_status_update(self, new: JsonObject, old: JsonObject) -> list[Cause]:
        """What is wrong with an update of the status."""
        return []

    def grace_seconds(self, obj: JsonObject, requested: int | None) -> int:
        """How long a graceful deletion waits for somebody to finish it; 0 deletes at once."""
        return 0


class AnyName(Strategy):
    """Rules of kinds whose names may be any part of a path, as RBAC's `system:node`."""

    def validate(self, obj: JsonObject) -> list[Cause]:
        return []


class SpecAndStatus(Strategy):
    """Rules of kinds with a status subresource and a generation that counts changes of the spec."""

    def prepare_create(self, obj: JsonObject, lookup: Lookup) -> None:
        metadata = obj["metadata"]
        if isinstance(metadata, dict):
            metadata["generation"] = 1

    def prepare_update(self, new: JsonObject, old: JsonObject) -> None:
        carry_over(new, old, "status")
        if new.get("spec") != old.get("spec"):
            bump_generation(new)


def carry_over(new: JsonObject, old: JsonObject, field: str) -> None:
    """Give `new` the old value of a top-level field, or its absence."""
    if field in old:
        new[field] = copy_json(old[field])
    else:
        new.pop(field, None)


def keep_only(new: JsonObject, old: JsonObject, field: str) -> None:
    """Undo all changes outside metadata and one top-level field."""
    for name in {*new, *old} - {"metadata", "apiVersion", "kind", field}:
        carry_over(new, old, name)


def bump_generation(obj: JsonObject) -> None:
    """Count a change of the desired state in metadata.generation."""
    metadata = obj["metadata"]
    if isinstance(metadata, dict):
        generation = metadata.get("generation")
        metadata["generation"] = (generation if isinstance(generation, int) else 0) + 1
