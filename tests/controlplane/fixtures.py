"""pytest fixtures and hooks for the real control plane; tests/conftest.py loads them.

A test that uses `binaries`, itself or through another fixture, carries the marker `controlplane` by that alone. Written
out, the marker may name further binaries: `@pytest.mark.controlplane("kubemark")`. Without its binaries a test is skipped,
or fails when BERTH_REQUIRE_CONTROLPLANE=1.
"""

import os
import secrets
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from kubernetes.client import CoreV1Api

from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import Binaries, MissingBinaryError
from tests.controlplane.process import KeepsLogs, tail


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    """The control plane's binaries on this machine."""
    return Binaries.locate()


@pytest.fixture(scope="session")
def real_apiserver(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """One API server for the whole run. Use namespaces of your own, take nodes away again, and leave it running."""
    with ApiServer(binaries, tmp_path_factory.mktemp("controlplane")) as server:
        yield server


@pytest.fixture
def real_namespace(real_apiserver: ApiServer) -> Iterator[str]:
    """A namespace of this test's own on the shared API server; its pods are gone afterwards."""
    core = CoreV1Api(real_apiserver.admin)
    name = f"test-{secrets.token_hex(4)}"
    core.create_namespace({"metadata": {"name": name}})
    yield name
    core.delete_collection_namespaced_pod(name, grace_period_seconds=0)
    core.delete_namespace(name)


@pytest.fixture
def private_apiserver(binaries: Binaries, tmp_path: Path) -> Iterator[ApiServer]:
    """An API server for this test alone, free to be killed, filled with nodes, or joined by controllers."""
    folder = tmp_path / "controlplane"
    folder.mkdir()
    with ApiServer(binaries, folder) as server:
        yield server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "binaries" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.controlplane)


def pytest_runtest_setup(item: pytest.Item) -> None:
    marks = list(item.iter_markers("controlplane"))
    if not marks:
        return
    try:
        Binaries.locate().require("etcd", "kube-apiserver", *(name for mark in marks for name in mark.args))
    except MissingBinaryError as missing:
        if os.environ.get("BERTH_REQUIRE_CONTROLPLANE") == "1":
            pytest.fail(f"BERTH_REQUIRE_CONTROLPLANE=1, but {missing}", pytrace=False)
        pytest.skip(str(missing))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the ends of the logs beside a failure."""
    report = yield
    used = item.funcargs.values() if report.failed and isinstance(item, pytest.Function) else ()
    for keeper in used:
        if isinstance(keeper, KeepsLogs):
            report.sections.extend((f"end of {log}", tail(log)) for log in keeper.log_files())
    return report
