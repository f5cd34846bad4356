"""Attempts that wait for an object to change, and what became of their waits."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from scheduler.api import Kind

Name = tuple[Kind, str, str]
"""Kind, namespace and name; of a pod its UID stands for both."""


@dataclass(slots=True)
class ChangeWaits:
    """Waits by ticket. `resolved` collects those that have ended, for the engine to resume: true for a change."""

    resolved: list[tuple[int, bool]] = field(default_factory=list)
    _names: dict[int, tuple[Collection[Name], float]] = field(default_factory=dict)
    _tickets: dict[Name, set[int]] = field(default_factory=dict)

    def wait(self, ticket: int, names: Collection[Name], until: float) -> None:
        """Somebody waits from now on."""
        self._names[ticket] = (names, until)
        for name in names:
            self._tickets.setdefault(name, set()).add(ticket)

    def changed(self, kind: Kind, namespace: str, name: str) -> None:
        """An object was added, has changed or is gone."""
        for ticket in sorted(self._tickets.get((kind, namespace, name), ())):
            self._resolve(ticket, changed=True)

    def expire(self, now: float) -> None:
        """End the waits that have taken too long."""
        for ticket in [ticket for ticket, (_, until) in self._names.items() if until <= now]:
            self._resolve(ticket, changed=False)

    def drop(self, ticket: int) -> None:
        """Somebody waits no more, whatever has happened."""
        if ticket in self._names:
            self._resolve(ticket, changed=False)
        self.resolved = [(other, changed) for other, changed in self.resolved if other != ticket]

    def next_deadline(self) -> float | None:
        """When the next wait is over."""
        return min((until for _, until in self._names.values()), default=None)

    def tickets(self) -> Iterable[int]:
        """Those who wait."""
        return self._names.keys()

    def _resolve(self, ticket: int, *, changed: bool) -> None:
        names, _ = self._names.pop(ticket)
        for name in names:
            waiting = self._tickets[name]
            waiting.discard(ticket)
            if not waiting:
                del self._tickets[name]
        self.resolved.append((ticket, changed))
