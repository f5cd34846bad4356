"""The objects that rules read beside pods and nodes, by kind, namespace and name."""

from collections.abc import Collection
from typing import TypeVar

from scheduler.api import ApiObject, Kind

A = TypeVar("A", bound=ApiObject)


class ObjectStore:
    """What is known of each followed kind."""

    def __init__(self) -> None:
        self._by_kind: dict[Kind, dict[tuple[str, str], ApiObject]] = {kind: {} for kind in Kind}

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

    def drop(self, obj: ApiObject) -> None:
        """Take an object out."""
        del self._by_kind[obj.kind][obj.namespace, obj.name]
