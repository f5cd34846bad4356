"""tests/node/install.sh where nothing can be had: one line that says what is missing."""

import shutil
import subprocess
from pathlib import Path

INSTALL = Path(__file__).parent / "install.sh"


def run_install(folder: Path, user_id: int) -> subprocess.CompletedProcess[str]:
    """Run it with a PATH of nothing but a shell, as whoever `id` claims to be."""
    for name in ("bash", "env"):
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    (folder / "id").write_text(f"#!/bin/sh\necho {user_id}\n")
    (folder / "id").chmod(0o755)
    return subprocess.run([INSTALL], env={"PATH": str(folder)}, capture_output=True, text=True, check=False)


def test_without_apt_the_missing_packages_are_named(tmp_path: Path) -> None:
    done = run_install(tmp_path, user_id=0)
    assert done.returncode == 1
    assert done.stderr.startswith("test-node: containerd runc buildah debootstrap")
    assert done.stderr.endswith("not installed, and no apt-get to get them with\n")


def test_without_root_nothing_is_tried(tmp_path: Path) -> None:
    done = run_install(tmp_path, user_id=1000)
    assert done.returncode == 1
    assert done.stderr == "test-node: a node needs root\n"
