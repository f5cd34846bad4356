"""A whole cluster of one node, for the tests of this folder."""

import fcntl
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest

from tests.apiserver.audit import AuditLog
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import Binaries
from tests.controlplane.components import controller_manager, kube_scheduler
from tests.node.images import BERTH, Images
from tests.node.machine import Machine

PORT = 16443  # as manifests/overlays/node-test has it


@pytest.fixture(scope="module")
def alone() -> Iterator[None]:
    """Wait until no other run has a node on this machine: port, ports of pods and the cgroups of pods are one machine's."""
    with (Path(gettempdir()) / "berth-node.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> AuditLog:
    """Who wrote what to the cluster, as its API server saw it."""
    return AuditLog(tmp_path_factory.mktemp("audit"))


@pytest.fixture(scope="module")
def cluster(
    alone: None, binaries: Binaries, audit: AuditLog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiServer]:
    """API server with every default admission plugin, controllers and kube-scheduler: what berth finds in a cluster."""
    folder = tmp_path_factory.mktemp("node")
    with (
        ApiServer(binaries, folder, extra=audit.flags, admission_off=(), port=PORT) as server,
        controller_manager(server),
        kube_scheduler(server),
    ):
        yield server


@pytest.fixture(scope="module")
def machine(cluster: ApiServer, pytestconfig: pytest.Config) -> Iterator[Machine]:
    """The node, with the image of this checkout."""
    terminal = pytestconfig.pluginmanager.getplugin("terminalreporter")
    images = Images(cluster.folder / "images.log", tell=terminal.write_line)
    images.build_base()
    images.build_berth()
    with Machine(cluster, images) as machine:
        machine.load(BERTH)
        yield machine
