"""Every story, told by both servers, matches its recording."""

from pathlib import Path

import msgspec
import pytest

from scheduler.sandbox.fields import Json
from tests.conformance.stories import ALL, Story
from tests.conformance.teller import Server, teller_for

_RECORDINGS = Path(__file__).parent / "recordings"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("story", ALL, ids=[story.__name__ for story in ALL])


async def test_the_sandbox_answers_as_the_real_server_did(story: Story, sandbox: Server) -> None:
    compare(story.__name__, await tell(story, sandbox))


async def test_the_real_server_answers_as_it_did(story: Story, real: Server, request: pytest.FixtureRequest) -> None:
    compare(story.__name__, await tell(story, real), record=request.config.getoption("--record", default=False))


async def tell(story: Story, server: Server) -> list[Json]:
    async with teller_for(server) as teller:
        await story(teller)
        return teller.told


def compare(name: str, told: list[Json], *, record: bool = False) -> None:
    """What was told is what the recording of this name says; or becomes what it says."""
    recording = _RECORDINGS / f"{name}.json"
    if record:
        recording.write_bytes(msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")
    assert told == msgspec.json.decode(recording.read_bytes())
