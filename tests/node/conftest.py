"""A whole cluster of one node, for the tests of this folder."""

from collections.abc import Iterator

import pytest
import yaml

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import Binaries
from tests.controlplane.components import controller_manager, kube_scheduler
from tests.node.images import BERTH, Images
from tests.node.machine import Machine

PORT = 16443  # as manifests/overlays/node-test has it
AUDIT_LOG = "audit.jsonl"


# who asked for a Binding, as the API server saw it
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "resources": [{"group": "", "resources": ["pods/binding"]}]}, {"level": "None"}],
}


@pytest.fixture(scope="module")
def cluster(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """API server with every default admission plugin, controllers and kube-scheduler: what berth finds in a cluster."""
    folder = tmp_path_factory.mktemp("node")
    policy = folder / "audit-policy.yaml"
    policy.write_text(yaml.safe_dump(AUDIT_POLICY))
    audit = (f"--audit-policy-file={policy}", f"--audit-log-path={folder / AUDIT_LOG}")
    with (
        ApiServer(binaries, folder, extra=audit, admission_off=(), port=PORT) as server,
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
