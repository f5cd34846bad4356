"""`berth config`."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from scheduler.cli import main

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def berth_config(*arguments: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "160"}).invoke(main, ["config", *map(str, arguments)])


def test_without_a_file_the_defaults_are_shown() -> None:
    result = berth_config()
    assert result.exit_code == 0
    assert "Profile berth" in result.stdout
    assert "TaintToleration (3), NodeAffinity (2), NodeResourcesFit (1)" in result.stdout
    assert "nodes scored: all" in result.stdout


def test_what_a_file_comes_to_is_shown_for_each_profile(file: Path) -> None:
    file.write_text(
        HEAD
        + """
podMaxBackoffSeconds: 60
leaderElection: {leaderElect: false}
profiles:
- schedulerName: spread
- schedulerName: pack
  percentageOfNodesToScore: 20
  plugins:
    score: {disabled: [{name: "*"}], enabled: [{name: NodeResourcesFit, weight: 5}]}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
"""
    )
    result = berth_config(file)
    assert result.exit_code == 0
    spread, pack = result.stdout.split("Profile pack")
    assert "Profile spread" in spread
    assert "type: LeastAllocated" in spread
    assert "NodeResourcesFit (5)" in pack
    assert "type: MostAllocated" in pack
    assert "nodes scored: 20 %" in pack
    fields = {cells[1].strip(): cells[2].strip() for line in pack.splitlines() if len(cells := line.split("│")) == 4}
    assert fields["podMaxBackoffSeconds"] == "60"
    assert fields["leaderElection.leaderElect"] == "false"
    assert "leaderElection.resourceName" not in fields


def test_all_that_is_wrong_is_said_and_nothing_else(file: Path) -> None:
    file.write_text(HEAD + "parallelism: 0\nprofile: []\n")
    result = berth_config(file)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert [line.partition(", allowed")[0] for line in result.stderr.splitlines()] == [
        f"berth: {file}:3: parallelism: found 0",
        f"berth: {file}:4: profile: unknown field",
    ]


def test_a_file_that_cannot_be_read_is_one_line(file: Path) -> None:
    assert berth_config(file).stderr == f"berth: {file}: No such file or directory\n"
    file.write_bytes(b"\xff\xfe")
    assert berth_config(file).stderr == f"berth: {file}: not text in UTF-8: invalid start byte at byte 0\n"
    assert berth_config(file.parent).stderr == f"berth: {file.parent}: Is a directory\n"
    assert berth_config(file).exit_code == 1


def test_plugins_of_ones_own_can_be_named(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_policy.py").write_text(
        "from scheduler.framework import SUCCESS, Filter\n"
        "class Picky(Filter):\n"
        "    name = 'Picky'\n"
        "    def filter(self, state, pod, node):\n"
        "        return SUCCESS\n"
    )
    file.write_text(HEAD + "profiles: [{plugins: {filter: {enabled: [{name: Picky}]}}}]\n")
    assert berth_config(file).exit_code == 1
    result = berth_config(file, "--plugin", "own_policy:Picky")
    assert result.exit_code == 0
    assert ", Picky" in result.stdout
    assert berth_config("--plugin", "own_policy:Nobody").stderr.startswith(
        "berth: plugin own_policy:Nobody: cannot be "
    )


def test_extenders_are_shown_in_the_order_in_which_they_are_called(file: Path) -> None:
    file.write_text(
        HEAD
        + """
extenders:
- {urlPrefix: "http://spare", filterVerb: f, ignorable: true, httpTimeout: 2s}
- urlPrefix: "http://gpu"
  prioritizeVerb: p
  weight: 3
  bindVerb: b
  nodeCacheCapable: true
  managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]
"""
    )
    shown = " ".join(berth_config(file).stdout.split())
    gpu = "prioritize (weight 3), bind, about pods that want example.com/gpu; is sent names of nodes, within 5s"
    spare = "filter, about all pods; is sent whole nodes, within 2s, ignored if it fails"
    assert shown.index(gpu) < shown.index(spare)
    assert shown.count("example.com/gpu") == 2, "among the arguments of NodeResourcesFit too"
