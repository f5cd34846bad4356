"""Host ports in use, per node row."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from scheduler.framework import BoolArray, HostPort, IntArray


class PortIndex:
    """Which rows use which (protocol, port). Counted, since an over-committed node may have pods that conflict."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], dict[int, Counter[HostPort]]] = {}

    def add(self, row: int, ports: Iterable[HostPort]) -> None:
        """A pod with these ports came to the row."""
        for port in ports:
            users = self._rows.setdefault((port.protocol, port.port), {})
            users.setdefault(row, Counter())[port] += 1

    def remove(self, row: int, ports: Iterable[HostPort]) -> None:
        """A pod with these ports left the row."""
        for port in ports:
            users = self._rows[port.protocol, port.port]
            held = users[row]
            held[port] -= 1
            if not held[port]:
                del held[port]
            if not held:
                del users[row]
            if not users:
                del self._rows[port.protocol, port.port]

    def at(self, rows: IntArray) -> "PortIndex":
        """A copy for some of the rows, renumbered in this order."""
        copy = PortIndex()
        if not self._rows:
            return copy
        numbers = {row: number for number, row in enumerate(rows.tolist())}
        for port, users in self._rows.items():
            held = {numbers[row]: Counter(users[row]) for row in users.keys() & numbers.keys()}
            if held:
                copy._rows[port] = held
        return copy

    def conflicts(self, ports: Iterable[HostPort], capacity: int) -> BoolArray:
        """The rows on which one of the ports is taken."""
        taken = np.zeros(capacity, np.bool_)
        for port in ports:
            for row, held in self._rows.get((port.protocol, port.port), {}).items():
                if any(port.conflicts(other) for other in held):
                    taken[row] = True
        return taken
