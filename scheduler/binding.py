"""Writing a Binding, or letting an extender write it, and finding out what became of it when the answer did not say."""

from collections.abc import Mapping

from scheduler import consulting
from scheduler.config import Extender
from scheduler.extenders import answers, requests
from scheduler.extenders.interest import interested
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


async def bind_by_extender(state: State, pod: PodInfo, node_name: str) -> Status | None:
    """Let the extender that binds such pods do it; None if there is none, or if it has failed and may be ignored.

    Whatever it answers but success says nothing certain, for the Binding may have been written before. What plugins have put
    beside the Binding (annotations) is not sent: the protocol has no place for it.
    """
    binder = next((extender for extender in interested(state.extenders, pod) if extender.bind_verb), None)
    if binder is None:
        return None
    status = await _ask_to_bind(state, pod, node_name, binder)
    return None if status.code is Code.ERROR and binder.ignorable else status


async def _ask_to_bind(state: State, pod: PodInfo, node_name: str, binder: Extender) -> Status:
    body = requests.binding_body(pod, node_name)
    stands_for = Bind(next(state.effect_ids), pod.uid, pod.namespace, pod.name, node_name, {})
    made = consulting.call(state, pod, binder, consulting.BIND, body, binding=stands_for)
    try:
        answers.check_bound(consulting.body_of(binder, made, await Perform(made)))
    except consulting.NotSentError as reason:
        state.tell(pod, "binding withdrawn", str(reason))
        return Status(Code.WAIT, (str(reason),))
    except answers.AnswerError as problem:
        consulting.report(state, pod, binder, consulting.BIND, problem)
        return await _settle(state, pod, node_name, str(problem))
    return SUCCESS


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
