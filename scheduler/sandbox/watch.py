"""Watching a collection: a position in its log, and what a selection lets through from there.

Nothing is queued for a watcher. It reads the log when it likes; a change costs a silent watcher nothing but the wake-up.
"""

from collections.abc import Callable

import msgspec

from scheduler.sandbox.errors import ApiError, Status, expired
from scheduler.sandbox.fields import JsonObject
from scheduler.sandbox.identity import Key
from scheduler.sandbox.selectors import Selection
from scheduler.sandbox.store import Change, Collection, with_version

View = Callable[[JsonObject], JsonObject]


class WatchEvent(msgspec.Struct, frozen=True):
    """One line of a watch stream: ADDED, MODIFIED, DELETED, BOOKMARK with an object, or ERROR with a Status.

    The object is shared with the store: whoever wants to change it makes a copy.
    """

    type: str
    object: JsonObject | Status


class Subscription:
    """A watch. `drain` answers what has happened since the last call; `wake` is called, if given, when there may be more."""

    def __init__(
        self,
        collection: Collection,
        selection: Selection,
        view: View,
        revision: int,
        wake: Callable[[], None] | None,
    ) -> None:
        self.revision = revision
        self._collection = collection
        self._selection = selection
        self._view = view
        self._wake = wake
        self._failure: ApiError | None = None
        if wake is not None:
            collection.listeners.append(wake)

    @property
    def failed(self) -> bool:
        """Whether an ERROR has been handed out; nothing follows it."""
        return self._failure is not None

    def drain(self) -> list[WatchEvent]:
        """The events since the last call, in order; an ERROR event with status 410 if the log no longer reaches back."""
        if self._failure is not None:
            return []
        if self.revision < self._collection.compacted:
            return [self._fail(too_old(self.revision, self._collection.compacted))]
        changes = self._collection.changes_since(self.revision)
        if not changes:
            return []
        self.revision = changes[-1].revision
        return [event for change in changes if (event := self._event(change)) is not None]

    def close(self) -> None:
        """Stop being woken."""
        if self._wake is not None and self._wake in self._collection.listeners:
            self._collection.listeners.remove(self._wake)

    def _fail(self, failure: ApiError) -> WatchEvent:
        self._failure = failure
        self.close()
        return WatchEvent("ERROR", failure.status())

    def _event(self, change: Change) -> WatchEvent | None:
        """What the selection shows of a change; leaving it is a deletion that carries the state before, as in the server."""
        had = change.before is not None and self._selects(change.key, change.before)
        if change.after is not None and self._selects(change.key, change.after):
            return WatchEvent("MODIFIED" if had else "ADDED", self._view(change.after))
        if not had or change.before is None:
            return None
        last = change.final or with_version(change.before, change.revision)
        return WatchEvent("DELETED", self._view(last))

    def _selects(self, key: Key, obj: JsonObject) -> bool:
        return self._selection.matches(key, obj)


def too_old(revision: int, oldest: int) -> ApiError:
    """410, as a watch from a forgotten revision gets it."""
    return expired(f"too old resource version: {revision} ({oldest})")
