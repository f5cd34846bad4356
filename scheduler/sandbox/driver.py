"""The sandbox driver: engine and in-memory cluster in virtual time, with faults between them.

It is the same work as the live driver's: watch events become facts, effects become calls, their outcomes become facts.
"""

from collections.abc import Callable, Mapping

import msgspec

from scheduler.api import Kind
from scheduler.config import Configuration
from scheduler.engine import Engine
from scheduler.messages import (
    Answered,
    ApiCall,
    AwaitedEffect,
    Bind,
    BindVolume,
    CallExtender,
    ClearNomination,
    ConfigurationChanged,
    DeletePod,
    Done,
    Effect,
    EffectDone,
    Fact,
    Found,
    FoundObject,
    KindStale,
    KindSynced,
    LeadershipGained,
    LeadershipLost,
    MarkDisrupted,
    NodeGone,
    NodeSeen,
    ObjectGone,
    ObjectSeen,
    Outcome,
    PatchPodStatus,
    PodGone,
    PodSeen,
    ReadObject,
    ReadPod,
    RecordEvent,
    Refused,
    SelectNode,
    Unknown,
    Withdrawn,
)
from scheduler.objects import FOLLOWED, NodeDecoder, PodDecoder
from scheduler.requests import (
    binding_body,
    claim_patch,
    delete_options,
    disruption_patch,
    nomination_patch,
    selected_node_patch,
    status_patch,
)
from scheduler.sandbox.clock import VirtualClock
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.deletion import parse_delete_options
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.faults import CallPlan, Faults
from scheduler.sandbox.fields import JsonObject, name_of, namespace_of, object_at, text_at
from scheduler.sandbox.identity import timestamp
from scheduler.sandbox.watch import Subscription

_MERGE = "application/merge-patch+json"
_STRATEGIC = "application/strategic-merge-patch+json"
_UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"
_CYCLES = 1000


Extender = Callable[[str, bytes], Answered]
"""An extender in the same process: what it answers to a body posted to a URL."""


class SandboxDriver:
    """One scheduler on one in-memory cluster. `after_step` is called after each thing that happens to the engine. `extenders`
    are those that can be called, by their names in the configuration; no other one answers.
    """

    def __init__(
        self, cluster: Cluster, engine: Engine, clock: VirtualClock, faults: Faults, after_step: Callable[[], None]
    ) -> None:
        self.cluster = cluster
        self.engine = engine
        self.clock = clock
        self.faults = faults
        self.sent: list[Effect] = []
        self.extenders: dict[str, Extender] = {}
        self._after_step = after_step
        self._known: dict[str, dict[str, JsonObject]] = {}
        self._follow()
        self._watches: dict[str, Subscription] = {}
        self._arrived: dict[str, float] = {}
        self._advancing = False

    def _follow(self) -> None:
        """What the engine wants to know, as it wants to know it."""
        self._shown = self.engine.manifests
        self._pods, self._nodes = PodDecoder(self._shown), NodeDecoder(self._shown)
        self._others = {kind: FOLLOWED[kind].decoder() for kind in sorted(self.engine.kinds & FOLLOWED.keys())}
        self._kinds = {"pods": Kind.POD, "nodes": Kind.NODE} | {FOLLOWED[kind].plural: kind for kind in self._others}
        self._known = {resource: self._known.get(resource, {}) for resource in self._kinds}

    def reconfigure(self, configuration: Configuration) -> None:
        """Decide by another configuration. Raises ConfigError, with nothing changed, if it cannot be put into force."""
        self.tell(ConfigurationChanged(configuration))
        known, shown = set(self._kinds), self._shown
        self._follow()
        for resource in known - set(self._kinds):
            self.break_watch(resource)
        for resource in self._kinds:
            if resource not in known or shown != self._shown:
                self.relist(resource)

    def start(self) -> None:
        """Lead, list everything, watch from there."""
        self.tell(LeadershipGained())
        self.relist_all()

    def stop(self) -> None:
        """Lose leadership and stop watching; what is known stays as it is."""
        for watch in self._watches.values():
            watch.close()
        self._watches.clear()
        self.tell(LeadershipLost())

    def relist_all(self) -> None:
        """List everything that is followed afresh."""
        for resource in self._kinds:
            self.relist(resource)

    def relist(self, resource: str) -> None:
        """List a resource afresh and hand over the difference by UID, with what vanished meanwhile as gone."""
        kind = self._kinds[resource]
        if (watch := self._watches.pop(resource, None)) is not None:
            watch.close()
        self.tell(KindStale(kind))
        items, revision, _ = self.cluster.list(resource, field_selector=self._selector(resource))
        fresh = {text_at(item, "metadata", "uid"): item for item in items}
        for uid, item in list(self._known[resource].items()):
            if uid not in fresh:
                self._observe(resource, "DELETED", item)
        for item in items:
            self._observe(resource, "MODIFIED", item)
        self._watch(resource, revision)
        self.tell(KindSynced(kind))

    def break_watch(self, resource: str) -> None:
        """The stream of a resource ends; nothing is heard until it is listed again."""
        if (watch := self._watches.pop(resource, None)) is not None:
            watch.close()

    def settle(self) -> None:
        """Let happen all that can happen without time passing."""
        while self.clock.run_due() or self._advance():
            pass

    def run(self, seconds: float) -> None:
        """Let virtual time pass, stopping wherever something is due."""
        end = self.clock.now + seconds
        self.settle()
        while (moment := self._next_moment()) is not None and moment <= end:
            self.clock.now = max(self.clock.now, moment)
            self.settle()
        self.clock.now = end
        self.settle()

    def tell(self, fact: Fact) -> None:
        """Give the engine a fact."""
        self.engine.handle(fact, self.clock.now)
        self._after_step()

    def _next_moment(self) -> float | None:
        moments = [m for m in (self.clock.next_due(), self.engine.next_deadline()) if m is not None]
        return min(moments, default=None)

    def _advance(self) -> bool:
        deadline = self.engine.next_deadline()
        if deadline is None or deadline > self.clock.now:
            return False
        effects = self.engine.advance(self.clock.now, _CYCLES)
        self._after_step()
        for effect in effects:
            self._perform(effect)
        later = self.engine.next_deadline()
        return bool(effects) or (later is not None and later <= self.clock.now)

    # Events in.

    def _selector(self, resource: str) -> str:
        return _UNFINISHED if resource == "pods" else ""

    def _watch(self, resource: str, revision: int) -> None:
        def drain() -> None:
            watch = self._watches.get(resource)
            if watch is None:
                return
            for event in watch.drain():
                if isinstance(event.object, dict):
                    self._deliver(watch, resource, event.type, event.object)
                else:
                    self.relist(resource)

        self._watches[resource] = self.cluster.watch(
            resource,
            revision,
            field_selector=self._selector(resource),
            wake=lambda: self.clock.after(0.0, drain),
        )

    def _deliver(self, watch: Subscription, resource: str, kind: str, obj: JsonObject) -> None:
        """A stream is in order: an event that is late makes the next ones late, unless the fault lets it be overtaken."""
        delivery = self.faults.delivery(resource, kind, obj)
        for delay in delivery.delays:
            moment = self.clock.now + delay
            if not delivery.may_overtake:
                moment = max(moment, self._arrived.get(resource, 0.0))
                self._arrived[resource] = moment

            def arrive() -> None:
                # What a broken stream had not delivered yet never comes: the next list tells it.
                if self._watches.get(resource) is watch:
                    self._observe(resource, kind, obj)

            self.clock.at(moment, arrive)

    def _observe(self, resource: str, kind: str, obj: JsonObject) -> None:
        uid = text_at(obj, "metadata", "uid")
        if kind == "DELETED":
            self._known[resource].pop(uid, None)
        else:
            self._known[resource][uid] = obj
        self.tell(self._gone(resource, obj) if kind == "DELETED" else self._seen(resource, obj))

    def _gone(self, resource: str, obj: JsonObject) -> Fact:
        uid = text_at(obj, "metadata", "uid")
        match self._kinds[resource]:
            case Kind.POD:
                return PodGone(uid)
            case Kind.NODE:
                return NodeGone(name_of(obj), uid)
            case kind:
                return ObjectGone(kind, uid, namespace_of(obj), name_of(obj))

    def _seen(self, resource: str, obj: JsonObject) -> Fact:
        body = msgspec.json.encode(obj)
        match self._kinds[resource]:
            case Kind.POD:
                return PodSeen(self._pods.decode(body))
            case Kind.NODE:
                return NodeSeen(self._nodes.decode(body))
            case kind:
                return ObjectSeen(self._others[kind].decode(body))

    # Effects out.

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, RecordEvent):
            self.sent.append(effect)
            return
        plan = self.faults.plan(effect)
        self.clock.after(plan.before, lambda: self._call(effect, plan))

    def _call(self, effect: AwaitedEffect, plan: CallPlan) -> None:
        withdrawn = self._withdrawn(effect)
        outcome: Outcome
        if withdrawn is not None:
            outcome = Withdrawn(withdrawn)
        else:
            self.sent.append(effect)
            if isinstance(effect, CallExtender):
                self._call_extender(effect, plan)
                return
            outcome = self._carry_out(effect) if plan.carried_out else Done()
            outcome = plan.answer or outcome
        self.clock.after(plan.after, lambda: self.tell(EffectDone(effect.effect_id, outcome)))

    def _withdrawn(self, effect: AwaitedEffect) -> str | None:
        """Why a call is not made any more: whoever does not lead writes nothing."""
        binding = effect.binding if isinstance(effect, CallExtender) else effect
        if isinstance(binding, Bind):
            return self.engine.withdrawn(binding)
        writes = isinstance(effect, PatchPodStatus | MarkDisrupted | DeletePod | ClearNomination)
        return "this replica does not lead any more" if writes and not self.engine.leading else None

    def _call_extender(self, effect: CallExtender, plan: CallPlan) -> None:
        """An answer that takes longer than the extender's timeout is not waited for."""
        extender = self.extenders.get(effect.extender)
        outcome: Outcome = Unknown("connection refused")
        if extender is not None and plan.carried_out:
            outcome = extender(effect.url, effect.body)
        outcome = plan.answer or outcome
        if plan.after > effect.timeout:
            outcome = Unknown(f"no answer within {effect.timeout:g} s")
        self.clock.after(min(plan.after, effect.timeout), lambda: self.tell(EffectDone(effect.effect_id, outcome)))

    def _carry_out(self, effect: ApiCall) -> Outcome:
        try:
            match effect:
                case Bind():
                    self.cluster.bind(effect.namespace, effect.name, _json(binding_body(effect)))
                case PatchPodStatus():
                    self._patch(effect, status_patch(effect, timestamp(self.clock.wall())))
                case MarkDisrupted():
                    self._patch(effect, disruption_patch(effect, timestamp(self.clock.wall())))
                case ClearNomination():
                    self._patch(effect, nomination_patch(effect))
                case DeletePod():
                    options = parse_delete_options(_json(delete_options(effect)))
                    self.cluster.delete_with("pods", effect.namespace, effect.name, options)
                case ReadPod():
                    return self._read(effect)
                case BindVolume():
                    return self._patch_object(effect, Kind.PERSISTENT_VOLUME, claim_patch(effect))
                case SelectNode():
                    return self._patch_object(effect, Kind.PERSISTENT_VOLUME_CLAIM, selected_node_patch(effect))
                case ReadObject():
                    return self._read_object(effect)
        except ApiError as refusal:
            return Refused(refusal.code, refusal.reason, refusal.message)
        return Done()

    def _patch(self, effect: PatchPodStatus | MarkDisrupted | ClearNomination, body: Mapping[str, object]) -> None:
        self.cluster.patch("pods", effect.namespace, effect.name, _json(body), _STRATEGIC, subresource="status")

    def _patch_object(self, effect: BindVolume | SelectNode, kind: Kind, patch: object) -> FoundObject:
        plural = FOLLOWED[kind].plural
        changed = self.cluster.patch(plural, effect.namespace or None, effect.name, _json(patch), _MERGE)
        return FoundObject(self._others[kind].decode(msgspec.json.encode(changed)))

    def _read_object(self, effect: ReadObject) -> FoundObject:
        try:
            obj = self.cluster.get(FOLLOWED[effect.kind].plural, effect.namespace or None, effect.name)
        except ApiError as refusal:
            if refusal.code == 404:
                return FoundObject(None)
            raise
        found = self._others[effect.kind].decode(msgspec.json.encode(obj))
        return FoundObject(found if found.uid == effect.uid else None)

    def _read(self, effect: ReadPod) -> Found:
        try:
            obj = self.cluster.get("pods", effect.namespace, effect.name)
        except ApiError as refusal:
            if refusal.code == 404:
                return Found(None)
            raise
        same = text_at(object_at(obj, "metadata"), "uid") == effect.uid
        return Found(self._pods.decode(msgspec.json.encode(obj)) if same else None)


def _json(body: object) -> JsonObject:
    """A body as the server would see it."""
    return msgspec.json.decode(msgspec.json.encode(body), type=dict)
