"""Asking extenders about a pod: which nodes they refuse, how they rank the rest, which victims they would spare.

While they think, other pods are decided on, facts come in and Bindings go out. So what they say is kept as an `Opinion` and
applied to the facts of afterwards; nothing is decided on what was known before. Not here: the bind verb (binding.py).
"""

from collections.abc import Iterable, Mapping, Sequence

from scheduler.cache.rows import Rows
from scheduler.config import Extender
from scheduler.extenders import answers, requests
from scheduler.extenders.answers import AnswerError, Filtered, NamedVictims
from scheduler.extenders.interest import interested
from scheduler.framework import SUCCESS, Code, Node, PodInfo, Status, Victims, error
from scheduler.messages import Answered, Bind, CallExtender, Outcome, Unknown, Withdrawn
from scheduler.opinion import Candidates, Opinion
from scheduler.queue.entry import QueueEntry
from scheduler.state import EXTENDER, State
from scheduler.tasks import Perform, Sleep, Together, Turn

FILTER = "filter"
PRIORITIZE = "prioritize"
PREEMPT = "preempt"
BIND = "bind"

_LEASE_SETTLES = 1.0


class NotSentError(Exception):
    """Nothing was asked: the lease is not valid, or the Binding is not wanted any more."""


async def ask(state: State, entry: QueueEntry, rows: Rows, opinion: Opinion) -> Status:
    """Ask about these nodes, and wait for the turn to decide again. Error if an answer that is needed did not come, Wait if
    nothing was sent.
    """
    asked = Candidates(rows)
    state.deciding = False
    status = SUCCESS
    try:
        await _consult(state, entry.lead, asked, opinion)
    except AnswerError as problem:
        status = error(str(problem))
    except NotSentError as reason:
        status = Status(Code.WAIT, (str(reason),))
        # A lease that is not valid is renewed or known to be lost soon; until then asking again would be in vain.
        await Sleep(state.now + _LEASE_SETTLES)
    await Turn(consults=False)
    state.deciding = True
    return status


async def process_preemption(
    state: State, pod: PodInfo, candidates: Mapping[str, Victims]
) -> Mapping[str, Victims] | Status:
    """Let extenders with a preempt verb narrow down candidates, one after another (kube-scheduler's callExtenders).

    Nodes about which anything has changed meanwhile are left out, for what was found of them may be wrong now; all of them if
    the pod is gone.
    """
    asked = [extender for extender in interested(state.extenders, pod) if extender.preempt_verb]
    if not asked or not candidates:
        return candidates
    before = {name: _standing(state, name) for name in candidates}
    state.deciding = False
    result: Mapping[str, Victims] | Status
    try:
        result = await _narrowed(state, pod, asked, candidates)
    except (AnswerError, NotSentError) as problem:
        result = error(str(problem))
    await Turn(consults=False)
    state.deciding = True
    if isinstance(result, Status):
        return result
    if state.queue.get(pod.uid) is None:
        return {}
    return {name: victims for name, victims in result.items() if _standing(state, name) == before[name]}


def _standing(state: State, node_name: str) -> tuple[int, frozenset[str]]:
    """What tells whether anything about a node has changed: its generation, and whom it is promised to."""
    row = state.cache.nodes.row_of(node_name)
    generation = -1 if row is None else int(state.cache.nodes.generation[row])
    return generation, frozenset(pod.uid for pod in state.nominator.on(node_name))


def call(
    state: State, pod: PodInfo, extender: Extender, verb: str, body: bytes, *, binding: Bind | None = None
) -> CallExtender:
    """A call of one verb."""
    paths = {
        FILTER: extender.filter_verb,
        PRIORITIZE: extender.prioritize_verb,
        PREEMPT: extender.preempt_verb,
        BIND: extender.bind_verb,
    }
    url = requests.url(extender, paths[verb])
    return CallExtender(
        next(state.effect_ids), pod.uid, extender.name, verb, url, body, extender.timeout, binding=binding
    )


def body_of(extender: Extender, made: CallExtender, outcome: Outcome) -> bytes:
    """What was answered. Raises AnswerError, in kube-scheduler's words, if nothing was or not with 200, and NotSentError."""
    failed = f"failed {requests.verb_of(extender, made.url)} with extender at URL {made.url}"
    match outcome:
        case Answered(status=200, body=body):
            return body
        case Answered(status=code):
            raise AnswerError(f"{failed}, code {code}")
        case Unknown(message=message):
            raise AnswerError(f"{failed}: {message}")
        case Withdrawn(reason=reason):
            raise NotSentError(reason)
        case _:
            raise AnswerError(f"a call of {made.url} was answered with {type(outcome).__name__}")


def report(state: State, pod: PodInfo, extender: Extender, verb: str, problem: AnswerError) -> None:
    """Name the extender that failed."""
    state.tell(pod, "extender failed", f"{extender.name}: {problem}")
    state.observer.extender_failed(extender.name, verb, str(problem))


async def _consult(state: State, pod: PodInfo, asked: Candidates, opinion: Opinion) -> None:
    """First the filters, each on what the last one has left, then all the rankings at once."""
    left, refused = asked.nodes, dict[str, Status]()
    for extender in opinion.extenders:
        if extender.filter_verb and left:
            left = await _filter(state, pod, extender, left, refused)
    scores = await _rank(state, pod, opinion.extenders, left) if len(left) > 1 else {}
    opinion.note(asked, left, refused, scores)


async def _filter(
    state: State, pod: PodInfo, extender: Extender, nodes: Mapping[str, Node], refused: dict[str, Status]
) -> Mapping[str, Node]:
    """The nodes that are left; why others are not is added to `refused`. An extender that fails may be ignorable."""
    made = call(state, pod, extender, FILTER, requests.args_body(extender, pod, nodes.values()))
    try:
        answer = answers.filtered(extender, body_of(extender, made, await Perform(made)))
        left = {name: nodes[name] for name in _known_names(extender, answer, nodes)}
    except AnswerError as problem:
        report(state, pod, extender, FILTER, problem)
        if extender.ignorable:
            return nodes
        raise
    for reasons, code in (
        (answer.failed, Code.UNSCHEDULABLE),
        (answer.unresolvable, Code.UNSCHEDULABLE_AND_UNRESOLVABLE),
    ):
        refused.update((name, Status(code, (reason,), EXTENDER)) for name, reason in reasons.items())
    return left


def _known_names(extender: Extender, answer: Filtered, nodes: Mapping[str, Node]) -> Iterable[str]:
    for name in answer.node_names:
        if name not in nodes:
            found = f'extender "{extender.name}" claims a filtered node "{name}"'
            raise AnswerError(f"{found} which is not found in the input node list")
    return answer.node_names


async def _rank(state: State, pod: PodInfo, extenders: Sequence[Extender], nodes: Mapping[str, Node]) -> dict[str, int]:
    """The sum of all rankings; one that does not come counts nothing."""
    totals: dict[str, int] = {}
    rankings = [_add_ranking(state, pod, e, nodes, totals) for e in extenders if e.prioritize_verb]
    statuses = await Together(rankings) if rankings else ()
    if any(status.code is Code.WAIT for status in statuses):
        raise NotSentError("the rankings were not asked for")
    return totals


async def _add_ranking(
    state: State, pod: PodInfo, extender: Extender, nodes: Mapping[str, Node], totals: dict[str, int]
) -> Status:
    made = call(state, pod, extender, PRIORITIZE, requests.args_body(extender, pod, nodes.values()))
    try:
        scores = answers.scores(extender, body_of(extender, made, await Perform(made)))
    except AnswerError as problem:
        report(state, pod, extender, PRIORITIZE, problem)
        return SUCCESS
    except NotSentError as reason:
        return Status(Code.WAIT, (str(reason),))
    for name, score in scores.items():
        totals[name] = totals.get(name, 0) + score
    return SUCCESS


async def _narrowed(
    state: State, pod: PodInfo, extenders: Sequence[Extender], candidates: Mapping[str, Victims]
) -> Mapping[str, Victims]:
    for extender in extenders:
        if not candidates:
            break
        made = call(state, pod, extender, PREEMPT, requests.preemption_body(extender, pod, candidates))
        try:
            answer = answers.candidates(body_of(extender, made, await Perform(made)))
            wanted = _wanted(extender, answer, candidates)
            candidates = {name: _victims(state, extender, name, named) for name, named in wanted}
        except AnswerError as problem:
            report(state, pod, extender, PREEMPT, problem)
            if not extender.ignorable:
                raise
    return candidates


def _wanted(
    extender: Extender, answer: Mapping[str, NamedVictims], offered: Mapping[str, Victims]
) -> Iterable[tuple[str, NamedVictims]]:
    """The nodes with victims; without any the pod would have fitted there."""
    for name, named in answer.items():
        if name not in offered:
            raise AnswerError(f'extender "{extender.name}" claims node "{name}", which it was not offered')
        if named.uids:
            yield name, named
        elif not extender.ignorable:
            raise AnswerError(f'expected at least one victim pod on node "{name}"')


def _victims(state: State, extender: Extender, node_name: str, named: NamedVictims) -> Victims:
    info = state.cache.nodes.by_name(node_name)
    pods = {} if info is None else info.pods
    for uid in named.uids:
        if uid not in pods:
            claim = f'extender "{extender.name}" claims to preempt pod {uid} on node "{node_name}"'
            raise AnswerError(f"{claim}, but the pod is not found on that node")
    return Victims(tuple(pods[uid] for uid in named.uids), named.violations)
