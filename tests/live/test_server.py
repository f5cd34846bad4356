"""Health, metrics and why, as people and probes see them."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, Counter

from scheduler.live.errors import SetupError
from scheduler.live.server import Account, Address, Check, Told, serve
from tests.controlplane.ports import free_port

STORY = Account(
    "default",
    "a",
    "u1",
    "",
    [
        Told(datetime(2026, 1, 1, tzinfo=UTC), "queued", ""),
        Told(datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC), "not placed", "0/1 nodes are available: 1 Insufficient cpu."),
    ],
)


class Program:
    """What is asked here."""

    def __init__(self) -> None:
        self.trouble: str | None = None
        self.dead: str | None = None

    def alive(self) -> Sequence[Check]:
        return [Check("watches", self.dead)]

    def ready(self) -> Sequence[Check]:
        return [Check("rights", self.trouble)]

    def why(self, namespace: str, name: str) -> Account | None:
        return STORY if (namespace, name) == ("default", "a") else None


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.fixture
async def http(program: Program) -> AsyncIterator[aiohttp.ClientSession]:
    registry = CollectorRegistry()
    Counter("things", "Things.", registry=registry).inc()
    async with (
        serve(Address("127.0.0.1", 0), program, registry) as address,
        aiohttp.ClientSession(f"http://127.0.0.1:{address.port}") as session,
    ):
        yield session


async def get(http: aiohttp.ClientSession, path: str) -> tuple[int, str]:
    async with http.get(path) as answer:
        return answer.status, await answer.text()


async def test_when_all_is_well(http: aiohttp.ClientSession) -> None:
    assert await get(http, "/livez") == (200, "[+]ping ok\n[+]watches ok\nlivez check passed\n")
    assert await get(http, "/healthz") == await get(http, "/livez")
    assert await get(http, "/readyz") == (200, "[+]ping ok\n[+]watches ok\n[+]rights ok\nreadyz check passed\n")


async def test_not_ready_says_why_and_stays_alive(program: Program, http: aiohttp.ClientSession) -> None:
    program.trouble = "create pods/binding in all namespaces: missing"
    status, text = await get(http, "/readyz")
    assert status == 503
    assert "[-]rights failed: create pods/binding in all namespaces: missing" in text
    assert (await get(http, "/livez"))[0] == 200


async def test_what_is_dead_is_not_ready_either(program: Program, http: aiohttp.ClientSession) -> None:
    program.dead = "the watch of pods has ended"
    assert [(await get(http, path))[0] for path in ("/livez", "/readyz")] == [503, 503]


async def test_metrics(http: aiohttp.ClientSession) -> None:
    status, text = await get(http, "/metrics")
    assert status == 200
    assert "things_total 1.0" in text


async def test_why_tells_the_story_as_text_or_as_json(http: aiohttp.ClientSession) -> None:
    status, text = await get(http, "/why/default/a")
    assert status == 200
    assert text.splitlines() == [
        "default/a (uid u1) on no node yet",
        "",
        "2026-01-01T00:00:00Z  queued",
        "2026-01-01T00:00:01Z  not placed: 0/1 nodes are available: 1 Insufficient cpu.",
    ]
    async with http.get("/why/default/a", headers={"Accept": "application/json"}) as answer:
        body = await answer.json()
    assert body["story"][1]["what"] == "not placed"
    assert (await get(http, "/why/default/b"))[0] == 404


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        (":8080", "0.0.0.0", 8080),
        ("127.0.0.1", "127.0.0.1", 10259),
        ("[::1]:80", "::1", 80),
        ("[::1]", "::1", 10259),
    ],
)
def test_an_address(text: str, host: str, port: int) -> None:
    assert Address.parse(text) == Address(host, port)


@pytest.mark.parametrize("text", ["localhost:http", "1.2.3.4:99999", "::1:80"])
def test_an_address_that_is_none_is_refused_with_what_is_allowed(text: str) -> None:
    with pytest.raises(SetupError, match=r"--bind-address: found .* allowed: HOST:PORT"):
        Address.parse(text)


async def test_a_port_that_is_taken_is_named(program: Program) -> None:
    port = free_port()
    async with serve(Address("127.0.0.1", port), program, CollectorRegistry()):
        with pytest.raises(SetupError, match=f"127.0.0.1:{port}: .*address already in use"):
            async with serve(Address("127.0.0.1", port), program, CollectorRegistry()):
                pass
