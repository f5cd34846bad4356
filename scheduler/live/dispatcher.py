"""Performs the engine's effects on pods and volumes: Bindings, reads, evictions, patches, each at the right moment and in order.

Bindings, reads and evictions go before patches that only tell. For one pod everything goes in the order in which it was decided,
one call at a time; a patch that has not been sent when something newer is decided about its pod is not sent at all. Whatever
writes goes out only with a lease that is valid at the moment of sending, and a Binding only if the engine still wants it then.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import msgspec
import structlog

from scheduler.live import clock
from scheduler.live.calls import STRATEGIC_MERGE_PATCH, Call, Flight, Line
from scheduler.live.client import Response
from scheduler.live.rights import Right
from scheduler.live.volume_calls import object_found, volume_call
from scheduler.messages import (
    ApiCall,
    Bind,
    BindVolume,
    ClearNomination,
    DeletePod,
    Done,
    EffectDone,
    Found,
    MarkDisrupted,
    Outcome,
    PatchPodStatus,
    ReadObject,
    ReadPod,
    Refused,
    SelectNode,
    Unknown,
    Withdrawn,
)
from scheduler.objects import PodDecoder
from scheduler.requests import Body, binding_body, delete_options, disruption_patch, nomination_patch, status_patch
from scheduler.timestamps import meta_time

BIND = Right("create", "pods/binding")
PATCH = Right("patch", "pods/status")
READ = Right("get", "pods")
DELETE = Right("delete", "pods")

log = structlog.get_logger("berth.dispatcher")

# The engine asks again after a while, or writes again at the next attempt.
_PATIENCE = 10.0
# Patches are sent as long as not more than this part of the slots is taken.
_PATCHES_SHARE = 8
NO_LEASE = "the lease is not valid"


@dataclass(frozen=True, slots=True)
class UnderWay:
    """An effect whose turn has come."""

    effect: ApiCall
    flight: Flight
    task: asyncio.Task[Outcome]


class Principal(Protocol):
    """In whose name things are done."""

    def may_write(self) -> bool:
        """Whether the lease is valid at this very moment."""

    def withdrawn(self, bind: Bind) -> str | None:
        """Why this Binding must not be sent any more, or None."""

    def report(self, done: EffectDone) -> None:
        """How an effect ended; called in the loop."""


class Dispatcher:
    """Carries out at most `slots` calls at a time."""

    def __init__(self, line: Line, pods: PodDecoder, slots: int, principal: Principal) -> None:
        self._line = line
        self._pods = pods
        self._slots = slots
        self._principal = principal
        self._urgent: deque[ApiCall] = deque()
        self._patches: OrderedDict[str, PatchPodStatus] = OrderedDict()
        self._parked: dict[str, deque[ApiCall]] = {}
        self._under_way: dict[str, UnderWay] = {}
        self._stopping = False

    def submit(self, effect: ApiCall) -> None:
        """Perform an effect when its turn comes."""
        effect = self._supersede(effect)
        if effect.uid in self._under_way:
            self._parked.setdefault(effect.uid, deque()).append(effect)
        elif isinstance(effect, PatchPodStatus):
            self._patches[effect.uid] = effect
        else:
            self._urgent.append(effect)
        self._pump()

    @property
    def crowded(self) -> bool:
        """Whether Bindings wait for a free slot."""
        return len(self._urgent) > 0

    def queued(self) -> dict[str, int]:
        """How many effects wait, by kind of call; reads are of Bindings, nearly always."""
        parked = (effect for effects in self._parked.values() for effect in effects)
        waiting = Counter(_kind(effect) for effect in (*self._urgent, *self._patches.values(), *parked))
        return {kind: waiting[kind] for kind in ("pod_binding", "pod_status_patch", "pod_delete", "volume_binding")}

    @property
    def in_flight(self) -> int:
        """How many calls are under way."""
        return len(self._under_way)

    async def settled(self, uid: str) -> None:
        """Somebody else is about to bind this pod: a patch that waits is not sent any more, and what is under way is awaited."""
        while True:
            if (old := self._patches.pop(uid, None)) is not None:
                self._principal.report(EffectDone(old.effect_id, Withdrawn("the pod was placed meanwhile")))
            if (call := self._under_way.get(uid)) is None:
                return
            await asyncio.wait([call.task])

    def abort_writes(self) -> None:
        """Leadership has ended: write nothing more. What may have reached the server has an unknown outcome."""
        for call in list(self._under_way.values()):
            if not isinstance(call.effect, ReadPod | ReadObject):
                call.task.cancel()

    async def stop(self, within: float) -> None:
        """Send nothing that has not been sent, and let what is under way end, for `within` seconds at most."""
        self._stopping = True
        calls = list(self._under_way.values())
        for call in calls:
            if not call.flight.sent:
                call.task.cancel()
        if calls:
            await asyncio.wait([call.task for call in calls], timeout=within)
        for call in calls:
            call.task.cancel()
        await asyncio.gather(*(call.task for call in calls), return_exceptions=True)

    def _supersede(self, effect: ApiCall) -> ApiCall:
        """A waiting patch of the same pod gives way: to a Binding, for the pod would be told that it cannot be placed just
        after it was; to a newer patch, for only the last one counts, with a nomination of the older one if it has none.
        """
        if not isinstance(effect, Bind | PatchPodStatus | ClearNomination):
            return effect
        old = self._patches.pop(effect.uid, None)
        parked = self._parked.get(effect.uid)
        if old is None and parked and isinstance(parked[-1], PatchPodStatus):
            old = parked[-1]
            parked.pop()
        if old is None:
            return effect
        if isinstance(effect, Bind):
            self._principal.report(EffectDone(old.effect_id, Withdrawn("the pod was placed meanwhile")))
            return effect
        if isinstance(effect, ClearNomination):
            self._principal.report(EffectDone(effect.effect_id, Done()))
            return msgspec.structs.replace(old, nominated_node="")
        self._principal.report(EffectDone(old.effect_id, Done()))
        if effect.nominated_node is None:
            return msgspec.structs.replace(effect, nominated_node=old.nominated_node)
        return effect

    def _pump(self) -> None:
        """Start what there is room for."""
        while len(self._under_way) < self._slots and not self._stopping:
            effect = self._next()
            if effect is None:
                return
            if effect.uid in self._under_way:
                self._parked.setdefault(effect.uid, deque()).append(effect)
            else:
                flight = Flight(self._line)
                task = asyncio.get_running_loop().create_task(self._carry_out(effect, flight))
                self._under_way[effect.uid] = UnderWay(effect, flight, task)
                task.add_done_callback(partial(self._ended, effect, flight))

    def _next(self) -> ApiCall | None:
        if self._urgent:
            return self._urgent.popleft()
        # A Binding must not wait behind a crowd of patches, neither here nor in the server, which has its own queue: a few at
        # a time go as fast as many, for they are all that is sent then.
        if self._patches and len(self._under_way) < max(1, self._slots // _PATCHES_SHARE):
            return self._patches.popitem(last=False)[1]
        return None

    async def _carry_out(self, effect: ApiCall, flight: Flight) -> Outcome:
        try:
            return await self._perform(effect, flight)
        except Exception as error:
            log.exception("a call failed", effect=type(effect).__name__, pod=f"{effect.namespace}/{effect.name}")
            return Unknown(f"{type(error).__name__}: {error}")

    def _ended(self, effect: ApiCall, flight: Flight, task: asyncio.Task[Outcome]) -> None:
        """A call is over. It may have been cancelled before it took its first step, and must be answered for all the same."""
        outcome: Outcome
        if task.cancelled():
            outcome = Unknown("given up before the answer came") if flight.sent else Withdrawn(NO_LEASE)
        else:
            outcome = task.result()
        del self._under_way[effect.uid]
        self._unpark(effect.uid)
        self._principal.report(EffectDone(effect.effect_id, outcome))
        self._pump()

    def _unpark(self, uid: str) -> None:
        """The next effect of a pod goes to the front: it has waited its turn already."""
        parked = self._parked.get(uid)
        if not parked:
            return
        effect = parked.popleft()
        if not parked:
            del self._parked[uid]
        if isinstance(effect, PatchPodStatus):
            self._patches[uid] = effect
            self._patches.move_to_end(uid, last=False)
        else:
            self._urgent.appendleft(effect)

    async def _perform(self, effect: ApiCall, flight: Flight) -> Outcome:
        match effect:
            case Bind():
                return _done(await flight.make(_binding(effect), lambda: self._why_not_bind(effect)))
            case PatchPodStatus() | MarkDisrupted() | ClearNomination():
                return _done(await flight.make(_patch(effect), self._why_not_write))
            case DeletePod():
                return _done(await flight.make(_delete(effect), self._why_not_write))
            case ReadPod():
                return self._found(effect, await flight.make(_read(effect), _always))
            case ReadObject():
                return object_found(effect, await flight.make(volume_call(effect), _always))
            case BindVolume() | SelectNode():
                return object_found(effect, await flight.make(volume_call(effect), self._why_not_write))

    def _why_not_write(self) -> str | None:
        return None if self._principal.may_write() else NO_LEASE

    def _why_not_bind(self, bind: Bind) -> str | None:
        return self._why_not_write() or self._principal.withdrawn(bind)

    def _found(self, effect: ReadPod, answer: Response | Refused | Withdrawn | Unknown) -> Outcome:
        if isinstance(answer, Refused) and answer.code == 404:
            return Found(None)
        if not isinstance(answer, Response):
            return answer
        try:
            pod = self._pods.decode(answer.body)
        except msgspec.DecodeError as error:
            return Unknown(f"the answer is no pod: {error}")
        return Found(pod if pod.uid == effect.uid else None)


def _always() -> str | None:
    return None


def _done(answer: Response | Refused | Withdrawn | Unknown) -> Outcome:
    return Done() if isinstance(answer, Response) else answer


def _kind(effect: ApiCall) -> str:
    match effect:
        case Bind() | ReadPod():
            return "pod_binding"
        case DeletePod():
            return "pod_delete"
        case BindVolume() | SelectNode() | ReadObject():
            return "volume_binding"
        case _:
            return "pod_status_patch"


def _path(effect: ApiCall, subresource: str = "") -> str:
    return f"/api/v1/namespaces/{effect.namespace}/pods/{effect.name}{subresource}"


def _binding(effect: Bind) -> Call:
    return Call("pod_binding", "POST", _path(effect, "/binding"), BIND, msgspec.json.encode(binding_body(effect)))


def _patch(effect: PatchPodStatus | MarkDisrupted | ClearNomination) -> Call:
    body = msgspec.json.encode(_patch_body(effect, meta_time(clock.wall())))
    path = _path(effect, "/status")
    return Call("pod_status_patch", "PATCH", path, PATCH, body, STRATEGIC_MERGE_PATCH, _PATIENCE)


def _patch_body(effect: PatchPodStatus | MarkDisrupted | ClearNomination, now: str) -> Body:
    match effect:
        case PatchPodStatus():
            return status_patch(effect, now)
        case MarkDisrupted():
            return disruption_patch(effect, now)
        case ClearNomination():
            return nomination_patch(effect)


def _delete(effect: DeletePod) -> Call:
    body = msgspec.json.encode(delete_options(effect))
    return Call("pod_delete", "DELETE", _path(effect), DELETE, body, patience=_PATIENCE)


def _read(effect: ReadPod) -> Call:
    return Call("pod_read", "GET", _path(effect), READ, patience=_PATIENCE)
