"""Numbers of a page come from a file of results, and ratios are made within a round."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from tests.bench.cluster.__main__ import main as bench
from tests.bench.cluster.quality import Quality
from tests.bench.cluster.report import main as write_page
from tests.bench.cluster.results import Report, Result, Run


def run(contender: str, number: int, seconds: float) -> Run:
    return Run(
        contender=contender,
        round=number,
        pods=100,
        seconds=seconds,
        seconds_with_events=2 * seconds,
        events_missing=0,
        start_seconds=1.0,
        latency_p50_ms=5.0,
        latency_p99_ms=9.0,
        cpu_ms_per_pod=None if contender == "ceiling" else 0.5,
        server_cpu_ms_per_pod=1.5,
        etcd_cpu_ms_per_pod=0.5,
        resident_mb=100.0,
        peak_mb=120.0,
        quality=Quality(balance=1.0, skew=2.0, stranded=0.0, images=50.0),
    )


RESULT = Result(
    "plain",
    "pods",
    1000,
    100,
    [
        run(name, number, seconds)
        for name, times in (
            ("berth", [1.0, 2.0, 4.0]),
            ("kube-scheduler", [4.0, 4.0, 4.0]),
            ("ceiling", [1.0, 1.0, 2.0]),
        )
        for number, seconds in enumerate(times)
    ],
)


def test_ratios_are_those_of_a_round_and_then_their_median() -> None:
    assert RESULT.median("berth", lambda run: run.pods_per_second) == 50
    assert RESULT.ratio("berth", "kube-scheduler", lambda run: run.pods_per_second) == 2
    assert RESULT.ratio("berth", "ceiling", lambda run: run.pods_per_second) == 0.5
    assert RESULT.ratio("berth", "nobody", lambda run: run.pods_per_second) is None
    assert RESULT.median("ceiling", lambda run: run.cpu_ms_per_pod) is None


def test_a_page_gets_tables_and_a_plot_and_keeps_the_rest(tmp_path: Path) -> None:
    results, page = tmp_path / "bench.json", tmp_path / "page.md"
    results.write_bytes(msgspec.json.encode(Report("a machine", {"berth": "0.1.0"}, 3, [RESULT])))
    page.write_text("Before.\n<!-- results: begin -->old<!-- results: end -->\nAfter.\n")
    answer = CliRunner().invoke(write_page, [str(results), "--page", str(page)])
    assert answer.exit_code == 0, answer.output
    text = page.read_text()
    assert text.startswith("Before.\n")
    assert text.endswith("\nAfter.\n")
    assert "| plain | 1000 | berth | 50 | 2 | 0.5 |" in text
    assert "old" not in text
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    results, page = tmp_path / "bench.json", tmp_path / "page.md"
    results.write_bytes(msgspec.json.encode(Report("a machine", {}, 3, [RESULT])))
    page.write_text("No marks.")
    answer = CliRunner().invoke(write_page, [str(results), "--page", str(page)])
    assert answer.exit_code == 1
    assert "found no single pair of marks" in answer.output
    assert page.read_text() == "No marks."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "nothing"], 'found "nothing", allowed: beginnings of plain'),
        (["--nodes", "many"], 'found "many", allowed: numbers of nodes'),
        (["--rounds", "0"], "0 is not in the range x>=1"),
    ],
)
def test_what_cannot_be_measured_is_said_at_once(arguments: list[str], message: str) -> None:
    answer = CliRunner().invoke(bench, arguments)
    assert answer.exit_code == 2
    assert message in " ".join(answer.output.split())
