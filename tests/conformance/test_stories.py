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
    assert await tell(story, sandbox) == recorded(story)


async def test_the_real_server_answers_as_it_did(story: Story, real: Server, request: pytest.FixtureRequest) -> None:
    told = await tell(story, real)
    if request.config.getoption("--record", default=False):
        text = msgspec.json.format(msgspec.json.encode(told), indent=1)
        recording(story).write_bytes(text + b"\n")
    assert told == recorded(story)


async def tell(story: Story, server: Server) -> list[Json]:
    async with teller_for(server) as teller:
        await story(teller)
        return teller.told


def recording(story: Story) -> Path:
    return _RECORDINGS / f"{story.__name__}.json"


def recorded(story: Story) -> Json:
    decoded: Json = msgspec.json.decode(recording(story).read_bytes())
    return decoded
