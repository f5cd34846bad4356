"""The lease on the API server: carries out the election's steps, and says when leadership begins and ends.

It runs over a session of its own, so that nothing else can delay a renewal. The rules are in `election.py`.
"""

import asyncio
import socket
import uuid
from collections.abc import Callable
from typing import Protocol

import msgspec
import structlog

from scheduler.config import LeaderElection
from scheduler.live import clock
from scheduler.live.client import Response, Transport
from scheduler.live.election import Election, Lease, Read, Rest, Write
from scheduler.live.errors import NoAnswerError
from scheduler.live.rights import Right
from scheduler.objects.stream import decode_status

_PREFIX = "/apis/coordination.k8s.io/v1/namespaces"
_LEASE = msgspec.json.Decoder(Lease)
_HEAD = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
# A release takes a read and a write at most; one that does not get through is not worth waiting for.
_RELEASE_STEPS = 3

log = structlog.get_logger("berth.lease")


def new_identity() -> str:
    """hostname_uuid, as kube-scheduler names itself: no two processes share it, not even on one host."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


class Leadership(Protocol):
    """Whether this replica may decide and write."""

    @property
    def problem(self) -> str | None:
        """Why leadership cannot be had although nobody may have it, or None."""

    @property
    def holder(self) -> str:
        """Who leads, as far as is known."""

    @property
    def tried(self) -> asyncio.Event:
        """Set once it is known whether leadership could be had at the first try."""

    def valid(self) -> bool:
        """Whether this replica may write at this very moment."""

    async def run(self) -> None:
        """Try for it until cancelled."""

    async def release(self) -> None:
        """Give it up, after `run` was cancelled and nothing is written any more."""


class Alone:
    """Leadership without an election (leaderElect: false): from the start to the end."""

    problem: str | None = None

    def __init__(self, identity: str, gained: Callable[[], None]) -> None:
        self.holder = identity
        self.tried = asyncio.Event()
        self._gained = gained

    def valid(self) -> bool:
        """Always."""
        return True

    async def run(self) -> None:
        """Lead."""
        self._gained()
        self.tried.set()
        await asyncio.Event().wait()

    async def release(self) -> None:
        """There is nothing to give up."""


class LeaseKeeper:
    """Holds the lease as long as it can. `gained` and `lost` are called in turn, in the loop's thread."""

    def __init__(
        self,
        election: Election,
        settings: LeaderElection,
        transport: Transport,
        gained: Callable[[], None],
        lost: Callable[[], None],
    ) -> None:
        self.tried = asyncio.Event()
        self._problem: str | None = None
        self._election = election
        self._settings = settings
        self._transport = transport
        self._gained = gained
        self._lost = lost
        self._leading = False
        self._told_holder = ""
        self._collection = f"{_PREFIX}/{settings.resource_namespace}/leases"

    def valid(self) -> bool:
        """Whether this replica may write at this very moment."""
        return self._election.valid(clock.now())

    @property
    def problem(self) -> str | None:
        """A missing right, a missing namespace, a server that cannot be reached; else None."""
        return self._problem

    @property
    def holder(self) -> str:
        """Who holds the lease, as last seen."""
        return self._election.holder

    async def run(self) -> None:
        """Try for ever; cancel it to stop, then `release`."""
        while True:
            step = self._election.step(clock.now(), clock.wall())
            match step:
                case Rest(until=until):
                    self.tried.set()
                    if self._leading:
                        until = min(until, self._election.valid_until)
                    await asyncio.sleep(until - clock.now())
                case Read() | Write():
                    await self._carry_out(step)
            self._announce()
            if isinstance(step, Write):
                self.tried.set()

    async def release(self) -> None:
        """Give the lease back if it is still held. Call it when nothing is written any more."""
        for _ in range(_RELEASE_STEPS):
            last = self._election.release(clock.now(), clock.wall())
            if last is not None:
                await self._carry_out(last)
                break
            if not self.valid():
                break
            await self._carry_out(Read())
        self._announce()

    def _announce(self) -> None:
        if self.valid() != self._leading:
            self._leading = not self._leading
            log.info("leading" if self._leading else "not leading any more", identity=self._election.identity)
            (self._gained if self._leading else self._lost)()
        holder = self._election.holder
        if holder != self._told_holder:
            self._told_holder = holder
            if holder and not self._leading:
                log.info("standing by", holder=holder)

    async def _carry_out(self, step: Read | Write) -> None:
        """One call. It ends within the retry period, and when leadership ends, so that the end is noticed at once."""
        sent_at = clock.now()
        limit = self._settings.retry_period
        if self.valid():
            limit = min(limit, self._election.valid_until - sent_at)
        try:
            # The limit of a call is not enough: before it, credentials may have to be had from a plugin.
            async with asyncio.timeout(limit):
                response = await self._send(step, limit)
        except (NoAnswerError, TimeoutError) as error:
            self._report(f"the lease cannot be reached: {str(error) or 'no answer in time'}")
            self._election.failed(sent_at, clock.now())
            return
        except asyncio.CancelledError:
            # What was sent may have been taken, so a release has to read first.
            self._election.failed(sent_at, clock.now())
            raise
        self._take(step, response, sent_at)

    async def _send(self, step: Read | Write, limit: float) -> Response:
        path = f"{self._collection}/{self._settings.resource_name}"
        if isinstance(step, Read):
            return await self._transport.call("GET", path, limit=limit)
        body = msgspec.json.encode({**_HEAD, "metadata": step.lease.metadata, "spec": step.lease.spec})
        if step.exists:
            return await self._transport.call("PUT", path, body=body, limit=limit)
        return await self._transport.call("POST", self._collection, body=body, limit=limit)

    def _take(self, step: Read | Write, response: Response, sent_at: float) -> None:
        now = clock.now()
        reading = isinstance(step, Read)
        try:
            if response.status in (200, 201):
                lease = _LEASE.decode(response.body)
                if reading:
                    self._election.seen(lease, now)
                else:
                    self._election.written(lease, sent_at, now)
                self._report(None)
                return
        except msgspec.DecodeError as error:
            self._report(f"the server's answer is no Lease: {error}")
            self._election.failed(sent_at, now)
            return
        if reading and response.status == 404:
            self._election.seen(None, now)
        elif isinstance(step, Write) and (response.status == 409 or (response.status == 404 and step.exists)):
            self._election.conflict(now)
        else:
            self._report(self._refusal(step, response))
            self._election.failed(sent_at, now)

    def _refusal(self, step: Read | Write, response: Response) -> str:
        verb = "get" if isinstance(step, Read) else "update" if step.exists else "create"
        settings = self._settings
        name = "" if verb == "create" else settings.resource_name
        right = Right(verb, "leases", "coordination.k8s.io", settings.resource_namespace, name)
        if response.status == 403:
            return f"missing right: {right}"
        status = decode_status(response.body)
        return f"cannot {right}: {status.message or status.reason} (HTTP {response.status})"

    def _report(self, problem: str | None) -> None:
        if problem and problem != self._problem:
            log.warning(problem)
        self._problem = problem
