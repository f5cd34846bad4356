"""`python -m tests.parity --seeds 1000`: compare berth with the real kube-scheduler on random clusters."""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from scheduler.config import Configuration
from tests.controlplane.apiserver import ADMISSION_OFF, ApiServer
from tests.controlplane.binaries import Binaries
from tests.controlplane.components import kube_scheduler
from tests.parity.cluster import Cluster, draw
from tests.parity.compare import Coverage, Difference, differences, unused
from tests.parity.profiles import configuration, profiles
from tests.parity.shrink import shrunk
from tests.parity.stage import Stage, StageError

# Priority: pods say how important they are without a class for each number.
_OFF = (*ADMISSION_OFF, "Priority")
_ENOUGH = 100


@contextmanager
def stage(binaries: Binaries, folder: Path) -> Iterator[Stage]:
    """A real API server and a real kube-scheduler with the profiles of the suite."""
    with (
        ApiServer(binaries, folder, admission_off=_OFF) as server,
        kube_scheduler(server, {"profiles": profiles()}, "-v=10") as scheduler,
    ):
        yield Stage(server, scheduler.log)


def first_difference(on: Stage, with_: Configuration, cluster: Cluster, coverage: Coverage) -> Difference | None:
    """The first pod of a cluster on which the schedulers differ."""
    return next(iter(differences(on, with_, cluster, coverage)), None)


def smallest(on: Stage, with_: Configuration, found: Difference) -> Difference:
    """The same difference in the smallest cluster that shows it."""
    last = found

    def differs(cluster: Cluster) -> bool:
        nonlocal last
        try:
            again = first_difference(on, with_, cluster, Coverage())
        except StageError:
            # It lacks something that the rest refers to.
            return False
        if again is None or again.what != found.what:
            return False
        last = again
        return True

    shrunk(found.cluster, differs)
    return last


@click.command()
@click.option("--seeds", type=click.IntRange(1), default=100, show_default=True, help="How many clusters.")
@click.option("--first", type=click.IntRange(0), default=0, show_default=True, help="The first seed.")
def main(seeds: int, first: int) -> None:
    """Compare verdicts, scores, messages and victims; print what differs in the smallest cluster that shows it."""
    coverage, found = Coverage(), 0
    with_ = configuration()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, stage(Binaries.locate(), Path(folder)) as on:
        for number, seed in enumerate(range(first, first + seeds), 1):
            difference = first_difference(on, with_, draw(seed), coverage)
            if difference is not None:
                found += 1
                click.echo(smallest(on, with_, difference).told())
            if number % 10 == 0:
                click.echo(f"{number} clusters, {found} differences, {time.monotonic() - began:.0f} s", err=True)
    never = unused(coverage) if seeds >= _ENOUGH else []
    click.echo("\n".join(never), err=True)
    click.echo(
        f"{seeds} clusters, {coverage.asked} pods, {found} unexplained differences; "
        f"rejected: {_counts(coverage.rejected)}; scored: {_counts(coverage.scored)}; preempted: {coverage.preempted}"
    )
    sys.exit(1 if found or never else 0)


def _counts(counter: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counter.items()))


if __name__ == "__main__":
    main()
