"""A private API server with an audit log, for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apiserver.audit import AuditLog
from tests.apiserver.stage import Stage
from tests.controlplane.apiserver import ApiServer
from tests.controlplane.binaries import Binaries


@pytest.fixture
def audit(tmp_path: Path) -> AuditLog:
    """What is written to the server of this test."""
    return AuditLog(tmp_path)


@pytest.fixture
def audited_apiserver(binaries: Binaries, tmp_path: Path, audit: AuditLog) -> Iterator[ApiServer]:
    """An API server for this test alone."""
    with ApiServer(binaries, tmp_path, extra=audit.flags) as server:
        yield server


@pytest.fixture
def stage(audited_apiserver: ApiServer) -> Stage:
    """Shorthand for that server."""
    return Stage(audited_apiserver)
