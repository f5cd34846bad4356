"""Pods that wait on Permit, and what became of their waits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduler.framework import SUCCESS, Code, PodInfo, Status, unschedulable


@dataclass(slots=True)
class Waiting:
    """A pod that waits, the plugins that have not allowed it yet, and when it is refused in whose name."""

    pod: PodInfo
    plugins: set[str]
    until: float
    expires_by: str


class Permits:
    """Waits by pod UID. `resolved` collects those that have ended, for the engine to resume."""

    def __init__(self) -> None:
        self._waiting: dict[str, Waiting] = {}
        self.resolved: list[tuple[str, Status]] = []

    def wait(self, waiting: Waiting) -> None:
        """A pod waits from now on."""
        self._waiting[waiting.pod.uid] = waiting

    def pods(self) -> Sequence[PodInfo]:
        """The pods that wait."""
        return [waiting.pod for waiting in self._waiting.values()]

    def uids(self) -> Iterable[str]:
        """Their UIDs."""
        return self._waiting.keys()

    def allow(self, uid: str, plugin: str) -> bool:
        """One plugin allows a pod; with the last one it may go on."""
        waiting = self._waiting.get(uid)
        if waiting is None:
            return False
        waiting.plugins.discard(plugin)
        if not waiting.plugins:
            self._resolve(uid, SUCCESS)
        return True

    def reject(self, uid: str, reason: str, plugin: str = "") -> bool:
        """A pod that waits must not go on."""
        if uid not in self._waiting:
            return False
        refusal = unschedulable(reason)
        self._resolve(uid, Status(refusal.code, refusal.reasons, plugin))
        return True

    def preempt(self, uid: str, reason: str, plugin: str) -> bool:
        """A pod that waits makes room for another. That says nothing about where it fits, so that it counts as an error."""
        if uid not in self._waiting:
            return False
        self._resolve(uid, Status(Code.ERROR, (reason,), plugin))
        return True

    def expire(self, now: float) -> None:
        """Refuse the pods that have waited too long."""
        for uid in [uid for uid, waiting in self._waiting.items() if waiting.until <= now]:
            waiting = self._waiting[uid]
            self.reject(uid, f"timed out waiting on permit plugin {waiting.expires_by}", waiting.expires_by)

    def next_deadline(self) -> float | None:
        """When the next wait is over."""
        return min((waiting.until for waiting in self._waiting.values()), default=None)

    def _resolve(self, uid: str, status: Status) -> None:
        del self._waiting[uid]
        self.resolved.append((uid, status))
