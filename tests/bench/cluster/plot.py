"""A picture of the results: pods per second of each contender, workload by workload."""

from pathlib import Path

from matplotlib.figure import Figure

from tests.bench.cluster.results import Report

_COLOURS = {"ceiling": "#c7c7c7", "kube-scheduler": "#326ce5", "berth": "#e4572e"}


def draw(report: Report, path: Path) -> None:
    """Write a PNG: one row of bars for each number of nodes."""
    sizes = sorted({result.nodes for result in report.results})
    figure = Figure(figsize=(12, 4.2 * len(sizes)), layout="constrained")
    for axes, size in zip(figure.subplots(len(sizes), squeeze=False)[:, 0], sizes, strict=True):
        results = [result for result in report.results if result.nodes == size]
        names = [name for name in _COLOURS if any(name in result.contenders() for result in results)]
        width = 0.8 / len(names)
        for number, name in enumerate(names):
            speeds = [result.median(name, lambda run: run.pods_per_second) or 0.0 for result in results]
            places = [at + number * width for at in range(len(results))]
            axes.bar(places, speeds, width, label=name, color=_COLOURS[name])
        axes.set_xticks([at + 0.4 - width / 2 for at in range(len(results))], [result.workload for result in results])
        axes.tick_params(axis="x", rotation=30)
        axes.set_ylabel("pods/s")
        axes.set_title(f"{size} nodes")
        axes.legend()
    figure.savefig(path, dpi=110)
