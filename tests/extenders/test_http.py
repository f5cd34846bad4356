"""Calls over real HTTP and HTTPS."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from scheduler.config import Extender, ExtenderTls
from scheduler.live.errors import SetupError
from scheduler.live.extenders import ExtenderCalls, tls_context
from scheduler.messages import Answered, Bind, CallExtender, EffectDone, Outcome, Unknown, Withdrawn
from tests.authority import Authority
from tests.controlplane.ports import free_port
from tests.extenders.extender import ScriptedExtender
from tests.extenders.server import serving

DEFAULT_TLS = ExtenderTls()
BODY = b'{"NodeNames": ["n1"]}'


class Principal:
    """In whose name calls are made; keeps how they ended."""

    def __init__(self) -> None:
        self.leads = True
        self.why_not: str | None = None
        self.outcomes: dict[int, Outcome] = {}
        self.seconds: list[tuple[str, str, float]] = []

    def may_write(self) -> bool:
        return self.leads

    def withdrawn(self, bind: Bind) -> str | None:
        return self.why_not

    def report(self, done: EffectDone) -> None:
        self.outcomes[done.effect_id] = done.outcome

    def extender_called(self, extender: str, verb: str, seconds: float) -> None:
        self.seconds.append((extender, verb, seconds))


async def settled(uid: str) -> None:
    """Nothing else is under way."""


def call(url: str, *, verb: str = "filter", timeout: float = 5.0, binding: Bind | None = None) -> CallExtender:
    """A call of the extender at this URL."""
    return CallExtender(1, "uid", url, verb, f"{url}/e/{verb}", BODY, timeout, binding)


@asynccontextmanager
async def calls(url: str, principal: Principal, tls: ExtenderTls = DEFAULT_TLS) -> AsyncIterator[ExtenderCalls]:
    """What calls the extender at this URL."""
    made = ExtenderCalls([Extender(url, url, tls=tls)], principal, principal, settled)
    try:
        yield made
    finally:
        await made.stop(0.0)


async def outcome(principal: Principal, made: ExtenderCalls, effect: CallExtender) -> Outcome:
    """How a call ends."""
    made.submit(effect)
    async with asyncio.timeout(10):
        while effect.effect_id not in principal.outcomes:
            await asyncio.sleep(0.005)
    return principal.outcomes.pop(effect.effect_id)


async def test_a_body_is_posted_as_json_and_the_answer_comes_back_whatever_its_status() -> None:
    extender, principal = ScriptedExtender(), Principal()
    async with serving({"e": extender}) as url, calls(url, principal) as made:
        assert await outcome(principal, made, call(url)) == Answered(200, json.dumps({"NodeNames": ["n1"]}).encode())
        extender.status = 500
        assert await outcome(principal, made, call(url)) == Answered(500, b"out of order")
    assert extender.asked == [("filter", {"NodeNames": ["n1"]})] * 2
    assert [(name, verb) for name, verb, _ in principal.seconds] == [(url, "filter")] * 2


async def test_one_that_is_slow_is_given_up_after_its_timeout_and_holds_up_no_other_call() -> None:
    principal = Principal()
    async with serving({"e": ScriptedExtender()}, delay=0.8) as url, calls(url, principal) as made:
        for number in range(2, 300):
            made.submit(msgspec.structs.replace(call(url), effect_id=number))
        assert await outcome(principal, made, call(url, timeout=0.1)) == Unknown("no answer within 0.1 s")
        assert made.in_flight == 298


async def forgetful(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers the first request on a connection and closes it when the second comes."""
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    await reader.read(1)
    writer.close()


async def test_a_kept_connection_that_was_closed_is_no_failure_but_a_binding_is_not_sent_twice() -> None:
    principal = Principal()
    server = await asyncio.start_server(forgetful, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, calls(url, principal) as made:
        for _ in range(3):
            assert await outcome(principal, made, call(url)) == Answered(200, b"{}")
        bind = Bind(2, "uid", "default", "p", "n1", {})
        assert isinstance(await outcome(principal, made, call(url, verb="bind", binding=bind)), Unknown)


async def test_one_that_is_down_is_named_by_what_is_wrong() -> None:
    principal = Principal()
    url = f"http://127.0.0.1:{free_port()}"
    async with calls(url, principal) as made:
        answer = await outcome(principal, made, call(url))
    assert isinstance(answer, Unknown)
    assert "Cannot connect to host 127.0.0.1" in answer.message


async def test_nothing_is_asked_without_a_valid_lease() -> None:
    extender, principal = ScriptedExtender(), Principal()
    principal.leads = False
    async with serving({"e": extender}) as url, calls(url, principal) as made:
        assert await outcome(principal, made, call(url)) == Withdrawn("the lease is not valid")
    assert extender.asked == []


async def test_a_binding_is_not_asked_for_when_it_is_not_wanted_any_more() -> None:
    extender, principal = ScriptedExtender(), Principal()
    principal.why_not = "the room is gone"
    bind = Bind(2, "uid", "default", "p", "n1", {})
    async with serving({"e": extender}) as url, calls(url, principal) as made:
        assert await outcome(principal, made, call(url, verb="bind", binding=bind)) == Withdrawn("the room is gone")
        assert isinstance(await outcome(principal, made, call(url)), Answered), "other verbs do not ask"


async def test_at_the_end_bindings_are_waited_for_and_other_calls_are_not() -> None:
    extender, principal = ScriptedExtender(), Principal()
    bind = Bind(9, "uid", "default", "p", "n1", {})
    async with serving({"e": extender}, delay=0.3) as url:
        async with calls(url, principal) as made:
            made.submit(call(url, verb="bind", binding=bind))
            made.submit(msgspec.structs.replace(call(url), effect_id=2))
            await made.stop(5.0)
            assert isinstance(principal.outcomes[1], Answered)
        assert 2 in principal.outcomes


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """For all tests here; its server asks for a client's certificate too."""
    return Authority(tmp_path_factory.mktemp("tls") / "authority")


def from_files(authority: Authority) -> ExtenderTls:
    """TLS as it ought to be."""
    return ExtenderTls(
        ca_file=authority.path("ca"),
        certificate_file=authority.path("client"),
        key_file=authority.path("client.key"),
    )


def from_data(authority: Authority) -> ExtenderTls:
    """The same without files."""
    ca, certificate, key = (Path(authority.path(name)).read_bytes() for name in ("ca", "client", "client.key"))
    return ExtenderTls(ca=ca, certificate=certificate, key=key)


TLS_CASES: dict[str, tuple[Callable[[Authority], ExtenderTls], str | None]] = {
    "from files": (from_files, None),
    "from data": (from_data, None),
    "unchecked": (lambda a: replace(from_files(a), ca_file="", verify=False), None),
    "under one of its names": (lambda a: replace(from_files(a), server_name="localhost"), None),
    "under a name it does not have": (lambda a: replace(from_files(a), server_name="x.example"), "x.example"),
    "from an authority it does not know": (lambda a: replace(from_files(a), ca_file=""), "certificate verify failed"),
    "without a certificate of its own": (lambda a: ExtenderTls(ca_file=a.path("ca")), ""),
}


@pytest.mark.parametrize("case", TLS_CASES)
async def test_tls_is_spoken_as_the_configuration_says(case: str, authority: Authority) -> None:
    make, problem = TLS_CASES[case]
    principal = Principal()
    async with (
        serving({"e": ScriptedExtender()}, tls=authority.server_context()) as url,
        calls(url, principal, make(authority)) as made,
    ):
        answer = await outcome(principal, made, call(url))
    if problem is None:
        assert isinstance(answer, Answered)
    else:
        assert isinstance(answer, Unknown)
        assert problem in answer.message


def test_files_that_cannot_be_used_are_named_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "ca").write_text("not a certificate")
    for tls in (
        ExtenderTls(ca_file=str(tmp_path / "none")),
        ExtenderTls(ca_file=str(tmp_path / "ca")),
        ExtenderTls(ca=b"x"),
    ):
        with pytest.raises(SetupError, match="extender http://e: tlsConfig cannot be used"):
            tls_context(Extender("http://e", "http://e", tls=tls))
