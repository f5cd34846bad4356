"""The engine: facts in, effects out. It owns all state, runs the attempts and is told the time.

It does no input or output and reads no clock; its randomness comes from a seed. A driver gives it what was observed
(`handle`), lets it work (`advance`), performs the effects that come out and reports how each ended.
"""

import heapq
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeVar

import numpy as np

from scheduler.api import ApiObject, Kind
from scheduler.cache.cache import Cache
from scheduler.cache.rows import Rows
from scheduler.changes import ASSIGNED_POD_DELETE
from scheduler.config import Configuration
from scheduler.cycle import attempt
from scheduler.extenders.interest import consulted_on_all, manifests
from scheduler.framework import CycleState, Plugin, PodInfo, Status, error
from scheduler.messages import (
    Bind,
    ConfigurationChanged,
    Done,
    Effect,
    EffectDone,
    Fact,
    Found,
    KindStale,
    KindSynced,
    LeadershipGained,
    LeadershipLost,
    NodeGone,
    NodeSeen,
    ObjectFact,
    ObjectGone,
    ObjectSeen,
    Outcome,
    PodGone,
    PodSeen,
    ReadPod,
)
from scheduler.observer import Observer
from scheduler.permits import Waiting
from scheduler.profiles import ProfileMaker, kinds
from scheduler.queue.backoff import Backoff
from scheduler.queue.entry import Part, QueueEntry
from scheduler.queue.scheduling_queue import SchedulingQueue
from scheduler.runtime.filters import NodeVerdicts
from scheduler.state import HOLD_OVER, State, is_refusal
from scheduler.story import StoryLine
from scheduler.tasks import CancelledError, ChangeWait, Perform, PermitWait, Sleep, Suspension, Together, Turn

_MOST_UNSTARTED = 10_000

A = TypeVar("A", bound=ApiObject)


@dataclass(slots=True, eq=False)
class Task:
    """A coroutine under way, for an entry of the queue or (None) on the engine's own account. `ended` is told what it answers."""

    coroutine: Coroutine[Suspension[Any], Any, Any]
    entry: QueueEntry | None
    ended: Callable[[Any], None] | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What can be told at a glance."""

    profiles: Sequence[str]
    nodes: int
    pending: Mapping[str, int]
    in_flight: int
    bound: int
    assumed: int
    bound_here: int
    refused_by_kubelets: int
    last_decision: str
    synced: bool
    leading: bool


class Engine:
    """Owner of queue, cache and attempts, and of what plugins share. Only pods of `namespace` are scheduled, unless it is empty.

    `kinds` are those that a driver must follow: pods, nodes, and what plugins need; `manifests` says which objects it must hand
    over whole. Both may be different after a `ConfigurationChanged`; if `manifests` are, everything is to be listed afresh.
    """

    def __init__(
        self,
        configuration: Configuration,
        registry: Mapping[str, type[Plugin]],
        seed: int,
        observer: Observer,
        namespace: str = "",
    ) -> None:
        self.shared: dict[type, object] = {}
        cache = Cache()
        self._maker = ProfileMaker(registry, self, cache, observer)
        profiles = self._maker.make(configuration, {})
        flush_after = configuration.pod_max_in_unschedulable_seconds
        queue = SchedulingQueue(profiles, _backoff(configuration), flush_after, observer)
        self.state = State(
            queue, profiles, cache, observer, np.random.default_rng(seed), configuration.extenders, namespace
        )
        self.manifests = manifests(configuration)
        self.kinds = kinds(profiles)
        self._leading = False
        self._synced: set[Kind] = set()
        self._awaiting: dict[int, Task] = {}
        self._joining: set[Task] = set()
        self._turns: list[tuple[Task, Turn]] = []
        self._permit_waits: dict[str, Task] = {}
        self._sleeping: list[tuple[float, int, Task]] = []
        self._change_waits: dict[int, Task] = {}
        self._tickets = count(1)

    @property
    def ready(self) -> bool:
        """Whether every kind that is followed is known completely."""
        return self._synced >= self.kinds

    @property
    def leading(self) -> bool:
        """Whether this replica may decide and write."""
        return self._leading

    def handle(self, fact: Fact, now: float) -> None:
        """Take over what was observed. Raises ConfigError, with nothing changed, if a configuration cannot be put into force."""
        self.state.now = now
        match fact:
            case EffectDone(effect_id=effect_id, outcome=outcome):
                self._effect_done(effect_id, outcome)
            case KindSynced(kind=kind):
                self._synced.add(kind)
            case KindStale(kind=kind):
                self._synced.discard(kind)
            case LeadershipGained():
                self._leading = True
                self._synced.clear()
            case LeadershipLost():
                self._leading = False
            case ConfigurationChanged(configuration=configuration):
                self._reconfigure(configuration)
            case _:
                self._observe(fact)
        self._resume_waits()

    def _reconfigure(self, configuration: Configuration) -> None:
        """Attempts under way end with the plugins they began with, or are undone; queue and cache stay."""
        state = self.state
        profiles = self._maker.make(configuration, state.profiles)
        state.take_over(profiles, configuration.extenders, _backoff(configuration))
        if manifests(configuration) != self.manifests:
            self.manifests = manifests(configuration)
            self._synced.clear()
        for kind in self.kinds - kinds(profiles):
            state.objects.forget(kind)
        self.kinds = kinds(profiles)
        self._synced &= self.kinds

    def _observe(self, fact: ObjectFact) -> None:
        state = self.state
        match fact:
            case PodSeen(pod=pod):
                state.see_pod(pod)
            case PodGone(uid=uid):
                unstarted = state.lose_pod(uid)
                if unstarted is not None and self._leading:
                    self._step(Task(_learn_why_it_ended(state, unstarted), None), None)
            case NodeSeen(node=node):
                state.see_node(node)
            case NodeGone(name=name, uid=uid):
                state.lose_node(name, uid)
            case ObjectSeen(object=obj):
                # What is heard of a kind that is not followed any more would never be corrected.
                if obj.kind in self.kinds:
                    state.see_object(obj)
            case ObjectGone(kind=kind, uid=uid, namespace=namespace, name=name):
                state.lose_object(kind, uid, namespace, name)

    def advance(self, now: float, cycles: int) -> list[Effect]:
        """Let time pass up to `now` and run at most this many scheduling cycles; answers what the driver shall do."""
        state = self.state
        state.now = now
        self._wake_sleepers()
        state.permits.expire(now)
        state.waits.expire(now)
        self._resume_waits()
        if state.holds.expire(now):
            state.wake(HOLD_OVER, None, None)
        for _ in range(cycles):
            if not self._may_decide():
                break
            task = self._next_cycle()
            if task is None:
                break
            self._step(task, None)
            self._resume_waits()
        effects, state.effects = state.effects, []
        return effects

    def next_deadline(self) -> float | None:
        """When `advance` has something to do without further facts; a time in the past means at once, None never."""
        state = self.state
        if state.effects or state.permits.resolved or state.waits.resolved or state.cancelled:
            return 0.0
        times = [self._sleeping[0][0] if self._sleeping else None]
        times.append(state.permits.next_deadline())
        times.append(state.waits.next_deadline())
        times.append(state.holds.ends_after(state.now))
        if self._may_decide():
            if self._next_turn() is not None:
                return 0.0
            if not self._all_must_wait():
                times.append(state.queue.next_deadline())
        return min((time for time in times if time is not None), default=None)

    def withdrawn(self, bind: Bind) -> str | None:
        """Asked at the moment of sending: why this Binding must not be sent any more, or None.

        Fit is checked again if anything about the node has changed since the decision.
        """
        state = self.state
        if not self._leading:
            return "this replica does not lead any more"
        placement = state.cache.placement(bind.uid)
        if placement is None or not state.cache.is_assumed(bind.uid) or placement.node_name != bind.node_name:
            return "the pod is gone, or bound already"
        row = state.cache.nodes.row_of(bind.node_name)
        if row is None:
            return f"node {bind.node_name} is gone"
        if state.cache.unchanged_since_assumed(bind.uid):
            return None
        return self._misfit(placement.pod, row)

    def story(self, uid: str) -> list[StoryLine]:
        """What happened to a pod and why, oldest first."""
        return self.state.stories.of(uid)

    def find_pod(self, namespace: str, name: str) -> PodInfo | None:
        """A pod by name, for people; a search over all pods."""
        state = self.state
        waiting = (pod for entry in state.queue.entries() for pod in entry.members.values())
        pods = [*waiting, *state.cache.bound_pods().values()]
        return next((pod for pod in pods if pod.name == name and pod.namespace == namespace), None)

    def summary(self) -> Summary:
        """What can be told at a glance."""
        state = self.state
        sizes = state.queue.sizes()
        return Summary(
            profiles=tuple(state.profiles),
            nodes=len(state.cache.nodes),
            pending={part.value: sizes[part] for part in (Part.ACTIVE, Part.BACKOFF, Part.UNSCHEDULABLE, Part.GATED)},
            in_flight=sizes[Part.IN_FLIGHT],
            bound=state.cache.bound_count,
            assumed=state.cache.assumed_count,
            bound_here=state.bound_here,
            refused_by_kubelets=state.refused,
            last_decision=state.last_decision,
            synced=self.ready,
            leading=self._leading,
        )

    def validate(self) -> None:
        """Check the invariants of queue, cache and attempts; AssertionError names the broken one (INV-2, 3, 6)."""
        state = self.state
        state.queue.validate()
        state.cache.validate()
        running = {task.entry.key for task in self._tasks() if task.entry is not None}
        in_flight = {entry.key for entry in state.queue.entries() if entry.part is Part.IN_FLIGHT}
        assert in_flight <= running, f"in flight without an attempt: {in_flight - running}"
        for uid in state.cache.assumed_pods():
            assert uid in running or uid in state.unstarted, f"pod {uid} is assumed without an attempt"
        assert set(state.permits.uids()) == set(self._permit_waits), "permits and their attempts differ"
        assert set(state.waits.tickets()) == set(self._change_waits), "waits and their attempts differ"
        for uid in state.nominator.uids():
            assert uid not in state.cache.bound_pods(), f"pod {uid} is bound and still promised a node"

    def _may_decide(self) -> bool:
        return self._leading and self.ready and not self.state.deciding

    def _next_cycle(self) -> Task | None:
        """The scheduling cycle that goes on or begins next."""
        place = self._next_turn()
        if place is not None:
            return self._turns.pop(place)[0]
        entry = None if self._all_must_wait() else self.state.queue.pop(self.state.now)
        return None if entry is None else Task(attempt(self.state, entry), entry)

    def _next_turn(self) -> int | None:
        """Whose turn it is: whoever comes back from the extenders; if nobody is with them, the first in the queue's order."""
        for place, (_, turn) in enumerate(self._turns):
            if not turn.consults:
                return place
        if self.state.consulting:
            return None
        order = self.state.queue.order
        waiting = [(order(task.entry), i) for i, (task, _) in enumerate(self._turns) if task.entry is not None]
        return min(waiting)[1] if waiting else None

    def _all_must_wait(self) -> bool:
        """Whether a pod is with extenders that have to be asked about all others too, which is then better left in the queue."""
        return self.state.consulting and consulted_on_all(self.state.extenders)

    def _misfit(self, pod: PodInfo, row: int) -> str | None:
        """Whether the node would still take the pod if it were not counted there yet."""
        state = self.state
        scratch = state.cache.nodes.scratch(np.array([row]))
        name = state.cache.nodes.info(row).name
        scratch.remove_pod(name, pod.uid)
        runtime = state.profiles.get(pod.spec.scheduler_name)
        if runtime is None:
            return f"no profile is named {pod.spec.scheduler_name} any more"
        cycle = CycleState()
        outcome = runtime.run_pre_filter(cycle, pod)
        if not outcome.status.ok:
            return outcome.status.message
        verdicts = runtime.run_filters(cycle, pod, Rows(scratch, scratch.live(), state.cache.nodes))
        verdict = verdicts.status_at(0) if isinstance(verdicts, NodeVerdicts) else verdicts
        return None if verdict.ok else f"{name}: {verdict.message}"

    def _effect_done(self, effect_id: int, outcome: Outcome) -> None:
        task = self._awaiting.pop(effect_id, None)
        if task is not None:
            self._step(task, outcome)
            return
        patch = self.state.patches.pop(effect_id, None)
        if patch is not None and not isinstance(outcome, Done):
            key, uid = patch
            entry = self.state.queue.get(key)
            if entry is not None:
                # What the condition says is not known now, so the next attempt writes it again.
                entry.shown.pop(uid, None)

    def _step(self, task: Task, value: object) -> None:
        """Resume a coroutine with what it has waited for."""
        self._resume(task, partial(task.coroutine.send, value))

    def _resume(self, task: Task, resume: Callable[[], object]) -> None:
        """Let a coroutine go on, and note what it waits for next."""
        try:
            suspension = resume()
            if not isinstance(suspension, Suspension):
                # A plugin awaits what only an event loop can answer; where it does so, it is told, and to whom it is reported.
                suspension = task.coroutine.throw(TypeError(f"awaits {suspension!r}, allowed: what the handle gives"))
        except StopIteration as end:
            self._trim()
            if task.ended is not None:
                task.ended(end.value)
            return
        except Exception as exception:  # noqa: BLE001  a fault in one attempt must not stop the others
            self._crashed(task, exception)
            return
        self._suspend(task, suspension)

    def _suspend(self, task: Task, suspension: object) -> None:
        match suspension:
            case Perform(effect=effect):
                self._awaiting[effect.effect_id] = task
                self.state.emit(effect)
            case Turn():
                self._turns.append((task, suspension))
            case Sleep(until=until):
                heapq.heappush(self._sleeping, (until, next(self._tickets), task))
            case ChangeWait(names=names, until=until):
                ticket = next(self._tickets)
                self._change_waits[ticket] = task
                self.state.waits.wait(ticket, names, until)
            case PermitWait(pod=pod, plugins=plugins, until=until, expires_by=expires_by):
                self._permit_waits[pod.uid] = task
                self.state.permits.wait(Waiting(pod, set(plugins), until, expires_by))
            case Together(coroutines=coroutines):
                self._together(task, coroutines)
            case _:
                task.coroutine.close()
                self._crashed(task, TypeError("an attempt goes on awaiting what the engine cannot give"))

    def _together(self, task: Task, coroutines: Sequence[Coroutine[Suspension[Any], Any, Status]]) -> None:
        statuses: dict[int, Status] = {}
        self._joining.add(task)

        def ended(number: int, status: Status) -> None:
            statuses[number] = status
            if len(statuses) == len(coroutines):
                self._joining.remove(task)
                self._step(task, [statuses[number] for number in range(len(coroutines))])

        for number, coroutine in enumerate(coroutines):
            self._step(Task(coroutine, None, partial(ended, number)), None)

    def start(self, coroutine: Coroutine[Suspension[Any], Any, None]) -> None:
        """Run something on the engine's own account, while scheduling goes on."""
        self._step(Task(coroutine, None), None)

    def _crashed(self, task: Task, exception: Exception) -> None:
        """Nothing of a broken attempt may stay behind: its room is freed and its pod is tried again after a backoff."""
        state = self.state
        state.deciding = False
        state.observer.anomaly("attempt crashed", f"{type(exception).__name__}: {exception}")
        entry = task.entry
        if task.ended is not None:
            task.ended(error(f"{type(exception).__name__}: {exception}"))
        if entry is None:
            return
        if state.queue.get(entry.key) is not entry:
            # What has left the queue is gone, bound, which keeps its room, or not ours any more.
            for uid in entry.members.keys() - state.unstarted.keys():
                if entry.profile not in state.profiles:
                    state.cache.forget(uid)
            return
        for uid, pod in entry.members.items():
            state.cache.forget(uid)
            state.tell(pod, "attempt crashed", f"{type(exception).__name__}: {exception}")
        state.queue.fail(entry, frozenset(), frozenset(), state.now)
        state.queue.wake(ASSIGNED_POD_DELETE, (entry.lead, None), state.now, excluding=entry.key)

    def _wake_sleepers(self) -> None:
        while self._sleeping and self._sleeping[0][0] <= self.state.now:
            _, _, task = heapq.heappop(self._sleeping)
            self._step(task, None)

    def _resume_waits(self) -> None:
        """Resumed attempts may end other waits, so this goes on until none is left."""
        permits, waits = self.state.permits, self.state.waits
        while permits.resolved or waits.resolved or self.state.cancelled:
            self._end_cancelled()
            if permits.resolved:
                uid, status = permits.resolved.pop(0)
                self._step(self._permit_waits.pop(uid), status)
            elif waits.resolved:
                ticket, changed = waits.resolved.pop(0)
                self._step(self._change_waits.pop(ticket), changed)

    def _end_cancelled(self) -> None:
        """PreBind is interrupted where it waits."""
        cancelled = self.state.cancelled
        while cancelled:
            uid, reason = cancelled.pop(0)
            task = self._take_waiting(uid)
            if task is not None:
                self._resume(task, partial(task.coroutine.throw, CancelledError(reason)))

    def _take_waiting(self, uid: str) -> Task | None:
        """The attempt for a pod that waits for an effect, a change or a time; whatever it waits for, it will not be told."""
        for effect_id, task in self._awaiting.items():
            if task.entry is not None and task.entry.key == uid:
                return self._awaiting.pop(effect_id)
        for ticket, task in self._change_waits.items():
            if task.entry is not None and task.entry.key == uid:
                self.state.waits.drop(ticket)
                return self._change_waits.pop(ticket)
        for sleeper in self._sleeping:
            if sleeper[2].entry is not None and sleeper[2].entry.key == uid:
                self._sleeping.remove(sleeper)
                heapq.heapify(self._sleeping)
                return sleeper[2]
        return None

    def _trim(self) -> None:
        while len(self.state.unstarted) > _MOST_UNSTARTED:
            self.state.unstarted.popitem(last=False)

    def _tasks(self) -> list[Task]:
        return [
            *self._awaiting.values(),
            *self._joining,
            *(task for task, _ in self._turns),
            *self._permit_waits.values(),
            *self._change_waits.values(),
            *(task for _, _, task in self._sleeping),
        ]


def _backoff(configuration: Configuration) -> Backoff:
    return Backoff(configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds)


async def _learn_why_it_ended(state: State, pod: PodInfo) -> None:
    """A pod vanished from the watch before it ran. If its kubelet refused it, that node waits for fresh facts."""
    answer = await Perform(ReadPod(next(state.effect_ids), pod.uid, pod.namespace, pod.name))
    match answer:
        case Found(pod=PodInfo() as found) if is_refusal(found) and found.node_name:
            state.note_refusal(found, found.node_name)
