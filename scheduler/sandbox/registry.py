"""Creating, reading, changing and deleting any object, by the rules of its kind.

The order of the steps is that of apiserver's generic registry: type and namespace, admission, defaults and preparation,
validation, then the store. Lists and watches are in listing.py, bindings and evictions in pods/.
"""

from collections.abc import Callable, Sequence

from scheduler.sandbox.deletion import DeleteOptions, begin_deletion, check_preconditions, unheld
from scheduler.sandbox.errors import Cause, already_exists, conflict, field_invalid, internal, invalid, not_found
from scheduler.sandbox.fields import (
    JsonObject,
    copy_object,
    ensure_object,
    is_deleting,
    name_of,
    namespace_of,
    object_at,
    typed_copy,
    uid_of,
    version_of,
)
from scheduler.sandbox.identity import Identities, Key, WallClock, timestamp
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.metadata import (
    carry_over_system_fields,
    check_name,
    check_namespace,
    check_type,
    set_system_fields,
    validate_immutable,
    validate_metadata,
    validate_metadata_update,
)
from scheduler.sandbox.namespaces import check_namespace_open
from scheduler.sandbox.patches import Patch
from scheduler.sandbox.store import Store

_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
_GENERATE_ATTEMPTS = 8
_STORED_AS = {"nodes": "minions"}  # the name nodes had when their place in etcd was chosen
Change = Callable[[JsonObject], JsonObject]


class Registry:
    """The API's objects behind their rules. Answers are the caller's own copies; arguments are not kept."""

    def __init__(self, store: Store, now: WallClock, identities: Identities) -> None:
        self.store = store
        self.now = now
        self._identities = identities
        self.deleted: list[Callable[[Resource, JsonObject], None]] = []

    def find(self, storage: str, namespace: str, name: str) -> JsonObject | None:
        """A stored object, not to be changed; None if there is none."""
        return self.store.collection(storage).objects.get(Key(namespace, name))

    def all(self, storage: str, namespace: str | None = None) -> Sequence[JsonObject]:
        """All stored objects of a collection, or those of one namespace, in order; not to be changed."""
        collection = self.store.collection(storage)
        return [collection.objects[key] for key in collection.keys_in(namespace)]

    def stored(self, resource: Resource, namespace: str, name: str) -> JsonObject:
        """A stored object, not to be changed. Raises ApiError 404."""
        found = self.find(resource.storage, namespace if resource.namespaced else "", name)
        if found is None:
            raise not_found(resource.group_resource, name)
        return found

    def create(self, resource: Resource, namespace: str, obj: JsonObject, *, dry_run: bool = False) -> JsonObject:
        """Store a new object. Raises ApiError 400, 403, 404 (no such namespace), 409 or 422."""
        check_type(obj, resource)
        obj = _received(resource, obj)
        check_namespace(obj, resource, namespace)
        if version_of(obj):
            raise internal("resourceVersion should not be set on objects to be created")
        set_system_fields(obj, resource, self._identities, timestamp(self.now()))
        strategy = resource.strategy
        strategy.default(obj)
        if resource.namespaced:
            check_namespace_open(resource, namespace, name_of(obj), self)
        strategy.admit(obj, self)
        strategy.prepare_create(obj, self)
        if causes := [*strategy.validate(obj), *validate_metadata(obj, resource)]:
            raise invalid(resource.group_kind, name_of(obj), causes)
        key = self._free_key(resource, obj)
        if not dry_run:
            obj = self.store.write(resource.storage, key, obj)
        return copy_object(resource.show(obj))

    def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        obj: JsonObject,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> tuple[JsonObject, bool]:
        """Replace an object or its status; answers it and whether it was created. Raises ApiError 400, 404, 409 or 422."""
        check_type(obj, resource)
        check_name(obj, name)
        key = Key(namespace if resource.namespaced else "", name)
        old = self.find(resource.storage, *key)
        if old is None and resource.strategy.create_on_update:
            return self.create(resource, namespace, obj, dry_run=dry_run), True
        if old is not None and (uid := uid_of(obj)) and uid != uid_of(old):
            raise conflict(resource.group_resource, name, precondition_failed(resource, key, "UID", uid, uid_of(old)))
        new = _received(resource, obj)
        return self.change(resource, key, lambda _: new, subresource=subresource, dry_run=dry_run), False

    def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        patch: Patch,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> tuple[JsonObject, bool]:
        """Patch an object or its status; an apply patch creates what is not there. Raises ApiError 400, 404, 409 or 422."""
        key = Key(namespace if resource.namespaced else "", name)
        if patch.creates and not subresource and self.find(resource.storage, *key) is None:
            obj = patch.apply({})
            ensure_object(obj, "metadata").setdefault("name", name)
            return self.create(resource, namespace, obj, dry_run=dry_run), True

        def change(old: JsonObject) -> JsonObject:
            patched = patch.apply(copy_object(resource.show(old)))
            check_type(patched, resource)
            check_name(patched, name)
            return _received(resource, patched)

        return self.change(resource, key, change, subresource=subresource, dry_run=dry_run), False

    def change(
        self, resource: Resource, key: Key, change: Change, *, subresource: str = "", dry_run: bool = False
    ) -> JsonObject:
        """Replace a stored object by what `change` makes of it, by the rules for updates."""
        old = self.stored(resource, key.namespace, key.name)
        new = change(old)
        check_namespace(new, resource, key.namespace)
        self._check_version(resource, key, new, old)
        causes = validate_immutable(new, old)
        carry_over_system_fields(new, old, resource)
        causes += _prepare_update(resource, subresource, new, old)
        if causes:
            raise invalid(resource.group_kind, key.name, causes)
        if _same(new, old):
            return copy_object(resource.show(old))
        if dry_run:
            return copy_object(resource.show(new))
        if is_deleting(new) and unheld(new):
            self.remove(resource, key, new)
            return copy_object(resource.show(new))
        return copy_object(resource.show(self.store.write(resource.storage, key, new)))

    def delete(self, resource: Resource, namespace: str, name: str, options: DeleteOptions) -> tuple[JsonObject, bool]:
        """Delete an object or begin to; answers its last or present state, and whether it is gone.

        Raises ApiError 404, or 409 for preconditions that do not hold.
        """
        old = self.stored(resource, namespace, name)
        check_preconditions(resource, old, options)
        key = Key(namespace_of(old), name_of(old))
        new = copy_object(old)
        changed = begin_deletion(resource, new, options, self.now())
        if options.dry_run:
            return copy_object(resource.show(new)), unheld(new)
        if changed:
            new = self.store.write(resource.storage, key, new)
        if unheld(new):
            return copy_object(resource.show(self.remove(resource, key, new))), True
        return copy_object(resource.show(new)), False

    def remove(self, resource: Resource, key: Key, final: JsonObject) -> JsonObject:
        """Take an object out of the store and tell who listens for deletions."""
        final = self.store.remove(resource.storage, key, final)
        for listener in self.deleted:
            listener(resource, final)
        return final

    def _free_key(self, resource: Resource, obj: JsonObject) -> Key:
        """A key that is not taken; a generated name is drawn again a few times before giving up."""
        taken = self.store.collection(resource.storage).objects
        metadata = ensure_object(obj, "metadata")
        prefix = metadata.get("generateName")
        for _ in range(_GENERATE_ATTEMPTS):
            key = Key(namespace_of(obj), name_of(obj))
            if key not in taken:
                return key
            if not isinstance(prefix, str) or not key.name.startswith(prefix) or key.name == prefix:
                break
            metadata["name"] = self._identities.name(prefix)
        raise already_exists(resource.group_resource, name_of(obj))

    def _check_version(self, resource: Resource, key: Key, new: JsonObject, old: JsonObject) -> None:
        """Optimistic concurrency: a resourceVersion that the client sent must be the stored one."""
        version = version_of(new)
        if version and version != version_of(old):
            raise conflict(resource.group_resource, key.name, _MODIFIED)
        if not version:
            if not resource.strategy.unconditional_update:
                cause = field_invalid("metadata.resourceVersion", 0, "must be specified for an update")
                raise invalid(resource.group_resource, key.name, [cause])
            ensure_object(new, "metadata")["resourceVersion"] = version_of(old)


def _prepare_update(resource: Resource, subresource: str, new: JsonObject, old: JsonObject) -> list[Cause]:
    """Let the rules of the kind carry over and set defaults; answers what is wrong with the result."""
    strategy = resource.subresource_strategies.get(subresource, resource.strategy)
    causes = [*validate_metadata(new, resource), *validate_metadata_update(new, old)]
    if subresource == "status":
        strategy.prepare_status_update(new, old)
        return [*causes, *strategy.validate_status_update(new, old)]
    strategy.default(new)
    strategy.prepare_update(new, old)
    return [*causes, *strategy.validate_update(new, old)]


def precondition_failed(resource: Resource, key: Key, what: str, wanted: str, found: str) -> str:
    """How the server's storage says that a UID or version is not the one that the client presumes."""
    kept = (
        f"{resource.group}/{resource.plural}" if resource.custom else _STORED_AS.get(resource.plural, resource.plural)
    )
    path = "/".join(part for part in ("/registry", kept, key.namespace, key.name) if part)
    return (
        f"StorageError: invalid object, Code: 4, Key: {path}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
    )


def _received(resource: Resource, obj: JsonObject) -> JsonObject:
    """An object as it came, as the registry's own copy in the shape in which it is stored."""
    if not resource.custom:
        return typed_copy(resource.take(obj))
    copied = copy_object(resource.take(obj))
    copied["metadata"] = typed_copy(object_at(copied, "metadata"))
    return copied


def _same(new: JsonObject, old: JsonObject) -> bool:
    """Whether a write would change nothing; such a write is answered and not made."""
    return new == old
