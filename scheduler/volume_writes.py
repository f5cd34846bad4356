"""Writing what starts the binding of volumes, finding out what became of a write whose answer did not say, and waiting for others
to do their part.
"""

from collections.abc import Callable

from scheduler.api import ApiObject, ClaimReference, Kind, PersistentVolume, PersistentVolumeClaim
from scheduler.framework import SUCCESS, PodInfo, Progress, Status, error
from scheduler.messages import (
    BindVolume,
    FoundObject,
    Outcome,
    ReadObject,
    Refused,
    SelectNode,
    Unknown,
    Withdrawn,
)
from scheduler.state import State
from scheduler.tasks import ChangeWait, Perform, Sleep

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 10.0


async def bind_volume(state: State, volume: PersistentVolume, claim: PersistentVolumeClaim) -> Status:
    """Write spec.claimRef; success only if the API shows it."""
    wanted = ClaimReference(claim.namespace, claim.name, claim.uid)
    by_us = volume.claim is None or not volume.claim.means(claim)
    effect = BindVolume(
        next(state.effect_ids),
        volume.uid,
        volume.name,
        volume.resource_version,
        wanted,
        claim.resource_version,
        by_us and not volume.bound_by_controller,
    )
    return await _write(
        state,
        effect,
        Kind.PERSISTENT_VOLUME,
        lambda found: isinstance(found, PersistentVolume) and found.claim == wanted,
    )


async def select_node(state: State, claim: PersistentVolumeClaim, node_name: str) -> Status:
    """Write the annotation; success only if the API shows it."""
    effect = SelectNode(
        next(state.effect_ids), claim.uid, claim.namespace, claim.name, claim.resource_version, node_name
    )

    def shows(found: ApiObject) -> bool:
        return isinstance(found, PersistentVolumeClaim) and found.selected_node == node_name

    return await _write(state, effect, Kind.PERSISTENT_VOLUME_CLAIM, shows)


async def until(
    state: State, pod: PodInfo, node_name: str, check: Callable[[], Progress], seconds: float
) -> Status | None:
    """Ask `check` at once and whenever something it waits for, the pod or the node changes; None when the time is over."""
    end = state.now + seconds
    also = [(Kind.POD, "", pod.uid), (Kind.NODE, "", node_name)]
    while True:
        progress = check()
        if isinstance(progress, Status):
            return progress
        names = [(kind.kind, namespace, name) for kind, namespace, name in progress]
        if not await ChangeWait(frozenset([*also, *names]), end):
            return None


async def _write(
    state: State, effect: BindVolume | SelectNode, kind: Kind, carried_out: Callable[[ApiObject], bool]
) -> Status:
    """What the server answers is known at once, so that nobody decides on what was there before."""
    outcome: Outcome = await Perform(effect)
    match outcome:
        case FoundObject(object=ApiObject() as found):
            state.see_object(found)
            return SUCCESS
        case Withdrawn(reason=reason):
            return error(reason)
        case Refused(message=message):
            return error(message)
        case Unknown(message=message):
            return await _settle(state, effect, kind, carried_out, message)
        case _:
            return error(f"writing {kind} {effect.name} was answered with {type(outcome).__name__}")


async def _settle(
    state: State,
    effect: BindVolume | SelectNode,
    kind: Kind,
    carried_out: Callable[[ApiObject], bool],
    otherwise: str,
) -> Status:
    """Read the object until it is known what became of the write."""
    wait = _FIRST_WAIT
    while True:
        answer = await Perform(ReadObject(next(state.effect_ids), kind, effect.uid, effect.namespace, effect.name))
        match answer:
            case FoundObject(object=ApiObject() as found):
                state.see_object(found)
                return SUCCESS if carried_out(found) else error(otherwise)
            case FoundObject():
                state.lose_object(kind, effect.uid, effect.namespace, effect.name)
                return error(f"{kind} {effect.name} is gone")
            case _:
                await Sleep(state.now + wait)
                wait = min(_LONGEST_WAIT, 2 * wait)
