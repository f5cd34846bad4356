"""The events that came while entries were being tried, so that none is lost to an attempt that fails."""

from scheduler.queue.entry import QueueEntry, SeenEvent

_MOST_KEPT = 10_000


class InFlight:
    """Entries that were popped and have not come back, and the events since the first of them was popped.

    A wait on Permit may be long, so at most 10,000 events are kept; `since` answers None for an entry that lost some.
    """

    def __init__(self) -> None:
        self.entries: dict[str, QueueEntry] = {}
        self._log: list[SeenEvent] = []
        self._dropped = 0

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def log_length(self) -> int:
        """How many events are kept."""
        return len(self._log)

    def start(self, entry: QueueEntry) -> None:
        """The entry was popped."""
        entry.log_start = self._dropped + len(self._log)
        entry.own_events.clear()
        self.entries[entry.key] = entry

    def note(self, seen: SeenEvent) -> None:
        """An event happened; of interest only if something is in flight."""
        if not self.entries:
            return
        self._log.append(seen)
        if len(self._log) > _MOST_KEPT:
            del self._log[: _MOST_KEPT // 2]
            self._dropped += _MOST_KEPT // 2

    def since(self, entry: QueueEntry) -> list[SeenEvent] | None:
        """The events since the entry was popped, the changes of the entry itself among them."""
        start = entry.log_start - self._dropped
        if start < 0:
            return None
        return entry.own_events + self._log[start:]

    def done(self, entry: QueueEntry) -> None:
        """The entry is not in flight any more; events that nobody waits for are dropped."""
        if self.entries.pop(entry.key, None) is None:
            return
        if not self.entries:
            self._dropped += len(self._log)
            self._log.clear()
            return
        # Entries are in the order in which they were popped, so the first one needs the oldest events.
        oldest = next(iter(self.entries.values())).log_start
        if (surplus := oldest - self._dropped) > 0:
            del self._log[:surplus]
            self._dropped += surplus
