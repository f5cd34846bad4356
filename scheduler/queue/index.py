"""Waiting entries, grouped by what decides whether an event helps them."""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from scheduler.queue.entry import QueueEntry

K = TypeVar("K", bound=Hashable)


class EntryIndex(Generic[K]):
    """Entries by a key they share; an entry remembers its own, so that it is found again after it has changed."""

    def __init__(self) -> None:
        self._groups: dict[K, dict[str, QueueEntry]] = {}

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(self, key: K, entry: QueueEntry) -> None:
        """Index an entry, which must not be in any index."""
        entry.index_key = key
        self._groups.setdefault(key, {})[entry.key] = entry

    def discard(self, entry: QueueEntry) -> None:
        """Take an entry out of this index."""
        key: K = entry.index_key  # type: ignore[assignment]  # only `add` sets it, with a key of this index
        group = self._groups[key]
        del group[entry.key]
        if not group:
            del self._groups[key]
        entry.index_key = None

    def index_keys(self) -> list[K]:
        """The keys as they are now: entries may be moved while the caller goes through them."""
        return list(self._groups)

    def first(self, key: K) -> QueueEntry | None:
        """One of the entries under a key, to stand for all."""
        return next(iter(self._groups.get(key, {}).values()), None)

    def group(self, key: K) -> list[QueueEntry]:
        """The entries under a key."""
        return list(self._groups.get(key, {}).values())

    def __iter__(self) -> Iterator[QueueEntry]:
        """All entries; the index must not change meanwhile."""
        for group in self._groups.values():
            yield from group.values()
