"""What was measured, as it is kept in a file, and what is made of it: medians, and ratios within a round."""

from collections.abc import Callable
from statistics import median

import msgspec

from tests.bench.cluster.quality import Quality


class Run(msgspec.Struct, frozen=True):
    """One contender in one round. `start_seconds`: from the start of the process to its first Binding. CPU is counted until the
    last Event is there, so that putting Events off makes nobody cheaper. Latencies are from the answer to a pod's creation, or
    from the first Binding where all pods were there before, to the Binding.
    """

    contender: str
    round: int
    pods: int
    seconds: float
    seconds_with_events: float
    events_missing: int
    start_seconds: float | None
    latency_p50_ms: float
    latency_p99_ms: float
    cpu_ms_per_pod: float | None
    server_cpu_ms_per_pod: float
    etcd_cpu_ms_per_pod: float
    resident_mb: float | None
    peak_mb: float | None
    quality: Quality | None

    @property
    def pods_per_second(self) -> float:
        """Up to the last Binding."""
        return self.pods / self.seconds

    @property
    def pods_per_second_with_events(self) -> float:
        """Up to the last Event."""
        return self.pods / self.seconds_with_events


class Result(msgspec.Struct, frozen=True):
    """All runs of a workload on so many nodes."""

    workload: str
    about: str
    nodes: int
    pods: int
    runs: list[Run]

    def contenders(self) -> list[str]:
        """Those that ran, in order."""
        return list(dict.fromkeys(sorted(run.contender for run in self.runs)))

    def median(self, contender: str, value: Callable[[Run], float | None]) -> float | None:
        """Of a contender's runs; None where it was never measured."""
        values = [found for run in self.runs if run.contender == contender and (found := value(run)) is not None]
        return median(values) if values else None

    def ratio(self, contender: str, to: str, value: Callable[[Run], float | None]) -> float | None:
        """The median over rounds of a contender's value in terms of another's in the same round."""
        of = {run.round: value(run) for run in self.runs if run.contender == contender}
        others = {run.round: value(run) for run in self.runs if run.contender == to}
        ratios = [mine / other for number, mine in of.items() if mine is not None and (other := others.get(number))]
        return median(ratios) if ratios else None


class Report(msgspec.Struct, frozen=True):
    """Everything: who took part, on what machine, and the results so far."""

    machine: str
    contenders: dict[str, str]
    rounds: int
    results: list[Result]
