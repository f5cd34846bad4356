"""Host ports in use, per node row."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from scheduler.framework import BoolArray, HostPort

_WILDCARD = "0.0.0.0"  # noqa: S104  the API's wildcard address


class PortIndex:
    """Which rows use which (protocol, port), under which IPs. Counts, since two pods may share a port by different IPs."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], dict[int, Counter[str]]] = {}

    def add(self, row: int, ports: Iterable[HostPort]) -> None:
        """A pod with these ports came to the row."""
        for port in ports:
            users = self._rows.setdefault((port.protocol, port.port), {})
            users.setdefault(row, Counter())[port.ip] += 1

    def remove(self, row: int, ports: Iterable[HostPort]) -> None:
        """A pod with these ports left the row."""
        for port in ports:
            users = self._rows[port.protocol, port.port]
            ips = users[row]
            ips[port.ip] -= 1
            if not ips[port.ip]:
                del ips[port.ip]
            if not ips:
                del users[row]
            if not users:
                del self._rows[port.protocol, port.port]

    def conflicts(self, ports: Iterable[HostPort], capacity: int) -> BoolArray:
        """The rows on which one of the ports is taken: same protocol and port, and same IP or a wildcard on either side."""
        taken = np.zeros(capacity, np.bool_)
        for port in ports:
            for row, ips in self._rows.get((port.protocol, port.port), {}).items():
                if port.ip == _WILDCARD or _WILDCARD in ips or port.ip in ips:
                    taken[row] = True
        return taken
