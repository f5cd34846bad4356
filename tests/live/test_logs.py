"""What is logged, in which form, and how often."""

import subprocess
import sys

import msgspec
from structlog.testing import capture_logs

from scheduler.live.decisions import DecisionLog
from tests.builders import pod

PROGRAM = """
import logging
import structlog
from scheduler.live.logs import Format, configure

configure(Format({form!r}))
log = structlog.get_logger("berth")
log.info("bound", pod="default/a", node="n1", note="naïve")
log.debug("not shown")
logging.getLogger("kopf").warning("from %s", "a library")
logging.getLogger("aiohttp").info("not shown")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("broken")
"""


def said(form: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(form=form)], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_where_nobody_reads_along_each_line_is_one_json_object_whoever_logged_it() -> None:
    lines = [msgspec.json.decode(line, type=dict[str, str]) for line in said("auto")]
    assert [line["event"] for line in lines] == ["bound", "from a library", "broken"]
    bound, library, broken = lines
    assert (bound["level"], bound["pod"], bound["note"]) == ("info", "default/a", "naïve")
    assert bound["timestamp"].endswith("Z")
    assert (library["level"], library["logger"]) == ("warning", "kopf")
    assert "ZeroDivisionError" in broken["exception"]


def test_for_people_the_same_is_shown_as_text() -> None:
    text = "\n".join(said("console"))
    assert "bound" in text
    assert "pod=default/a" in text
    assert "from a library" in text
    assert "ZeroDivisionError" in text
    assert "not shown" not in text


def test_a_decision_is_one_line() -> None:
    log = DecisionLog(lambda: 0.0)
    with capture_logs() as lines:
        log.pod_bound(pod("a"), "n1", attempts=1, waited=0.25)
        log.pod_failed(pod("b"), "Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.")
    assert [(line["event"], line["log_level"], line["pod"]) for line in lines] == [
        ("bound", "info", "default/a"),
        ("not placed", "info", "default/b"),
    ]


def test_oddities_of_one_kind_are_told_now_and_then_with_how_many_were_not() -> None:
    moments = iter([0.0, 1.0, 2.0, 11.0])
    log = DecisionLog(lambda: next(moments))
    with capture_logs() as lines:
        for i in range(4):
            log.anomaly("pod moved", f"p{i}")
    assert [(line["detail"], line["not_told"]) for line in lines] == [("p0", 0), ("p3", 2)]
