"""tools/controlplane/build.sh: what cannot be built is told in one line."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.controlplane.binaries import ROOT

BUILD = ROOT / "tools" / "controlplane" / "build.sh"
TOOLS = ("bash", "env", "awk", "dirname", "rm")


def run_build(folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run it where the PATH has what any Linux has, and no Go."""
    for name in TOOLS:
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    clean = {key: value for key, value in os.environ.items() if key != "KUBEBUILDER_ASSETS"}
    return subprocess.run(
        [BUILD], env={**clean, "PATH": str(folder), **env}, capture_output=True, text=True, check=False
    )


def test_without_go_one_line_says_what_to_do(tmp_path: Path) -> None:
    done = run_build(tmp_path, OUT=str(tmp_path / "out"))
    assert done.returncode == 1
    assert done.stderr.startswith("controlplane: building etcd needs Go")
    assert done.stderr.count("\n") == 1


def test_nothing_is_built_where_assets_are_given(tmp_path: Path) -> None:
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / name).touch(mode=0o755)
    done = run_build(tmp_path, KUBEBUILDER_ASSETS=str(tmp_path))
    assert done.returncode == 0
    assert "nothing to build" in done.stderr


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver"])
def test_assets_without_a_needed_binary_are_refused_by_name(tmp_path: Path, name: str) -> None:
    for other in {"etcd", "kube-apiserver"} - {name}:
        (tmp_path / other).touch(mode=0o755)
    done = run_build(tmp_path, KUBEBUILDER_ASSETS=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"controlplane: KUBEBUILDER_ASSETS={tmp_path} has no {name}\n"
