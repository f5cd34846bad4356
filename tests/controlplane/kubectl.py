"""kubectl of the pinned version, for what its own code does best: kustomize, apply, wait."""

import subprocess

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import ROOT, Binaries

MANIFESTS = ROOT / "manifests"


class KubectlError(Exception):
    """kubectl ended with a status other than 0; the text is what it said."""


def kubectl(server: ApiServer, *args: str, stdin: str | None = None) -> str:
    """Run kubectl as the administrator; its standard output."""
    kubeconfig = server.kubeconfig(server.folder / "kubectl.kubeconfig")
    return _run(server.binaries, f"--kubeconfig={kubeconfig}", *args, stdin=stdin)


def kustomize(binaries: Binaries, name: str) -> str:
    """The YAML that a folder below manifests/ renders to, such as `base` or `overlays/kind`."""
    return _run(binaries, "kustomize", str(MANIFESTS / name))


def _run(binaries: Binaries, *args: str, stdin: str | None = None) -> str:
    command = [str(binaries.path("kubectl")), *args]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if done.returncode:
        raise KubectlError(f"kubectl {' '.join(args)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
