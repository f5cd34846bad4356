"""`python -m tests.bench.cluster`: alternate the contenders, and print medians and the ratio to kube-scheduler."""

import asyncio
from collections.abc import Callable
from statistics import median

import click
from rich.console import Console
from rich.table import Table

from tests.bench.cluster.contenders import CONTENDERS
from tests.bench.cluster.measure import Run, measure
from tests.controlplane.binaries import pinned_version

REFERENCE = "kube-scheduler"


@click.command()
@click.option("--nodes", "sizes", type=click.IntRange(1), multiple=True, default=(1000, 5000), show_default=True)
@click.option("--pods", type=click.IntRange(1), default=2000, show_default=True, help="The backlog.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Runs of each, alternating.")
@click.option("--only", type=click.Choice(list(CONTENDERS)), multiple=True, help="Measure these alone.")
def main(sizes: tuple[int, ...], pods: int, rounds: int, only: tuple[str, ...]) -> None:
    """Measure how fast a backlog of plain pods is bound on a real API server that shares this machine."""
    names = [name for name in CONTENDERS if not only or name in only]
    console = Console()
    for size in sizes:
        runs: dict[str, list[Run]] = {name: [] for name in names}
        for number in range(rounds):
            for name in names if number % 2 == 0 else reversed(names):
                run = asyncio.run(measure(name, size, pods))
                runs[name].append(run)
                console.print(
                    f"{size} nodes, round {number + 1}, {name}: {run.pods_per_second:.0f} pods/s", highlight=False
                )
        console.print(summary(f"{pods} pods on {size} nodes, {pinned_version()}, median of {rounds}", runs))


COLUMNS: dict[str, Callable[[Run], float | None]] = {
    "with Events": lambda run: run.pods_per_second_with_events,
    "Events missing": lambda run: run.events_missing,
    "CPU ms/pod": lambda run: run.cpu_ms_per_pod,
    "server CPU ms/pod": lambda run: run.server_cpu_ms_per_pod,
    "memory MB": lambda run: run.resident_mb,
    "first Binding s": lambda run: run.start_seconds,
}


def summary(title: str, runs: dict[str, list[Run]]) -> Table:
    """Medians, one row a contender."""
    table = Table("", "pods/s", "ratio", *COLUMNS, title=title)
    speeds = {name: median(run.pods_per_second for run in of_name) for name, of_name in runs.items()}
    for name, of_name in runs.items():
        ratio = f"{speeds[name] / speeds[REFERENCE]:.2f}" if REFERENCE in speeds else ""
        medians = [median_of([column(run) for run in of_name]) for column in COLUMNS.values()]
        table.add_row(name, f"{speeds[name]:.0f}", ratio, *medians)
    return table


def median_of(values: list[float | None]) -> str:
    """Three digits that matter, empty for what was not measured."""
    measured = [value for value in values if value is not None]
    return f"{median(measured):.3g}" if measured else ""


if __name__ == "__main__":
    main()
