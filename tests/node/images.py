"""Images without a registry: a Debian base from debootstrap, and on it the project's own Dockerfile, both kept in .cache."""

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.controlplane.binaries import ROOT

SUITE = "bookworm"
BASE = f"docker.io/local/base:{SUITE}"  # its entry point sleeps, so it serves as pause image and as workload too
BERTH = "docker.io/library/berth:0.1.0"  # what `berth:0.1.0` in manifests/base means to a kubelet
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CERTIFICATES = "/etc/ssl/certs"


class Images:
    """A buildah store; layers outlive the test run, so that a second one is quick."""

    def __init__(self, log: Path, tell: Callable[[str], None]) -> None:
        self._store = ROOT / ".cache" / "node" / "images"
        self._log = log
        self._tell = tell

    def build_base(self) -> None:
        """Debian with Python, unless the store has it (about a minute)."""
        if self._buildah("images", "--quiet", "--filter", f"reference={BASE}"):
            return
        self._tell(f"making {BASE} with debootstrap")
        with tempfile.TemporaryDirectory(prefix="berth-base-") as root:
            packages = "--include=python3,python3-venv,ca-certificates"
            self._run("debootstrap", "--variant=minbase", packages, SUITE, root)
            container = self._buildah("from", "scratch")
            self._buildah("copy", container, root, "/")
            self._buildah("config", f"--env=PATH={PATH}", '--entrypoint=["sleep", "infinity"]', container)
            self._buildah("commit", "--rm", container, BASE)

    def build_berth(self) -> None:
        """The Dockerfile of this checkout on that base."""
        self._tell(f"building {BERTH} from Dockerfile")
        self._buildah(
            "bud",
            "--layers",
            "--isolation=chroot",
            "--network=host",
            f"--volume={CERTIFICATES}:{CERTIFICATES}:ro",
            f"--build-arg=BASE={BASE}",
            f"--tag={BERTH}",
            str(ROOT),
        )

    def export(self, image: str, archive: Path) -> None:
        """Write an OCI archive that containerd can import."""
        self._tell(f"exporting {image}")
        self._buildah("push", "--quiet", image, f"oci-archive:{archive}:{image}")

    def _buildah(self, *args: str) -> str:
        return self._run("buildah", f"--root={self._store}", f"--runroot={self._store}-run", *args)

    def _run(self, *command: str) -> str:
        """Its standard output; what it says besides goes to the log, whose end an error carries."""
        with self._log.open("a") as log:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, check=False)
            log.write(done.stdout)
        if done.returncode:
            end = self._log.read_text()[-3000:]
            raise RuntimeError(f"{command[0]} ended with status {done.returncode}; {self._log} ends:\n{end}")
        return done.stdout.strip()
