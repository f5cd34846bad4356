"""The import contracts of pyproject.toml: each fires when it is violated, and together they leave nothing out."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from plugins.registry import BUILT_IN
from tests.builders import JsonObject

ROOT = Path(__file__).parents[2]
CONTRACTS: dict[str, JsonObject] = {
    contract["id"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}
DRIVERS = {"cli", "live", "sandbox"}

# For each contract a module and an import that it must not have.
VIOLATIONS = {
    "layers": ("scheduler/matching.py", "from scheduler import framework"),
    "plugins-see-the-framework-only": ("plugins/node_name.py", "from scheduler.cache import nodes"),
    "plugins-are-independent": ("plugins/node_name.py", "from plugins import node_ports"),
    "core-is-pure": ("scheduler/queue/backoff.py", "import time"),
    "in-memory-api-is-repeatable": ("scheduler/sandbox/cluster.py", "import time"),
    "core-names-no-plugin": ("scheduler/runtime/profile.py", "from plugins import node_name"),
}


def lint(directory: Path, contract: str) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).with_name("lint-imports")
    # Wide lines, for the tool wraps what it says.
    environment = {"PYTHONPATH": str(directory), "COLUMNS": "200"}
    command: list[str | Path] = [tool, "--no-cache", "--no-logo", "--contract", contract]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The packages and their contracts, to be spoiled."""
    for package in ("scheduler", "plugins"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_violated_contract_is_reported_by_name(copy: Path, contract: str) -> None:
    module, statement = VIOLATIONS[contract]
    with (copy / module).open("a") as file:
        file.write(f"\n{statement}\n")
    result = lint(copy, contract)
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"{CONTRACTS[contract]['name']} BROKEN" in result.stdout
    assert module.removesuffix(".py").replace("/", ".") in result.stdout


def test_a_module_without_a_layer_is_reported(copy: Path) -> None:
    (copy / "scheduler" / "stray.py").write_text('"""Nobody knows where this belongs."""\n')
    result = lint(copy, "layers")
    assert result.returncode == 1
    assert "stray" in result.stdout


def test_every_module_but_the_drivers_is_held_to_purity() -> None:
    modules = {
        path.stem for path in (ROOT / "scheduler").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    pure = {name.removeprefix("scheduler.") for name in CONTRACTS["core-is-pure"]["source_modules"]} - {"plugins"}
    assert pure == modules - DRIVERS - {"__init__"}


def test_every_built_in_plugin_is_held_to_independence() -> None:
    files = {".".join(plugin.__module__.split(".")[:2]) for plugin in BUILT_IN.values()}
    assert set(CONTRACTS["plugins-are-independent"]["modules"]) == files
