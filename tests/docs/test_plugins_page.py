"""docs/plugins.md: its examples are run as a reader would run them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from plugins.registry import load_registry
from scheduler.cli import main
from scheduler.config import load
from scheduler.framework import EXTENSION_POINTS, RowScore
from tests.builders import node, pod
from tests.plugins.cluster import Cluster

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "plugins"
PAGE = (ROOT / "docs" / "plugins.md").read_text()
FILES: dict[str, str] = dict(re.findall(r"^```\w+\n# (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the files of the page, where the reader works."""
    for name, body in FILES.items():
        (tmp_path / name).write_text(body)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def run(directory: Path, *module_and_arguments: str) -> str:
    command = [sys.executable, "-m", *module_and_arguments]
    environment = {"PYTHONPATH": f"{directory}:{ROOT}", "MYPYPATH": str(directory)}
    result = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_page_has_the_files_it_speaks_of() -> None:
    assert set(FILES) == {
        *("quiet.py", "berth.yaml", "pyproject.toml", "test_quiet.py"),
        *("quiet_events.py", "spacious.py", "spacious.yaml"),
        *(path.name for path in EXAMPLES.glob("*.py")),
    }


def test_the_worked_examples_are_shown_as_they_are() -> None:
    files = {path.name: path.read_text() for path in EXAMPLES.glob("*.py")}
    assert len(files) == 5
    assert {name: FILES[name] for name in files} == files


def test_the_first_plugin_has_ten_lines() -> None:
    assert len([line for line in FILES["quiet.py"].splitlines() if line]) <= 10


def test_the_readers_test_passes(example: Path) -> None:
    assert "1 passed" in run(example, "pytest", "-q", "-p", "no:cacheprovider", "test_quiet.py")


def test_the_examples_are_typed(example: Path) -> None:
    modules = [name for name in FILES if name.endswith(".py")]
    run(example, "mypy", f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={ROOT / '.mypy_cache'}", *modules)


def test_the_configuration_shows_the_plugin_last_among_the_filters(example: Path) -> None:
    result = CliRunner(env={"COLUMNS": "160"}).invoke(main, ["config", "berth.yaml", "--plugin", "quiet:Quiet"])
    assert result.exit_code == 0, result.stderr
    assert ", Quiet" in result.stdout


def test_the_plugin_with_arguments_scores_by_them(example: Path) -> None:
    registry = load_registry(["spacious:Spacious"])
    made = load((example / "spacious.yaml").read_text(), "spacious.yaml", registry).profiles[0]
    assert made.plugins["score"][-1].weight == 5
    gpus = [
        node(name, resources={"nvidia.com/gpu": number})
        for name, number in (("none", "0"), ("two", "2"), ("four", "4"))
    ]
    cluster = Cluster(*gpus)
    plugin = registry["Spacious"](made.args["Spacious"], cluster.handle)
    assert isinstance(plugin, RowScore)
    assert cluster.scores(plugin, pod("p")) == {"none": 0, "two": 50, "four": 100}


def test_wrong_arguments_are_an_error_of_the_file(example: Path) -> None:
    registry = load_registry(["spacious:Spacious"])
    text = (example / "spacious.yaml").read_text().replace("atLeast: 1", "atLeast: -1")
    with pytest.raises(ValueError, match=r"^spacious\.yaml:14: .*\.args\.atLeast: found -1, allowed: 0 and more$"):
        load(text, "spacious.yaml", registry)


def test_the_table_of_extension_points_is_complete_and_in_order() -> None:
    table = PAGE.split("## Extension points")[1].split("`pre_bind`, `bind`")[0]
    classes = re.findall(
        r"`(\w+)`", " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    )
    assert classes == [kind.__name__ for kinds in EXTENSION_POINTS.values() for kind in kinds]
