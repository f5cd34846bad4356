"""Making room: the victims of a preemption go, while the loop goes on (KEP-4832).

Nothing but the promise of the node reserves what they leave. Not here: who goes and why (preemption.py, the plugin).
"""

from collections.abc import Sequence

from scheduler.changes import ASSIGNED_POD_DELETE
from scheduler.framework import SUCCESS, PodInfo, Status, error, unschedulable
from scheduler.messages import (
    ClearNomination,
    DeletePod,
    Done,
    Found,
    MarkDisrupted,
    Outcome,
    ReadPod,
    RecordEvent,
    Refused,
    Unknown,
    Withdrawn,
)
from scheduler.rooms import Room
from scheduler.state import PAUSE_OVER, Preemption, State
from scheduler.tasks import Perform, Sleep, Together

IN_MEMORY = " (before it was bound)"


async def preempt(state: State, pod: PodInfo, node_name: str, victims: Sequence[PodInfo], plugin: str) -> None:
    """Evict the victims; the pod waits in the queue until all but the last are evicted and the last one is about to be.

    With the last the event comes that wakes the pod. If a victim cannot be evicted, the last one is spared, the promise is taken
    back and the pod is tried again after a backoff.
    """
    going = [victim for victim in victims if not victim.terminating]
    if not going:
        return
    *first, last = going
    state.tell(pod, "preempts", f"{node_name}: {', '.join(victim.key for victim in going)}")
    state.observer.pod_preempts(pod, node_name, len(victims))
    renounce(state, pod, node_name)
    if (info := state.cache.nodes.by_name(node_name)) is not None:
        state.rooms.make(pod.uid, info, [victim.uid for victim in victims])
    under_way = state.preemptions[pod.uid] = Preemption(node_name)
    try:
        evictions = [evict(state, pod, node_name, victim, plugin) for victim in first]
        statuses = list(await Together(evictions)) if evictions else []
        under_way.last = last
        if all(status.ok for status in statuses) and state.queue.get(pod.uid) is not None:
            statuses.append(await evict(state, pod, node_name, last, plugin))
    finally:
        # The pod may preempt again as soon as the last victim is seen to go, before the answer is here.
        if state.preemptions.get(pod.uid) is under_way:
            del state.preemptions[pod.uid]
    if state.cache.placement(last.uid) is None:
        # It went while the others were being evicted, and the event was not heard behind the gate.
        state.queue.ungate(pod.uid, ASSIGNED_POD_DELETE, state.now)
    failed = [status.message for status in statuses if not status.ok]
    if failed:
        give_up(state, pod, node_name, failed)


def lost_rooms(state: State, pod: PodInfo) -> dict[str, Room]:
    """By node name, where room was made for the pod and taken by another scheduler's, so that it must not evict there for now."""
    infos = [info for name in state.rooms.made(pod.uid) if (info := state.cache.nodes.by_name(name)) is not None]
    looked = {info.name: state.rooms.look(pod.uid, info, state.profiles.keys(), state.now) for info in infos}
    return {name: room for name, room in looked.items() if room is not None}


def lost(room: Room) -> Status:
    """Why the pod does not evict anybody on a node."""
    return unschedulable(f'room made for the pod was taken by a pod of scheduler "{room.taken_by}"')


async def try_after(state: State, uid: str, until: float) -> None:
    """Try a pod again when its pause is over."""
    await Sleep(until)
    state.queue.reconsider(uid, PAUSE_OVER, state.now)


async def evict(state: State, pod: PodInfo, node_name: str, victim: PodInfo, plugin: str) -> Status:
    """One victim goes: back to the queue if it was not bound yet, else by DELETE; success if it is gone or going."""
    note = f"Preempted by pod {pod.uid} on node {node_name}"
    if state.permits.preempt(victim.uid, "preempted", plugin) or state.cancel(victim.uid, f"preempted by {plugin}"):
        _tell(state, victim, note + IN_MEMORY)
        return SUCCESS
    placement = state.cache.placement(victim.uid)
    if placement is None or placement.pod.terminating:
        return SUCCESS
    if not placement.pod.preempted:
        message = f"{pod.spec.scheduler_name}: preempting to accommodate a higher priority pod"
        marked = await Perform(
            MarkDisrupted(next(state.effect_ids), victim.uid, victim.namespace, victim.name, message, victim.generation)
        )
        if not isinstance(marked, Done):
            return SUCCESS if await _is_gone(state, victim, marked) else _failed(victim, marked)
    deleted = await Perform(DeletePod(next(state.effect_ids), victim.uid, victim.namespace, victim.name))
    if isinstance(deleted, Done) or (isinstance(deleted, Unknown) and await _goes(state, victim)):
        _tell(state, victim, note)
        return SUCCESS
    return SUCCESS if await _is_gone(state, victim, deleted) else _failed(victim, deleted)


def renounce(state: State, pod: PodInfo, node_name: str) -> None:
    """Less important pods that were promised the node find another place sooner if they are not promised it any more."""
    for other in list(state.nominator.on(node_name)):
        # What other schedulers promise is theirs to take back.
        if other.spec.priority < pod.spec.priority and state.queue.get(other.uid) is not None:
            state.nominator.clear(other.uid)
            state.tell(other, "promise taken back", f"{node_name} is made free for {pod.key}")
            state.emit(ClearNomination(next(state.effect_ids), other.uid, other.namespace, other.name))
            state.queue.activate(other.uid, state.now)


def give_up(state: State, pod: PodInfo, node_name: str, problems: Sequence[str]) -> None:
    """Not all victims could be evicted: the room will not be there, so it is not promised any more."""
    note = f"preemption on node {node_name} failed: {'; '.join(problems)}"
    state.tell(pod, "preemption failed", note)
    if state.queue.get(pod.uid) is None:
        return
    if state.nominator.node_of(pod.uid) == node_name:
        state.take_back(pod)
        state.emit(ClearNomination(next(state.effect_ids), pod.uid, pod.namespace, pod.name))
    state.emit(RecordEvent(pod.uid, pod.namespace, pod.name, "Warning", "FailedPreemption", "Preempting", note))
    state.queue.retry(pod.uid, state.now)


async def _goes(state: State, victim: PodInfo) -> bool:
    """A DELETE was not answered: whether it was carried out all the same."""
    answer = await Perform(ReadPod(next(state.effect_ids), victim.uid, victim.namespace, victim.name))
    return isinstance(answer, Found) and (answer.pod is None or answer.pod.terminating)


async def _is_gone(state: State, victim: PodInfo, outcome: Outcome) -> bool:
    """There is no such pod any more. Another one may have its name: then a precondition fails (409), or a patch would change the
    UID (422); but a conflict may have other reasons.
    """
    match outcome:
        case Refused(code=404):
            return True
        case Refused(code=409 | 422):
            return await _goes(state, victim)
        case _:
            return False


def _failed(victim: PodInfo, outcome: Outcome) -> Status:
    match outcome:
        case Refused(code=code, message=message):
            return error(f"{victim.key} cannot be evicted: {message} (HTTP {code})")
        case Unknown(message=message) | Withdrawn(reason=message):
            return error(f"{victim.key} cannot be evicted: {message}")
        case _:
            return error(f"{victim.key} cannot be evicted: answered with {type(outcome).__name__}")


def _tell(state: State, victim: PodInfo, note: str) -> None:
    state.tell(victim, "preempted", note)
    state.emit(RecordEvent(victim.uid, victim.namespace, victim.name, "Normal", "Preempted", "Preempting", note))
