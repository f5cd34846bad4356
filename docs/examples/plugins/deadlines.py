"""A queue order: pods with the nearest deadline first, those without one last, and by priority where it is the same."""

from scheduler.framework import PodInfo, QueueSort

DEADLINE = "example.com/deadline"


class Deadlines(QueueSort):
    name = "Deadlines"

    def sort_key(self, pod: PodInfo, queued_at: float) -> tuple[float | str, ...]:
        deadline = pod.labels.get(DEADLINE, "")
        at = float(deadline) if deadline.isdigit() else float("inf")
        return (at, -pod.spec.priority, queued_at)
