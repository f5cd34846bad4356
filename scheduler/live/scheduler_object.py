"""The Scheduler object (berth.dev/v1alpha1) that shows what this berth does: its status, written when it has changed.

Only the replica that leads writes it. Not here: noticing that there is such an object (app.py).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from scheduler.engine import Summary
from scheduler.live import clock
from scheduler.live.calls import MERGE_PATCH, Call, Flight, Line
from scheduler.live.client import Response
from scheduler.live.configuration import Verdict
from scheduler.live.rights import Right
from scheduler.live.server import Check
from scheduler.messages import Refused
from scheduler.timestamps import meta_time

GROUP = "berth.dev"
VERSION = "v1alpha1"
PLURAL = "schedulers"
PATCH = Right("patch", f"{PLURAL}/status", GROUP)

_PATIENCE = 10.0
_LONGEST_MESSAGE = 32_768


class Condition(msgspec.Struct, frozen=True, rename="camel"):
    """metav1.Condition."""

    type: str
    status: str
    reason: str
    message: str
    last_transition_time: str
    observed_generation: int


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """status of a Scheduler."""

    observed_generation: int
    leader: str
    profiles: Sequence[str]
    nodes: int
    pending: Mapping[str, int]
    in_flight: int
    bound: int
    bound_here: int
    refused_by_kubelets: int
    last_decision: str
    conditions: Sequence[Condition]


@dataclass(frozen=True, slots=True)
class SchedulerSeen:
    """The object as it was last seen, with its spec.configuration. `transitions` holds status and lastTransitionTime of the
    conditions it has, by type.
    """

    name: str
    uid: str
    generation: int
    transitions: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    configuration: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Glance:
    """What can be told now."""

    leader: str
    summary: Summary
    checks: Sequence[Check]
    configured: Verdict


class StatusWriter:
    """Writes the status of one object every few seconds (`every`) at most, and only if it has changed."""

    def __init__(
        self, line: Line, may_write: Callable[[], bool], glance: Callable[[], Glance], *, every: float
    ) -> None:
        self._line = line
        self._may_write = may_write
        self._glance = glance
        self._every = every
        self._object: SchedulerSeen | None = None
        self._written: Status | None = None
        self._appeared = asyncio.Event()
        self._transitions: dict[str, tuple[str, str]] = {}

    def seen(self, scheduler: SchedulerSeen | None) -> None:
        """There is such an object, or (None) there is none any more."""
        known = self._object
        if scheduler is None or known is None or known.uid != scheduler.uid:
            self._written = None
            self._transitions = dict(scheduler.transitions) if scheduler else {}
        if scheduler is not None and (known is None or known.generation != scheduler.generation):
            # Whoever has changed it waits for what becomes of that.
            self._appeared.set()
        self._object = scheduler

    async def run(self) -> None:
        """Keep it up to date until cancelled."""
        while True:
            await self.write()
            self._appeared.clear()
            try:
                async with asyncio.timeout(self._every):
                    await self._appeared.wait()
            except TimeoutError:
                continue

    async def write(self) -> None:
        """Write it if there is something new to say."""
        scheduler = self._object
        if scheduler is None or not self._may_write():
            # Another replica may write meanwhile.
            self._written = None
            return
        status = self._status(scheduler)
        if status == self._written:
            return
        path = f"/apis/{GROUP}/{VERSION}/{PLURAL}/{scheduler.name}/status"
        body = msgspec.json.encode({"status": status})
        call = Call("scheduler_status_patch", "PATCH", path, PATCH, body, MERGE_PATCH, _PATIENCE)
        answer = await Flight(self._line).make(call, lambda: None if self._may_write() else "the lease is not valid")
        self._written = status if isinstance(answer, Response) else None
        if isinstance(answer, Refused) and answer.code == 404:
            self._object = None

    def _status(self, scheduler: SchedulerSeen) -> Status:
        glance, generation = self._glance(), scheduler.generation
        summary = glance.summary
        wrong = "; ".join(f"{check.name}: {check.problem}" for check in glance.checks if check.problem)
        ready = ("False", "NotReady", wrong) if wrong else ("True", "Scheduling", "Pods are being scheduled.")
        synced = (
            ("True", "Watching", "All kinds are followed.")
            if summary.synced
            else ("False", "Listing", "Not all kinds have been listed since this replica leads.")
        )
        told = glance.configured
        configured = (told.status, told.reason, told.message)
        return Status(
            observed_generation=generation,
            leader=glance.leader,
            profiles=sorted(summary.profiles),
            nodes=summary.nodes,
            pending=dict(summary.pending),
            in_flight=summary.in_flight,
            bound=summary.bound,
            bound_here=summary.bound_here,
            refused_by_kubelets=summary.refused_by_kubelets,
            last_decision=summary.last_decision,
            conditions=[
                self._condition(kind, verdict, generation)
                for kind, verdict in (("Ready", ready), ("Synced", synced), ("Configured", configured))
            ],
        )

    def _condition(self, kind: str, verdict: tuple[str, str, str], generation: int) -> Condition:
        """lastTransitionTime moves with the status only, across replicas too."""
        status, reason, message = verdict
        before = self._transitions.get(kind)
        if before is None or before[0] != status:
            before = self._transitions[kind] = (status, meta_time(clock.wall()))
        return Condition(kind, status, reason, message[:_LONGEST_MESSAGE], before[1], generation)
