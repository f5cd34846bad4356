"""Tables and a plot of what was measured; `python -m tests.bench.cluster.report bench.json` puts them on docs/performance.md."""

from collections.abc import Callable, Iterable
from pathlib import Path

import click
import msgspec
from rich.table import Table

from tests.bench.cluster.plot import draw
from tests.bench.cluster.results import Report, Result, Run

REFERENCE, CEILING = "kube-scheduler", "ceiling"
_BEGIN, _END = "<!-- results: begin -->", "<!-- results: end -->"

Column = Callable[[Result, str], float | None]


def _median(value: Callable[[Run], float | None]) -> Column:
    return lambda result, contender: result.median(contender, value)


def _ratio(to: str) -> Column:
    return lambda result, contender: result.ratio(contender, to, lambda run: run.pods_per_second)


def _quality(name: str) -> Column:
    return _median(lambda run: None if run.quality is None else getattr(run.quality, name))


SPEED: dict[str, Column] = {
    "pods/s": _median(lambda run: run.pods_per_second),
    "x kube-scheduler": _ratio(REFERENCE),
    "x ceiling": _ratio(CEILING),
    "pods/s with Events": _median(lambda run: run.pods_per_second_with_events),
    "p50 ms": _median(lambda run: run.latency_p50_ms),
    "p99 ms": _median(lambda run: run.latency_p99_ms),
}
COST: dict[str, Column] = {
    "CPU ms/pod": _median(lambda run: run.cpu_ms_per_pod),
    "API server CPU ms/pod": _median(lambda run: run.server_cpu_ms_per_pod),
    "etcd CPU ms/pod": _median(lambda run: run.etcd_cpu_ms_per_pod),
    "memory MB": _median(lambda run: run.resident_mb),
    "peak MB": _median(lambda run: run.peak_mb),
    "start s": _median(lambda run: run.start_seconds),
    "Events missing": _median(lambda run: run.events_missing),
}
QUALITY: dict[str, Column] = {
    "balance %": _quality("balance"),
    "zone skew": _quality("skew"),
    "stranded cpu %": _quality("stranded"),
    "images reused %": _quality("images"),
}


def table(result: Result) -> Table:
    """One workload for the terminal: medians, a row for each contender."""
    columns = {**SPEED, **COST, **QUALITY}
    made = Table("", *result.contenders(), title=f"{result.workload}: {result.pods} pods on {result.nodes} nodes")
    for name, column in columns.items():
        made.add_row(name, *(_number(column(result, contender)) for contender in result.contenders()))
    return made


def markdown(report: Report, columns: dict[str, Column]) -> str:
    """Some columns of all results."""
    lines = [_line(["workload", "nodes", "", *columns]), _line(["---"] * (len(columns) + 3))]
    for result in report.results:
        for contender in result.contenders():
            cells = [_number(column(result, contender)) for column in columns.values()]
            lines.append(_line([result.workload, str(result.nodes), contender, *cells]))
    return "\n".join(lines)


def results_text(report: Report, plot: str) -> str:
    """What is put into the page."""
    who = "\n".join(f"* {name}: {about}" for name, about in report.contenders.items())
    what = "\n".join(f"* `{name}`: {about}" for name, about in _abouts(report.results))
    how = (
        f"Machine: {report.machine}; API server, etcd, scheduler and the benchmark itself share it. Medians of"
        f" {report.rounds} rounds, in each of which the contenders ran one after the other on the same API server, in"
        " alternating order."
    )
    return "\n\n".join(
        [
            how,
            who,
            f"![Pods per second by workload]({plot})",
            markdown(report, SPEED),
            markdown(report, COST),
            markdown(report, QUALITY),
            what,
        ]
    )


def _abouts(results: Iterable[Result]) -> Iterable[tuple[str, str]]:
    return {result.workload: result.about for result in results}.items()


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float | None) -> str:
    """Three digits that matter, empty for what was not measured."""
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


@click.command()
@click.argument("results", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--page", type=click.Path(exists=True, dir_okay=False, path_type=Path), default=Path("docs/performance.md")
)
def main(results: Path, page: Path) -> None:
    """Put measured results into a page, between the two marks that it has, and a plot beside it."""
    report = msgspec.json.decode(results.read_bytes(), type=Report)
    plot = page.with_suffix(".png")
    draw(report, plot)
    text = page.read_text()
    if text.count(_BEGIN) != 1 or text.count(_END) != 1:
        raise click.ClickException(f"{page}: found no single pair of marks, allowed: {_BEGIN} and {_END} once each")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    page.write_text(f"{before}{_BEGIN}\n\n{results_text(report, plot.name)}\n\n{_END}{after}")
    click.echo(f"{page} and {plot}")


if __name__ == "__main__":
    main()
