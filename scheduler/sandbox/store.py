"""Objects with a history: every write gets the next revision and an entry in the log of its collection.

Stored objects are never changed in place; a write puts a new one beside the old, so the log, the watchers and consistent paged
lists can share them. No rule of any kind of object is known here.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable

import msgspec

from scheduler.sandbox.fields import JsonObject, ensure_object
from scheduler.sandbox.identity import Key


class Change(msgspec.Struct, frozen=True, gc=False):
    """One write. `before` is None for a creation, `after` for a deletion; `final` is what a deleted object looked like last."""

    revision: int
    key: Key
    before: JsonObject | None
    after: JsonObject | None
    final: JsonObject | None = None


class Collection:
    """The objects of one storage (a resource, or the two faces of events), their log, and who wants to hear of changes."""

    def __init__(self) -> None:
        self.objects: dict[Key, JsonObject] = {}
        self.keys: list[Key] = []  # sorted, as etcd's are: lists come in this order
        self.log: list[Change] = []
        self.compacted = 0  # the newest revision whose change is no longer in the log
        self.listeners: list[Callable[[], None]] = []

    def keys_in(self, namespace: str | None, after: Key | None = None) -> list[Key]:
        """Keys of one namespace (None: of all), in order, behind `after`."""
        return keys_between(self.keys, namespace, after)

    def changes_since(self, revision: int) -> list[Change]:
        """The log's entries newer than a revision; the caller has made sure that none of them is compacted."""
        return self.log[bisect_right(self.log, revision, key=_revision) :]

    def at(self, revision: int) -> dict[Key, JsonObject]:
        """The objects as they were at an earlier revision that is not compacted."""
        objects = dict(self.objects)
        for change in reversed(self.changes_since(revision)):
            if change.before is None:
                objects.pop(change.key, None)
            else:
                objects[change.key] = change.before
        return objects


class Store:
    """All collections under one revision counter, which starts at 1 as etcd's does."""

    def __init__(self) -> None:
        self.revision = 1
        self.compacted = 0
        self._collections: dict[str, Collection] = {}

    def collection(self, storage: str) -> Collection:
        """The collection of this name, made on first use."""
        found = self._collections.get(storage)
        if found is None:
            found = self._collections[storage] = Collection()
            found.compacted = self.compacted
        return found

    def write(self, storage: str, key: Key, obj: JsonObject) -> JsonObject:
        """Create or replace an object; takes ownership of `obj` and stamps its resourceVersion."""
        collection = self.collection(storage)
        self.revision += 1
        ensure_object(obj, "metadata")["resourceVersion"] = str(self.revision)
        before = collection.objects.get(key)
        if before is None:
            insort(collection.keys, key)
        collection.objects[key] = obj
        self._publish(collection, Change(self.revision, key, before, obj))
        return obj

    def remove(self, storage: str, key: Key, final: JsonObject) -> JsonObject:
        """Take an object away; `final` is its last state, of which a copy with the new resourceVersion is answered."""
        collection = self.collection(storage)
        self.revision += 1
        final = with_version(final, self.revision)
        before = collection.objects.pop(key)
        del collection.keys[bisect_left(collection.keys, key)]
        self._publish(collection, Change(self.revision, key, before, None, final))
        return final

    def compact(self, revision: int) -> None:
        """Forget all changes up to and including a revision; who still needs them is told that it is too late."""
        self.compacted = max(self.compacted, min(revision, self.revision))
        for collection in self._collections.values():
            del collection.log[: bisect_right(collection.log, self.compacted, key=_revision)]
            collection.compacted = self.compacted
            _wake(collection)

    def _publish(self, collection: Collection, change: Change) -> None:
        collection.log.append(change)
        _wake(collection)


def _wake(collection: Collection) -> None:
    for listener in tuple(collection.listeners):
        listener()


def keys_between(keys: list[Key], namespace: str | None, after: Key | None) -> list[Key]:
    """The part of sorted keys that lies in one namespace (None: any) and behind `after`."""
    start = 0 if namespace is None else bisect_left(keys, Key(namespace, ""))
    end = len(keys) if namespace is None else bisect_left(keys, Key(namespace + "\0", ""))
    if after is not None:
        start = max(start, bisect_right(keys, after))
    return keys[start:end]


def with_version(obj: JsonObject, revision: int) -> JsonObject:
    """The same object under another resourceVersion; everything below metadata is shared."""
    metadata = dict(ensure_object(obj, "metadata"))
    metadata["resourceVersion"] = str(revision)
    return {**obj, "metadata": metadata}


def _revision(change: Change) -> int:
    return change.revision
