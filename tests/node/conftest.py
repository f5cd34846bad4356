"""A whole cluster of one node, for the tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import Binaries
from tests.controlplane.components import controller_manager, kube_scheduler
from tests.node.images import BERTH, Images
from tests.node.machine import Machine

PORT = 16443  # as manifests/overlays/node-test has it


@pytest.fixture(scope="module")
def cluster(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """API server with every default admission plugin, controllers and kube-scheduler: what berth finds in a cluster."""
    folder = tmp_path_factory.mktemp("node")
    with (
        ApiServer(binaries, folder, admission_off=(), port=PORT) as server,
        controller_manager(server),
        kube_scheduler(server),
    ):
        yield server


@pytest.fixture(scope="module")
def machine(cluster: ApiServer) -> Iterator[Machine]:
    """The node, with the image of this checkout."""
    images = Images(cluster.folder / "images.log")
    images.build_base()
    images.build_berth()
    with Machine(cluster) as machine:
        machine.load(BERTH)
        yield machine
