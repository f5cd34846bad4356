"""`python -m tests.bench.cluster`: alternate the contenders, and print medians and the ratio to kube-scheduler."""

import asyncio
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


def summary(title: str, runs: dict[str, list[Run]]) -> Table:
    table = Table("", "pods/s", "ratio", "CPU ms/pod", "server CPU ms/pod", "memory MB", "first Binding s", title=title)
    speeds = {name: median(run.pods_per_second for run in of_name) for name, of_name in runs.items()}
    for name, of_name in runs.items():
        table.add_row(
            name,
            f"{speeds[name]:.0f}",
            f"{speeds[name] / speeds[REFERENCE]:.2f}" if REFERENCE in speeds else "",
            median_of([run.cpu_ms_per_pod for run in of_name], ".2f"),
            median_of([run.server_cpu_ms_per_pod for run in of_name], ".2f"),
            median_of([run.resident_mb for run in of_name], ".0f"),
            median_of([run.start_seconds for run in of_name], ".1f"),
        )
    return table


def median_of(values: list[float | None], form: str) -> str:
    measured = [value for value in values if value is not None]
    return format(median(measured), form) if measured else ""


if __name__ == "__main__":
    main()
