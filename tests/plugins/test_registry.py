"""Plugins by name: built in, from installed packages, and by module and class."""

from pathlib import Path

import pytest

from plugins.node_name import NodeName
from plugins.registry import BUILT_IN, RegistryError, load_registry

MODULE = """
from scheduler.framework import SUCCESS, Filter

class Picky(Filter):
    name = "Picky"
    def filter(self, state, pod, node):
        return SUCCESS

class Usurper(Picky):
    name = "NodeName"

class Unfinished(Filter):
    name = "Unfinished"

class Nameless(Filter):
    def filter(self, state, pod, node):
        return SUCCESS

class Stranger:
    name = "Stranger"
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory on the import path, as of a package that somebody has installed."""
    (tmp_path / "elsewhere_policy.py").write_text(MODULE)
    (tmp_path / "elsewhere_broken.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def offer(site: Path, entry: str) -> None:
    info = site / "elsewhere-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[berth.plugins]\n{entry}\n")


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_plugin_is_registered_under_its_own_name(name: str) -> None:
    assert BUILT_IN[name].name == name


def test_without_anything_else_there_are_the_built_in_plugins() -> None:
    assert load_registry() == BUILT_IN


def test_an_installed_package_can_offer_plugins(site: Path) -> None:
    offer(site, "Picky = elsewhere_policy:Picky")
    registry = load_registry()
    assert registry.keys() - BUILT_IN.keys() == {"Picky"}


def test_a_plugin_can_be_named_by_module_and_class(site: Path) -> None:
    assert load_registry(["elsewhere_policy:Picky"])["Picky"].__name__ == "Picky"


def test_the_same_plugin_twice_is_once(site: Path) -> None:
    offer(site, "Picky = elsewhere_policy:Picky")
    assert load_registry(["elsewhere_policy:Picky"])["Picky"].__name__ == "Picky"


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("elsewhere_policy", "plugin elsewhere_policy: allowed: module:Class"),
        ("elsewhere_policy:Usurper", "the name NodeName is that of plugins.node_name:NodeName already"),
        ("elsewhere_policy:Unfinished", "plugin elsewhere_policy:Unfinished: does not implement filter"),
        ("elsewhere_policy:Nameless", "the class has no `name`"),
        ("elsewhere_policy:Stranger", "not a subclass of scheduler.framework.Plugin"),
        ("elsewhere_policy:Absent", "cannot be loaded: AttributeError"),
        ("elsewhere_absent:Picky", "cannot be loaded: ModuleNotFoundError: No module named 'elsewhere_absent'"),
        ("elsewhere_broken:Picky", "cannot be loaded: ZeroDivisionError: division by zero"),
    ],
)
def test_what_cannot_be_used_is_named_with_the_reason(site: Path, named: str, problem: str) -> None:
    with pytest.raises(RegistryError) as raised:
        load_registry([named])
    assert str(raised.value).startswith(f"plugin {named}: ")
    assert problem in str(raised.value)


def test_all_that_is_wrong_is_said_at_once(site: Path) -> None:
    offer(site, "Choosy = elsewhere_policy:Picky")
    with pytest.raises(RegistryError) as raised:
        load_registry(["elsewhere_policy:Stranger"])
    assert str(raised.value).splitlines() == [
        "plugin Choosy = elsewhere_policy:Picky: the class is named Picky, allowed: the name of the entry point",
        "plugin elsewhere_policy:Stranger: not a subclass of scheduler.framework.Plugin",
    ]


def test_a_failed_load_leaves_the_built_in_plugins_alone(site: Path) -> None:
    with pytest.raises(RegistryError):
        load_registry(["elsewhere_policy:Usurper"])
    assert BUILT_IN["NodeName"] is NodeName
