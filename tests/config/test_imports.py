"""Plugins that a file names as `module:Class`."""

from pathlib import Path

import pytest

from plugins.registry import load_registry
from scheduler.config import ConfigError, load, load_object
from tests.config.files import HEAD

MODULE = """
from scheduler.framework import SUCCESS, CycleState, Filter, NodeInfo, PodInfo, Status

class Picky(Filter):
    name = "Picky"

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        return SUCCESS

class Impostor(Picky):
    name = "NodeName"
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "picky_example.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))


def enabling(name: str) -> str:
    return f'{HEAD}profiles:\n- plugins:\n    multiPoint:\n      enabled:\n      - name: "{name}"\n'


def test_such_a_plugin_goes_by_its_own_name_and_may_have_arguments() -> None:
    registry = load_registry()
    text = enabling("picky_example:Picky") + '  pluginConfig:\n  - name: "picky_example:Picky"\n'
    profile = load(text, "file.yaml", registry).profiles[0]
    assert profile.plugins["filter"][-1].name == "Picky"
    assert "Picky" in registry
    assert "Picky" in profile.args
    again = load(enabling("picky_example:Picky"), "file.yaml", registry)
    assert again.profiles[0].plugins == profile.plugins


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("picky_example:Other", "cannot be loaded: AttributeError"),
        ("nowhere:Picky", "cannot be loaded: ModuleNotFoundError"),
        ("picky_example:CycleState", "not a subclass of scheduler.framework.Plugin"),
        ("picky_example:Impostor", "the name NodeName is that of plugins.node_name:NodeName already"),
    ],
)
def test_one_that_cannot_be_used_is_an_error_with_line_and_field(place: str, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load(enabling(place), "file.yaml", load_registry())
    (said,) = raised.value.problems
    where = "file.yaml:7: profiles[0].plugins.multiPoint.enabled[0].name"
    assert said.startswith(f'{where}: found "{place}", which cannot be used: {problem}')


def test_an_object_brings_in_no_code() -> None:
    tree = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "picky_example:Picky"}]}}}],
    }
    with pytest.raises(
        ConfigError, match=r"enabled\[0\]\.name: .*allowed: the name of a plugin; module:Class in files only"
    ):
        load_object(tree, "spec.configuration", load_registry())
