"""Where the control plane's binaries are: KUBEBUILDER_ASSETS, or the folder that `make controlplane` fills."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


class MissingBinaryError(Exception):
    """Binaries that were asked for are not on this machine; the text names them, the folder and the remedy."""


@dataclass(frozen=True)
class Binaries:
    """A folder with executables such as `etcd` and `kube-apiserver`."""

    folder: Path

    @classmethod
    def locate(cls) -> "Binaries":
        """The folder in use, whether anything is in it or not."""
        given = os.environ.get("KUBEBUILDER_ASSETS")
        return cls(Path(given) if given else ROOT / ".cache" / "controlplane" / pinned_version())

    def path(self, name: str) -> Path:
        """The executable of that name; raises MissingBinaryError."""
        self.require(name)
        return self.folder / name

    def require(self, *names: str) -> None:
        """Raise MissingBinaryError unless all of these are there and executable."""
        missing = [name for name in names if not os.access(self.folder / name, os.X_OK)]
        if missing:
            raise MissingBinaryError(
                f"{', '.join(missing)} not in {self.folder}: run `make controlplane` (needs Go) or set KUBEBUILDER_ASSETS"
            )


def pinned_version() -> str:
    """The Kubernetes version that tools/controlplane/go.mod pins, as `v1.36.5`."""
    text = (ROOT / "tools" / "controlplane" / "go.mod").read_text()
    found = re.search(r"^\s*k8s\.io/kubernetes (v\S+)", text, re.MULTILINE)
    assert found, "tools/controlplane/go.mod does not pin k8s.io/kubernetes"
    return found.group(1)
