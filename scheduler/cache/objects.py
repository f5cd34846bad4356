"""The objects that rules read beside pods and nodes, by kind, namespace and name."""

from collections.abc import Collection
from typing import TypeVar

from scheduler.api import ApiObject, Kind

A = TypeVar("A", bound=ApiObject)

# So many changes of a kind are told one by one; a reader that is further behind starts afresh.
_KEPT = 4096


class ObjectStore:
    """What is known of each followed kind."""

    def __init__(self) -> None:
        self._by_kind: dict[Kind, dict[tuple[str, str], ApiObject]] = {kind: {} for kind in Kind}
        self._changes: dict[Kind, list[tuple[str, str]]] = {kind: [] for kind in Kind}
        self._dropped: dict[Kind, int] = dict.fromkeys(Kind, 0)

    def find(self, kind: type[A], namespace: str, name: str) -> A | None:
        """The object of this name; an empty namespace for cluster-scoped kinds."""
        found = self._by_kind[kind.kind].get((namespace, name))
        return found if isinstance(found, kind) else None

    def all(self, kind: type[A]) -> Collection[A]:
        """All objects of a kind, in the order in which they were first seen."""
        return [found for found in self._by_kind[kind.kind].values() if isinstance(found, kind)]

    def named(self, kind: Kind, namespace: str, name: str) -> ApiObject | None:
        """As `find`, for a kind that is known at run time only."""
        return self._by_kind[kind].get((namespace, name))

    def put(self, obj: ApiObject) -> None:
        """Add an object, or replace the one of its name."""
        self._by_kind[obj.kind][obj.namespace, obj.name] = obj
        self._note(obj)

    def forget(self, kind: Kind) -> None:
        """A kind is not followed any more."""
        for obj in list(self._by_kind[kind].values()):
            self.drop(obj)

    def drop(self, obj: ApiObject) -> None:
        """Take an object out."""
        del self._by_kind[obj.kind][obj.namespace, obj.name]
        self._note(obj)

    def changed(self, kind: Kind, since: int) -> tuple[int, Collection[tuple[str, str]] | None]:
        """How many changes there have been to a kind, and the names that those after the first `since` were about; None if these
        are not known any more.
        """
        changes, dropped = self._changes[kind], self._dropped[kind]
        names = None if since < dropped else set(changes[since - dropped :])
        return dropped + len(changes), names

    def _note(self, obj: ApiObject) -> None:
        changes = self._changes[obj.kind]
        changes.append((obj.namespace, obj.name))
        if len(changes) > 2 * _KEPT:
            del changes[:_KEPT]
            self._dropped[obj.kind] += _KEPT
