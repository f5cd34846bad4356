"""Both servers, and the option that records."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.http.app import serve
from tests.conformance.teller import Server
from tests.controlplane.apiserver import ApiServer


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record", action="store_true", help="write the conformance recordings anew from the real API server"
    )


@pytest.fixture
async def sandbox() -> AsyncIterator[Server]:
    async with serve(Cluster(lambda: datetime.now(UTC))) as url:
        yield Server(url)


@pytest.fixture
def real(real_apiserver: ApiServer) -> Server:
    return Server(real_apiserver.url, real_apiserver.token, real_apiserver.ca_file)
