"""API servers that the live driver's parts are pointed at: the in-memory one with faults, and the real one."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import yaml

from scheduler.live.client import HttpTransport
from scheduler.live.credentials import Credentials
from tests.controlplane.apiserver import ApiServer
from tests.live.berth import Start, starter
from tests.live.faulty import FaultyApi, serve_faulty

Connect = Callable[[], HttpTransport]


@pytest.fixture
async def api() -> AsyncIterator[FaultyApi]:
    """The in-memory API, served over HTTP, with faults."""
    served = FaultyApi()
    async with serve_faulty(served):
        yield served


def kubeconfig_for(url: str, path: Path) -> Path:
    """A kubeconfig for a server that asks for no credentials."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "users": [{"name": "test", "user": {}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.fixture
async def connect(api: FaultyApi, tmp_path: Path) -> AsyncIterator[Connect]:
    """Makes sessions to the in-memory API, which end with the test."""
    kubeconfig = kubeconfig_for(api.url, tmp_path / "kubeconfig")
    async with AsyncExitStack() as stack:
        yield connector(stack, kubeconfig)


@pytest.fixture
async def connect_real(real_apiserver: ApiServer, tmp_path: Path) -> AsyncIterator[Connect]:
    """Makes sessions to the real API server, which end with the test."""
    kubeconfig = real_apiserver.kubeconfig(tmp_path / "kubeconfig")
    async with AsyncExitStack() as stack:
        yield connector(stack, kubeconfig)


@pytest.fixture
async def connect_as(real_apiserver: ApiServer, tmp_path: Path) -> AsyncIterator[Callable[[str], Connect]]:
    """As `connect_real`, with the token of another account."""
    async with AsyncExitStack() as stack:
        yield lambda token: connector(stack, real_apiserver.kubeconfig(tmp_path / "account", token))


@pytest.fixture
async def start(api: FaultyApi, tmp_path: Path) -> AsyncIterator[Start]:
    """Starts schedulers on the in-memory API, which end with the test."""
    async with starter(kubeconfig_for(api.url, tmp_path / "kubeconfig")) as make:
        yield make


@pytest.fixture
async def start_real(real_apiserver: ApiServer, tmp_path: Path) -> AsyncIterator[Start]:
    """Starts schedulers on the real API server, which end with the test."""
    async with starter(real_apiserver.kubeconfig(tmp_path / "kubeconfig")) as make:
        yield make


def connector(stack: AsyncExitStack, kubeconfig: Path) -> Connect:
    def make() -> HttpTransport:
        transport = HttpTransport(Credentials(str(kubeconfig), None), connections=16)
        stack.push_async_callback(transport.close)
        return transport

    return make
