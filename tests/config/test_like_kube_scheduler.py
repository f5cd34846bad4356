"""What the real kube-scheduler makes of a configuration means the same here as the configuration itself."""

import subprocess
from pathlib import Path

import pytest
import yaml

from plugins.registry import BUILT_IN
from scheduler.config import Profile, load
from tests.config.test_samples import SAMPLES
from tests.controlplane.binaries import Binaries


def written_by(binaries: Binaries, given: str, folder: Path) -> str:
    """The configuration with all defaults, as kube-scheduler would go by it. It needs no API server for that."""
    before, after = folder / "given.yaml", folder / "written.yaml"
    before.write_text(given)
    command: list[str | Path] = [binaries.path("kube-scheduler"), f"--config={before}", f"--write-config-to={after}"]
    subprocess.run([*command, "--master=http://127.0.0.1:1"], check=True, capture_output=True, timeout=30)
    return after.read_text()


def meaning(profile: Profile) -> object:
    """Plugins, and the arguments of each, whether they were said or are the default."""
    named = {ref.name for refs in profile.plugins.values() for ref in refs}
    args = {name: profile.args.get(name) or BUILT_IN[name].Args() for name in named}
    return profile.scheduler_name, profile.plugins, args, profile.percentage_of_nodes_to_score or 0


@pytest.mark.controlplane("kube-scheduler")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_sample_and_what_kube_scheduler_makes_of_it_mean_the_same(
    path: Path, binaries: Binaries, tmp_path: Path
) -> None:
    document = yaml.safe_load(path.read_text())
    document.pop("clientConnection", None)
    # Without a name the profile of either scheduler has its own.
    document.setdefault("profiles", [{"schedulerName": "plain"}])
    given = yaml.safe_dump(document)
    written = written_by(binaries, given, tmp_path)
    ours = load(given, path.name, BUILT_IN)
    theirs = load(written, "written.yaml", BUILT_IN)
    assert [meaning(profile) for profile in theirs.profiles] == [meaning(profile) for profile in ours.profiles]
