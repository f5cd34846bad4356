"""Writing a Binding, and finding out what became of it when the answer did not say."""

from collections.abc import Mapping

from scheduler.framework import SUCCESS, Code, PodInfo, Status, error
from scheduler.messages import Bind, Done, Found, Outcome, ReadPod, Refused, Unknown, Withdrawn
from scheduler.state import State
from scheduler.tasks import Perform, Sleep

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 10.0


async def bind(state: State, pod: PodInfo, node_name: str, annotations: Mapping[str, str]) -> Status:
    """POST the Binding; success only if the pod is on this node, Wait if nothing was sent.

    An unknown outcome is settled by reading the pod, for as long as it takes: what was reserved stays reserved until then.
    """
    outcome: Outcome = await Perform(
        Bind(next(state.effect_ids), pod.uid, pod.namespace, pod.name, node_name, annotations)
    )
    match outcome:
        case Done():
            return SUCCESS
        case Withdrawn(reason=reason):
            state.tell(pod, "binding withdrawn", reason)
            return Status(Code.WAIT, (reason,))
        case Refused(code=404):
            state.lose_pod(pod.uid)
            return error("the pod is gone")
        case Refused(code=409, message=message):
            return await _settle(state, pod, node_name, f"binding rejected: {message}")
        case Refused(code=code, message=message):
            return error(f"binding rejected: {message} (HTTP {code})")
        case Unknown(message=message):
            state.tell(pod, "binding unanswered", message)
            return await _settle(state, pod, node_name, f"binding failed: {message}")
        case _:
            return error(f"binding answered with {type(outcome).__name__}")


async def _settle(state: State, pod: PodInfo, node_name: str, otherwise: str) -> Status:
    """Read the pod until it is known whether it is bound; the watch may say so first."""
    wait = _FIRST_WAIT
    while True:
        if not state.cache.is_assumed(pod.uid):
            placement = state.cache.placement(pod.uid)
            return SUCCESS if placement is not None and placement.node_name == node_name else error(otherwise)
        answer = await Perform(ReadPod(next(state.effect_ids), pod.uid, pod.namespace, pod.name))
        match answer:
            case Found(pod=None):
                state.lose_pod(pod.uid)
            case Found(pod=PodInfo() as found):
                state.see_pod(found)
                if state.cache.is_assumed(pod.uid):
                    return error(otherwise)
            case _:
                await Sleep(state.now + wait)
                wait = min(_LONGEST_WAIT, 2 * wait)
