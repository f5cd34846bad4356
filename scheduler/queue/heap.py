"""A heap of queue entries from which an entry may vanish without a search."""

import heapq

from scheduler.queue.entry import QueueEntry

SortKey = tuple[object, ...]


class EntryHeap:
    """Entries by key, smallest first. An entry whose ticket has changed since it was pushed is no longer there."""

    def __init__(self) -> None:
        self._items: list[tuple[SortKey, int, QueueEntry]] = []

    def push(self, key: SortKey, entry: QueueEntry) -> None:
        """Add an entry under its current ticket. Keys of one heap are comparable and end in something unique."""
        heapq.heappush(self._items, (key, entry.ticket, entry))

    def peek(self) -> QueueEntry | None:
        """The first entry, left in place."""
        while self._items:
            _, ticket, entry = self._items[0]
            if entry.ticket == ticket:
                return entry
            heapq.heappop(self._items)
        return None

    def compact(self, live: int) -> None:
        """Throw outdated items away once they outnumber the `live` ones."""
        if len(self._items) > 2 * live + 64:
            self._items = [item for item in self._items if item[2].ticket == item[1]]
            heapq.heapify(self._items)
