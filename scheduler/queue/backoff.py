"""How long a failed entry waits (kube-scheduler 1.36, backend/queue/backoff_queue.go)."""

from dataclasses import dataclass
from math import floor

from scheduler.queue.entry import QueueEntry


@dataclass(frozen=True, slots=True)
class Backoff:
    """First and longest wait in seconds; a longest wait of 0 turns backing off.

    Waits end at whole seconds, for all entries of a window at once, so that those leave in the order of the queue and not in
    the order of their milliseconds.
    """

    initial: float
    longest: float

    def duration(self, count: int) -> float:
        """The wait after `count` failures in a row: doubled each time, up to the longest."""
        if count == 0 or self.longest == 0:
            return 0.0
        # Past 2**32 times the first wait every configuration is at its longest.
        return min(self.longest, self.initial * float(1 << min(count - 1, 32)))

    def until(self, entry: QueueEntry) -> float:
        """The whole second in which the wait of an entry ends; errors in a row count before rejections."""
        count = entry.error_count or entry.unschedulable_count
        wait = self.duration(count)
        return floor(entry.queued_at + wait) if wait else -1.0

    @staticmethod
    def over(entry: QueueEntry, now: float) -> bool:
        """Whether the window in which the wait ends has passed."""
        return entry.backoff_until < floor(now)

    @staticmethod
    def ends(entry: QueueEntry) -> float:
        """The moment from which `over` holds."""
        return entry.backoff_until + 1.0 if entry.backoff_until >= 0 else 0.0
