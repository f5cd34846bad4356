"""Time and CPU between two moments of a run."""

import time
from dataclasses import dataclass

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.process import Process


@dataclass(frozen=True)
class Reading:
    """Seconds: of the wall clock, and of CPU used by the contender (0 if it is no process), the API server and etcd."""

    wall: float
    contender: float
    server: float
    etcd: float

    def __sub__(self, other: "Reading") -> "Reading":
        return Reading(
            self.wall - other.wall,
            self.contender - other.contender,
            self.server - other.server,
            self.etcd - other.etcd,
        )


def read(server: ApiServer, contender: Process | None) -> Reading:
    """The meters as they stand."""
    return Reading(
        time.monotonic(),
        contender.cpu_seconds() if contender else 0.0,
        server.process.cpu_seconds(),
        server.etcd.cpu_seconds(),
    )
