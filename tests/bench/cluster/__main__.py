"""`python -m tests.bench.cluster`: alternate the contenders on one API server for each workload, and tell what came out."""

import asyncio
import os
import platform
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.progress import Progress, TaskID

from tests.bench.cluster.arena import arena
from tests.bench.cluster.checks import BrokenRuleError
from tests.bench.cluster.contenders import CONTENDERS, Contender
from tests.bench.cluster.log import StalledError
from tests.bench.cluster.report import table
from tests.bench.cluster.results import Report, Result, Run
from tests.bench.cluster.run import run
from tests.bench.cluster.workloads.catalog import WORKLOADS
from tests.bench.cluster.workloads.model import Workload


def _workloads(_: click.Context, __: click.Parameter, value: str) -> list[Workload]:
    prefixes = [prefix for prefix in value.split(",") if prefix]
    chosen = [w for w in WORKLOADS.values() if not prefixes or w.name.startswith(tuple(prefixes))]
    if not chosen:
        raise click.BadParameter(f'found "{value}", allowed: beginnings of {", ".join(WORKLOADS)}')
    return chosen


def _sizes(_: click.Context, __: click.Parameter, value: str) -> list[int]:
    if not all(size.isdigit() and int(size) > 0 for size in value.split(",")):
        raise click.BadParameter(f'found "{value}", allowed: numbers of nodes with commas between them')
    return [int(size) for size in value.split(",")]


def machine() -> str:
    """What everything ran on, all of it together."""
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Linux {platform.release()}, Python {platform.python_version()}"
    )


@click.command()
@click.option(
    "--only", "workloads", default="", callback=_workloads, help="Workloads whose names begin so; with commas."
)
@click.option("--nodes", "sizes", default="1000,5000", callback=_sizes, show_default=True)
@click.option("--pods", type=click.IntRange(1), help="Measured pods, instead of the workload's own number.")
@click.option(
    "--rounds", type=click.IntRange(1), default=5, show_default=True, help="Runs of each, in alternating order."
)
@click.option("--contender", "names", type=click.Choice(list(CONTENDERS)), multiple=True, help="Measure these alone.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("bench.json"), show_default=True)
def main(
    workloads: list[Workload], sizes: list[int], pods: int | None, rounds: int, names: tuple[str, ...], out: Path
) -> None:
    """Measure kube-scheduler, berth and the API server's ceiling side by side. Results are written after each workload."""
    contenders = [contender for contender in CONTENDERS.values() if not names or contender.name in names]
    console = Console()
    report = Report(machine(), {contender.name: contender.about for contender in contenders}, rounds, [])
    console.print(report.machine, *(f"{name}: {about}" for name, about in report.contenders.items()), sep="\n")
    total = len(sizes) * rounds * sum(_takes_part(c, w) for c in contenders for w in workloads)
    with Progress(console=console) as progress:
        task = progress.add_task("", total=total)
        for size in sizes:
            for workload in (w.sized(pods) for w in workloads):
                try:
                    runs = asyncio.run(_measure(size, workload, contenders, rounds, (progress, task)))
                except (BrokenRuleError, StalledError) as problem:
                    raise click.ClickException(f"{workload.name}, {size} nodes: {problem}") from problem
                report.results.append(Result(workload.name, workload.about, size, workload.count, runs))
                out.write_bytes(msgspec.json.format(msgspec.json.encode(report)))
                console.print(table(report.results[-1]))
    console.print(f"written to {out}; python -m tests.bench.cluster.report {out} makes a page of it")


async def _measure(
    size: int, workload: Workload, contenders: list[Contender], rounds: int, shown: tuple[Progress, TaskID]
) -> list[Run]:
    """All rounds of a workload on one API server."""
    progress, task = shown
    runs = []
    async with arena(size) as made:
        for number in range(rounds):
            for contender in contenders if number % 2 == 0 else reversed(contenders):
                if not _takes_part(contender, workload):
                    continue
                what = f"{workload.name}, {size} nodes, round {number + 1}, {contender.name}"
                progress.update(task, description=what)
                runs.append(await run(made, workload, contender, number + 1))
                progress.console.print(f"{what}: {runs[-1].pods_per_second:.0f} pods/s", highlight=False)
                progress.advance(task)
    return runs


def _takes_part(contender: Contender, workload: Workload) -> bool:
    return contender.is_scheduler or workload.with_ceiling


if __name__ == "__main__":
    main()
