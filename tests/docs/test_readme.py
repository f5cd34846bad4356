"""The README tells the truth: its plugin works, its commands and links exist, its demo ends well."""

import re
import subprocess
import sys
from pathlib import Path

from scheduler.framework import CycleState, Filter, NodeInfo
from tests.builders import node, pod

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_plugin_in_the_readme_refuses_what_it_says() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    names: dict[str, object] = {}
    exec(code, names)  # noqa: S102  it is what the README asks people to write
    quiet = names["Quiet"]
    assert isinstance(quiet, type)
    assert issubclass(quiet, Filter)
    busy, idle = NodeInfo(node("busy")), NodeInfo(node("idle"))
    busy.pods = {name: pod(name) for name in ("a", "b")}
    plugin = quiet.__new__(quiet)
    wants_quiet = pod("p", labels={"quiet": "yes"})
    verdicts = [plugin.filter(CycleState(), wants_quiet, info).ok for info in (busy, idle)]
    assert verdicts == [False, True]


def test_every_make_target_in_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = {word for words in re.findall(r"make ((?:[a-z]+[a-z-]*\s?)+)", README) for word in words.split()}
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    assert {"demo", "test", "check", "controlplane"} <= named & targets


def test_every_link_in_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_demo_places_what_can_be_placed_and_explains_the_rest(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scheduler.cli", "demo", "--folder", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for said in ("3 x training", "train-big", "cache-0", "SchedulingGated", "Insufficient"):
        assert said in ended.stdout
