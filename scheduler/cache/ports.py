"""Host ports in use, per node row."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from scheduler.framework import BoolArray, HostPort


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

    def conflicts(self, ports: Iterable[HostPort], capacity: int) -> BoolArray:
        """The rows on which one of the ports is taken."""
        taken = np.zeros(capacity, np.bool_)
        for port in ports:
            for row, held in self._rows.get((port.protocol, port.port), {}).items():
                if any(port.conflicts(other) for other in held):
                    taken[row] = True
        return taken
