"""PrioritySort: the order of the active queue."""

from typing import ClassVar

from scheduler.framework import PodInfo, QueueSort


class PrioritySort(QueueSort):
    """Higher priority first, then who has been in the queue for longer."""

    name: ClassVar[str] = "PrioritySort"

    def sort_key(self, pod: PodInfo, queued_at: float) -> tuple[float | str, ...]:
        """Negated priority, then the time of entry."""
        return (-pod.spec.priority, queued_at)
