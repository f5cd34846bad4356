"""Keeping up with the API server whatever it does (BR-135, 180, 181, 183, 184, 187, 191)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from scheduler.live.reflector import Patience, Reflector
from scheduler.live.sources import pods
from scheduler.messages import Fact, KindStale, KindSynced, PodGone, PodSeen
from scheduler.objects import PodDecoder
from tests.builders import pod_json
from tests.live.scripted import Answer, ScriptedServer, event, forever, page, refusal, stream

IMPATIENT = Patience(
    watch_timeout=30.0,
    silence=0.3,
    call_timeout=5.0,
    first_backoff=0.01,
    longest_backoff=0.05,
    between_lists=0.0,
    shortest_watch=0.0,
)

JsonObject = dict[str, Any]


def a_pod(uid: str, version: str, **fields: Any) -> JsonObject:
    return pod_json(uid, metadata={"uid": uid, "resourceVersion": version}, **fields)


def gone_in_stream(code: int = 410, reason: str = "Expired") -> JsonObject:
    return event("ERROR", {"kind": "Status", "code": code, "reason": reason, "message": "too old resource version"})


class Watcher:
    """A reflector at work, and what it has told."""

    def __init__(self, server: ScriptedServer, reflector: Reflector[Any], told: list[Fact]) -> None:
        self.server = server
        self.reflector = reflector
        self.told = told

    def pods(self) -> dict[str, str]:
        """UID and version of the pods that are there, by what was told."""
        known: dict[str, str] = {}
        for fact in self.told:
            if isinstance(fact, PodSeen):
                known[fact.pod.uid] = fact.pod.resource_version
            elif isinstance(fact, PodGone):
                known.pop(fact.uid, None)
        return known

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(5.0):
            while not condition():
                await asyncio.sleep(0.005)

    def watched_from(self) -> list[str]:
        return [r.query["resourceVersion"] for r in self.server.requests if "watch" in r.query]

    def lists(self) -> int:
        return sum("watch" not in request.query for request in self.server.requests)


@asynccontextmanager
async def watching(
    *script: Answer, patience: Patience = IMPATIENT, tokens: list[str] | None = None
) -> AsyncIterator[Watcher]:
    async with ScriptedServer(*script).running() as server:
        told: list[Fact] = []

        def deliver(facts: Sequence[Fact]) -> None:
            told.extend(facts)

        transport = server.transport(tokens)
        reflector = Reflector(pods(PodDecoder()), transport, patience, deliver)
        task = asyncio.create_task(reflector.run())
        try:
            yield Watcher(server, reflector, told)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await transport.close()


async def test_all_pages_are_listed_and_then_watched_from_the_list() -> None:
    script = (page(a_pod("a", "5"), token="more"), page(a_pod("b", "7"), version="10"), stream(then=forever))
    async with watching(*script) as watcher:
        await watcher.until(lambda: bool(watcher.watched_from()))
        assert isinstance(watcher.told[0], KindStale)
        assert isinstance(watcher.told[-1], KindSynced)
        assert watcher.pods() == {"a": "5", "b": "7"}
        assert watcher.watched_from() == ["10"]
        assert watcher.server.requests[0].query["fieldSelector"] == "status.phase!=Succeeded,status.phase!=Failed"


async def test_a_watch_that_ends_goes_on_from_the_last_event_or_bookmark() -> None:
    bookmark = event("BOOKMARK", {"metadata": {"resourceVersion": "30"}})
    script = (
        page(a_pod("a", "5")),
        stream(event("MODIFIED", a_pod("a", "20"))),
        stream(bookmark),
        stream(then=forever),
    )
    async with watching(*script) as watcher:
        await watcher.until(lambda: len(watcher.watched_from()) == 3)
        assert watcher.watched_from() == ["10", "20", "30"]
        assert watcher.lists() == 1


@pytest.mark.parametrize(
    "too_old",
    [
        pytest.param(refusal(410, "Expired"), id="as the status of the answer"),
        pytest.param(stream(gone_in_stream()), id="as an event"),
        pytest.param(stream(gone_in_stream(code=0, reason="Gone")), id="as an event without a code"),
    ],
)
async def test_a_version_that_is_too_old_leads_to_one_new_list(too_old: Answer) -> None:
    script = (page(a_pod("a", "5")), too_old, page(a_pod("a", "5"), version="40"), stream(then=forever))
    async with watching(*script) as watcher:
        await watcher.until(lambda: len(watcher.watched_from()) == 2)
        assert watcher.watched_from() == ["10", "40"]
        assert watcher.lists() == 2


async def test_what_vanished_while_nobody_watched_is_told_as_gone_and_a_new_pod_of_that_name_is_new() -> None:
    again = pod_json("a", metadata={"uid": "a2", "resourceVersion": "39"})
    script = (
        page(a_pod("a", "5"), a_pod("b", "6")),
        refusal(410),
        page(again, a_pod("b", "6"), version="40"),
        stream(then=forever),
    )
    async with watching(*script) as watcher:
        await watcher.until(lambda: len(watcher.watched_from()) == 2)
        assert watcher.pods() == {"a2": "39", "b": "6"}
        assert PodGone("a") in watcher.told


async def test_delete_and_create_in_one_breath_are_three_facts() -> None:
    second = pod_json("x", metadata={"uid": "b", "resourceVersion": "13"})
    first = pod_json("x", metadata={"uid": "a", "resourceVersion": "11"})
    lines = stream(event("ADDED", first), event("DELETED", first), event("ADDED", second), then=forever)
    async with watching(page(), lines) as watcher:
        await watcher.until(lambda: "b" in watcher.pods())
        assert [type(fact) for fact in watcher.told[-3:]] == [PodSeen, PodGone, PodSeen]


async def test_a_silent_watch_is_given_up_and_taken_up_again() -> None:
    script = (page(a_pod("a", "5")), stream(then=forever), stream(event("DELETED", a_pod("a", "50")), then=forever))
    async with watching(*script) as watcher:
        await watcher.until(lambda: not watcher.pods() and bool(watcher.told))
        assert watcher.watched_from()[:2] == ["10", "10"]


async def test_a_line_that_is_cut_off_is_not_used() -> None:
    whole = event("MODIFIED", a_pod("a", "20"))
    script = (
        page(a_pod("a", "5")),
        stream(whole, b'{"type":"MODIFIED","object":{"metadata":{"uid":"a"'),
        stream(then=forever),
    )
    async with watching(*script) as watcher:
        await watcher.until(lambda: len(watcher.watched_from()) == 2)
        assert watcher.watched_from() == ["10", "20"]
        assert watcher.pods() == {"a": "20"}


async def test_a_line_that_is_no_event_leads_to_a_list_and_what_came_before_it_counts() -> None:
    script = (
        page(a_pod("a", "5")),
        stream(event("MODIFIED", a_pod("a", "20")), b"<html>\n"),
        page(a_pod("a", "21"), version="40"),
        stream(then=forever),
    )
    async with watching(*script) as watcher:
        await watcher.until(lambda: len(watcher.watched_from()) == 2)
        assert [fact.pod.resource_version for fact in watcher.told if isinstance(fact, PodSeen)] == ["5", "20", "21"]


async def test_other_errors_in_the_stream_do_not_lead_to_a_list_and_never_look_like_pods() -> None:
    script = (page(a_pod("a", "5")), stream(gone_in_stream(500, "InternalError")), stream(then=forever))
    async with watching(*script) as watcher:
        await watcher.until(lambda: len(watcher.watched_from()) == 2)
        assert watcher.lists() == 1
        assert watcher.pods() == {"a": "5"}


async def test_a_server_that_hangs_up_at_once_is_not_asked_in_a_hurry() -> None:
    patience = replace(IMPATIENT, shortest_watch=1.0, first_backoff=0.1, longest_backoff=0.1)
    async with watching(page(), stream(), patience=patience) as watcher:
        await watcher.until(lambda: len(watcher.watched_from()) >= 3)
        times = asyncio.get_running_loop().time()
        await watcher.until(lambda: len(watcher.watched_from()) >= 6)
        assert asyncio.get_running_loop().time() - times >= 3 * 0.05
        assert watcher.lists() == 1


async def test_retry_after_is_waited_for() -> None:
    async with watching(refusal(429, "TooManyRequests", {"Retry-After": "1"}), page(), stream(then=forever)) as watcher:
        await watcher.until(lambda: watcher.reflector.problem is not None and "429" in watcher.reflector.problem)
        began = asyncio.get_running_loop().time()
        await watcher.until(lambda: watcher.reflector.lists == 1)
        assert asyncio.get_running_loop().time() - began > 0.9


async def test_missing_rights_are_named_until_they_are_there() -> None:
    async with watching(refusal(403, "Forbidden"), refusal(403, "Forbidden"), page(), stream(then=forever)) as watcher:
        await watcher.until(lambda: "not allowed to list and watch /api/v1/pods" in (watcher.reflector.problem or ""))
        await watcher.until(lambda: watcher.reflector.problem is None)


async def test_a_token_that_was_replaced_is_read_again_and_the_call_repeated() -> None:
    async with watching(refusal(401), page(a_pod("a", "5")), stream(then=forever), tokens=["old", "new"]) as watcher:
        await watcher.until(lambda: bool(watcher.pods()))
        tokens = [request.headers["Authorization"] for request in watcher.server.requests]
        assert tokens[:2] == ["Bearer old", "Bearer new"]


async def test_a_fresh_list_can_be_asked_for_in_the_middle_of_a_watch() -> None:
    script = (page(a_pod("a", "5")), stream(then=forever), page(version="40"), stream(then=forever))
    async with watching(*script) as watcher:
        await watcher.until(lambda: len(watcher.watched_from()) == 1)
        watcher.reflector.relist()
        await watcher.until(lambda: len(watcher.watched_from()) == 2)
        assert watcher.pods() == {}
        assert watcher.lists() == 2


async def test_a_list_that_was_begun_before_a_fresh_one_was_asked_for_does_not_count_as_that() -> None:
    """Otherwise a new leader might decide on what was read before it led (BR-139)."""
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(request: web.Request) -> web.StreamResponse:
        asked.set()
        await go_on.wait()
        return await page(a_pod("a", "5"))(request)

    async with watching(slow, page(a_pod("a", "5"), version="40"), stream(then=forever)) as watcher:
        await asked.wait()
        watcher.reflector.relist()
        go_on.set()
        await watcher.until(lambda: bool(watcher.watched_from()))
        assert watcher.watched_from() == ["40"]
        assert [type(fact) for fact in watcher.told if not isinstance(fact, PodSeen)] == [
            KindStale,
            KindStale,
            KindSynced,
        ]
