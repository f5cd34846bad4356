"""The story of one attempt: the scheduling cycle and the binding cycle, top-down, in the order of the extension points.

The scheduling cycle decides and is serial: the next one begins when it has ended, waits for extenders, or handed over to the
binding cycle, of which many are under way. They change nothing outside but through the state's effects.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from scheduler.binding import bind_by_extender
from scheduler.cache.rows import Rows
from scheduler.changes import ASSIGNED_POD_DELETE
from scheduler.consulting import ask
from scheduler.diagnosis import NO_NODES_MESSAGE, Diagnosis
from scheduler.extenders.interest import consults, interested
from scheduler.framework import Code, CycleState, NodeStatuses, PodInfo, Status, error, unresolvable
from scheduler.messages import PatchPodStatus, RecordEvent
from scheduler.opinion import Opinion
from scheduler.queue.entry import QueueEntry
from scheduler.runtime.filters import NodeVerdicts, VerdictsByName
from scheduler.runtime.profile import PreFilterOutcome, ProfileRuntime, Waits
from scheduler.runtime.promises import PodFilters
from scheduler.state import EXTENDER, KUBELET_REFUSAL, NO_NODES, UNREADABLE_POD, State
from scheduler.tasks import CancelledError, PermitWait, Turn

# Evicting pods from a node whose kubelet cannot be relied on would be in vain.
_HELD = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) refused a pod and had no news since",), KUBELET_REFUSAL)

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"


@dataclass(frozen=True, slots=True)
class Placed:
    """A decision: the pod is assumed on the node and everything is reserved."""

    node_name: str
    waits: Waits | None


@dataclass(frozen=True, slots=True)
class NotPlaced:
    """No decision. `reason` and `message` go into the pod's condition; without plugins to blame it was an error. `freed` says
    that room was taken for a moment and given back.
    """

    reason: str
    message: str
    rejectors: frozenset[str] = frozenset()
    pending: frozenset[str] = frozenset()
    nominated_node: str | None = None
    freed: bool = False


@dataclass(frozen=True, slots=True)
class Undecided:
    """Neither: the pod is gone, or nothing could be asked about it and it is to be tried again at once."""


Result = Placed | NotPlaced | Undecided
R = TypeVar("R")


async def attempt(state: State, entry: QueueEntry) -> None:
    """Try to place what an entry stands for; at the end it is bound, gone, or back in the queue.

    If something breaks that nobody reckoned with, plugins give back what they reserved; the engine sees to the rest.
    """
    runtime = state.profiles[entry.profile]
    cycle = CycleState()
    try:
        await place(state, runtime, cycle, entry)
    except Exception:
        placement = state.cache.placement(entry.key)
        if placement is not None and state.queue.get(entry.key) is entry:
            runtime.run_unreserve(cycle, entry.lead, placement.node_name)
        raise


async def place(state: State, runtime: ProfileRuntime, cycle: CycleState, entry: QueueEntry) -> None:
    """The scheduling cycle, and the binding cycle if there is something to bind."""
    state.deciding = True
    state.observer.cycle_started(runtime.name, entry.key)
    result = await scheduling_cycle(state, runtime, cycle, entry)
    state.observer.cycle_finished(runtime.name, entry.key, _result_label(result))
    state.deciding = False
    if isinstance(result, Placed):
        await binding_cycle(state, runtime, cycle, entry, result)
    elif isinstance(result, NotPlaced):
        give_back(state, entry, result)
    elif state.queue.get(entry.key) is entry:
        state.queue.put_back(entry, state.now)


async def scheduling_cycle(state: State, runtime: ProfileRuntime, cycle: CycleState, entry: QueueEntry) -> Result:
    """Choose a node and reserve it."""
    pod = entry.lead
    if pod.problem is not None:
        return NotPlaced(SCHEDULER_ERROR, pod.problem, frozenset({UNREADABLE_POD}))
    if not len(state.cache.nodes):
        return NotPlaced(UNSCHEDULABLE, NO_NODES_MESSAGE, frozenset({NO_NODES}))

    if state.extenders and not pod.manifest:
        return NotPlaced(SCHEDULER_ERROR, "extenders are to be shown the whole pod, which is not known yet")
    asked = [extender for extender in interested(state.extenders, pod) if consults(extender)]
    opinion = Opinion(state.cache.nodes, asked)
    if asked:
        return await consulting_cycle(state, runtime, cycle, entry, opinion)
    return await decide(state, runtime, cycle, pod, find_feasible(state, runtime, cycle, pod, opinion), opinion=opinion)


async def consulting_cycle(
    state: State, runtime: ProfileRuntime, cycle: CycleState, entry: QueueEntry, opinion: Opinion
) -> Result:
    """The same for a pod that extenders want to be asked about.

    They are asked about one pod at a time, as kube-scheduler does it, but pods that no extender cares about are decided
    meanwhile. After each wait everything begins again on the facts of now, with what was said so far.
    """
    state.deciding = False
    await Turn(consults=True)
    state.deciding = state.consulting = True
    try:
        while state.queue.get(entry.key) is entry:
            cycle.renew()
            found = find_feasible(state, runtime, cycle, entry.lead, opinion)
            if not isinstance(found, Rows) or opinion.covers(found):
                return await decide(state, runtime, cycle, entry.lead, found, opinion=opinion)
            status = await ask(state, entry, found, opinion)
            if not status.ok:
                return Undecided() if status.code is Code.WAIT else _error(status)
    finally:
        state.consulting = False
    return Undecided()


async def decide(
    state: State,
    runtime: ProfileRuntime,
    cycle: CycleState,
    pod: PodInfo,
    found: "Rows | Infeasible | NotPlaced",
    *,
    opinion: Opinion,
) -> Result:
    """Take the best of the feasible nodes, or try to make room."""
    if isinstance(found, NotPlaced):
        return found
    if isinstance(found, Infeasible):
        if any(extender.preempt_verb for extender in opinion.extenders):
            # What they make of the candidates may change with any event.
            found.diagnosis.rejectors.add(EXTENDER)
        return await post_filter(state, runtime, cycle, pod, found)

    node_name = choose(state, runtime, cycle, pod, found, opinion=opinion)
    if isinstance(node_name, NotPlaced):
        return node_name
    return reserve_and_permit(state, runtime, cycle, pod, node_name)


@dataclass(frozen=True, slots=True)
class Infeasible:
    """Every node refused the pod."""

    diagnosis: Diagnosis
    verdicts: NodeStatuses


def find_feasible(
    state: State, runtime: ProfileRuntime, cycle: CycleState, pod: PodInfo, opinion: Opinion
) -> Rows | Infeasible | NotPlaced:
    """PreFilter, Filter and what extenders have said: the nodes that can take the pod, as far as is known."""
    table = state.cache.nodes
    outcome = _timed(state, runtime, "PreFilter", partial(runtime.run_pre_filter, cycle, pod))
    diagnosis = Diagnosis(len(table), rejectors=set(outcome.narrowed_by))
    if not outcome.status.ok:
        if not outcome.status.rejected:
            return _error(outcome.status)
        diagnosis.pre_filter = outcome.status
        diagnosis.blame(outcome.status)
        refused = NodeVerdicts(Rows.everything(table))
        refused.refuse_all(outcome.status)
        return Infeasible(diagnosis, VerdictsByName(refused))

    promised = state.nominator.node_of(pod.uid)
    if promised and (row := table.row_of(promised)) is not None:
        tried = check(state, runtime, cycle, pod, Rows(table, np.array([row], np.int64), table))
        if isinstance(tried, NodeVerdicts):
            opinion.apply(tried)
            if len(tried.feasible()):
                return tried.rows

    rows = _worth_looking_at(state, outcome)
    verdicts = _timed(state, runtime, "Filter", partial(check, state, runtime, cycle, pod, rows))
    if isinstance(verdicts, Status):
        return _error(verdicts)
    opinion.apply(verdicts)
    feasible = opinion.known(verdicts.feasible_rows())
    if len(feasible):
        return _sampled(runtime, feasible, rows, state)
    return _infeasible(diagnosis, outcome, verdicts)


def check(state: State, runtime: ProfileRuntime, cycle: CycleState, pod: PodInfo, rows: Rows) -> NodeVerdicts | Status:
    """Run the filters, also with the pods that were promised a node counted on it, and pass over held nodes."""
    verdicts = PodFilters(runtime, cycle, pod, state.promised(pod)).run(rows)
    if isinstance(verdicts, Status):
        return verdicts
    for name in state.holds.held(state.now):
        position = rows.position_of(name)
        if position is not None:
            verdicts.refuse(position, _HELD)
    return verdicts


async def post_filter(
    state: State, runtime: ProfileRuntime, cycle: CycleState, pod: PodInfo, found: Infeasible
) -> NotPlaced:
    """PostFilter: make room (preemption), or add to the message why that cannot be done."""
    diagnosis = found.diagnosis
    state.observer.preemption_tried()
    result = await runtime.run_post_filter(cycle, pod, found.verdicts)
    if result.status.code is Code.ERROR:
        return _error(result.status)
    diagnosis.post_filter = result.status.message
    return NotPlaced(
        UNSCHEDULABLE,
        diagnosis.message(),
        result.waking | diagnosis.rejectors,
        frozenset(diagnosis.pending),
        result.nominated_node,
    )


def choose(
    state: State, runtime: ProfileRuntime, cycle: CycleState, pod: PodInfo, feasible: Rows, *, opinion: Opinion
) -> str | NotPlaced:
    """PreScore and Score, and what extenders add to it: the best node; ties are broken uniformly."""
    if len(feasible) == 1:
        return feasible.node(0).name
    ranking = _timed(state, runtime, "Score", partial(runtime.run_scores, cycle, pod, feasible))
    if isinstance(ranking, Status):
        return _error(ranking)
    opinion.add_to(ranking)
    return feasible.table.info(ranking.best(state.rng)).name


def reserve_and_permit(
    state: State, runtime: ProfileRuntime, cycle: CycleState, pod: PodInfo, node_name: str
) -> Placed | NotPlaced:
    """Assume, Reserve and Permit: from here on the room is taken, until the attempt fails or the pod is gone."""
    state.cache.assume(pod, node_name)
    state.nominator.clear(pod.uid)
    status = _timed(state, runtime, "Reserve", partial(runtime.run_reserve, cycle, pod, node_name))
    permit: Status | Waits = status
    if status.ok:
        permit = _timed(state, runtime, "Permit", partial(runtime.run_permit, cycle, pod, node_name))
    if isinstance(permit, Waits):
        state.tell(pod, "waits on permit", f"{node_name}: {', '.join(permit.timeouts)}")
        return Placed(node_name, permit)
    if permit.ok:
        return Placed(node_name, None)
    freed = undo(state, runtime, cycle, pod, node_name)
    return replace(_one_node(permit), freed=freed)


async def binding_cycle(
    state: State, runtime: ProfileRuntime, cycle: CycleState, entry: QueueEntry, placed: Placed
) -> None:
    """Wait for the permit, prepare, bind. Whatever fails, what was reserved is given back and the pod is queued again."""
    pod, node_name = entry.lead, placed.node_name
    failure = await wait_on_permit(state, pod, placed.waits)
    if failure is None:
        status = await pre_bind(state, runtime, cycle, pod, node_name)
        if status.ok:
            status = await bind(state, runtime, cycle, pod, node_name)
        if status.ok:
            bound(state, runtime, cycle, entry, node_name)
            return
        # Wait says that nothing was sent: the pod is tried again at once and without blame.
        failure = None if status.code is Code.WAIT else NotPlaced(SCHEDULER_ERROR, status.message)

    freed = undo(state, runtime, cycle, pod, node_name)
    if failure is not None:
        give_back(state, entry, replace(failure, freed=freed))
    elif state.queue.get(entry.key) is entry:
        state.queue.put_back(entry, state.now)


async def pre_bind(state: State, runtime: ProfileRuntime, cycle: CycleState, pod: PodInfo, node_name: str) -> Status:
    """PreBind; as long as it waits, the pod can still make room for another."""
    state.preparing.add(pod.uid)
    try:
        status = await runtime.run_pre_bind(cycle, pod, node_name)
    except CancelledError as cancelled:
        return error(str(cancelled))
    if pod.uid not in state.preparing:
        return error("preempted")
    state.preparing.discard(pod.uid)
    return status


async def bind(state: State, runtime: ProfileRuntime, cycle: CycleState, pod: PodInfo, node_name: str) -> Status:
    """Bind: by the extender that does it for such pods, else by the plugins."""
    status = await bind_by_extender(state, pod, node_name)
    return await runtime.run_bind(cycle, pod, node_name) if status is None else status


async def wait_on_permit(state: State, pod: PodInfo, waits: Waits | None) -> NotPlaced | None:
    """None once every plugin has allowed the pod."""
    if waits is None:
        return None
    first = min(waits.timeouts, key=lambda plugin: waits.timeouts[plugin])
    status = await PermitWait(pod, tuple(waits.timeouts), state.now + waits.timeouts[first], first)
    return None if status.ok else _one_node(status)


def bound(state: State, runtime: ProfileRuntime, cycle: CycleState, entry: QueueEntry, node_name: str) -> None:
    """The pod is on its node."""
    pod = entry.lead
    state.queue.remove(entry.key)
    placement = state.cache.placement(pod.uid)
    # It may be seen to run before the Binding's outcome is known.
    if placement is not None and placement.pod.phase != "Running":
        state.unstarted[pod.uid] = node_name
    state.bound_here += 1
    state.bound_after_flush += entry.flushed
    state.last_decision = f"{pod.key} -> {node_name}"
    state.tell(pod, "bound", node_name)
    waited = state.now - (entry.first_admitted if entry.first_admitted is not None else state.now)
    state.observer.pod_bound(pod, node_name, entry.attempts, waited)
    note = f"Successfully assigned {pod.key} to {node_name}"
    state.emit(RecordEvent(pod.uid, pod.namespace, pod.name, "Normal", "Scheduled", "Binding", note))
    runtime.run_post_bind(cycle, pod, node_name)


def undo(state: State, runtime: ProfileRuntime, cycle: CycleState, pod: PodInfo, node_name: str) -> bool:
    """Unreserve in reverse and forget; whether there was room to give back."""
    runtime.run_unreserve(cycle, pod, node_name)
    freed = state.cache.forget(pod.uid)
    state.adopt(pod.uid)
    return freed


def give_back(state: State, entry: QueueEntry, failure: NotPlaced) -> None:
    """Queue again what could not be placed, first of all; then say so, to people and to autoscalers.

    Nobody wants to hear of a pod that is being deleted, and it is not tried again.
    """
    if entry.lead.terminating and state.queue.get(entry.key) is entry:
        state.queue.remove(entry.key)
    if state.queue.get(entry.key) is not entry:
        if failure.freed:
            state.wake(ASSIGNED_POD_DELETE, entry.lead, None)
        return
    state.queue.fail(entry, failure.rejectors, failure.pending, state.now)
    for pod in entry.members.values():
        nominated = _renominate(state, pod, failure.nominated_node)
        state.tell(pod, "not placed", failure.message)
        state.last_decision = f"{pod.key}: {failure.reason}"
        state.observer.pod_failed(pod, failure.reason, failure.message)
        state.emit(
            RecordEvent(pod.uid, pod.namespace, pod.name, "Warning", "FailedScheduling", "Scheduling", failure.message)
        )
        _patch_condition(state, entry, pod, replace(failure, nominated_node=nominated))
    if failure.freed:
        state.queue.wake(ASSIGNED_POD_DELETE, (entry.lead, None), state.now, excluding=entry.key)


def _renominate(state: State, pod: PodInfo, node_name: str | None) -> str | None:
    """Promise a node, or take a promise back where it is ""; answers what is to be written about it, None for nothing."""
    if node_name:
        state.nominator.nominate(pod, node_name)
    elif node_name is not None and not state.take_back(pod) and not pod.nominated_node:
        return None
    return node_name


def _patch_condition(state: State, entry: QueueEntry, pod: PodInfo, failure: NotPlaced) -> None:
    """At most one patch an attempt, and only if what it says is new."""
    shown = entry.shown.get(pod.uid)
    if shown is None and pod.scheduled_condition is not None and pod.scheduled_condition.status == "False":
        shown = (pod.scheduled_condition.reason, pod.scheduled_condition.message)
    if shown == (failure.reason, failure.message) and failure.nominated_node is None:
        return
    entry.shown[pod.uid] = (failure.reason, failure.message)
    effect_id = next(state.effect_ids)
    state.patches[effect_id] = (entry.key, pod.uid)
    state.emit(
        PatchPodStatus(
            effect_id,
            pod.uid,
            pod.namespace,
            pod.name,
            failure.reason,
            failure.message,
            pod.generation,
            pod.scheduled_condition is None or pod.scheduled_condition.status != "False",
            failure.nominated_node,
        )
    )


def _worth_looking_at(state: State, outcome: PreFilterOutcome) -> Rows:
    """All nodes, or those that PreFilter left."""
    table = state.cache.nodes
    if outcome.node_names is None:
        return Rows.everything(table)
    rows = sorted(row for name in outcome.node_names if (row := table.row_of(name)) is not None)
    return Rows(table, np.array(rows, np.int64), table)


def _sampled(runtime: ProfileRuntime, feasible: Rows, rows: Rows, state: State) -> Rows:
    """All feasible nodes, unless the user asks for a share of them (percentageOfNodesToScore)."""
    total = len(rows)
    wanted = runtime.nodes_to_find(total)
    if len(feasible) <= wanted:
        return feasible
    positions = np.searchsorted(rows.index, feasible.index)
    start = state.next_start % total
    rotated = np.roll(positions, -int(np.searchsorted(positions, start)))[:wanted]
    state.next_start = (int(rotated[-1]) + 1) % total
    return rows.subset(np.sort(rotated))


def _infeasible(diagnosis: Diagnosis, outcome: PreFilterOutcome, verdicts: NodeVerdicts) -> Infeasible:
    diagnosis.counts = verdicts.counts()
    for status in diagnosis.counts:
        diagnosis.blame(status)
    if outcome.node_names is not None:
        absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(outcome.narrowed_by)}]")
        diagnosis.absent = (absent, diagnosis.node_total - len(verdicts.rows))
    return Infeasible(diagnosis, VerdictsByName(verdicts))


def _one_node(status: Status) -> NotPlaced:
    """A refusal by Reserve or Permit, told in the words of a cluster of the one node it is about."""
    if not status.rejected:
        return _error(status)
    diagnosis = Diagnosis(1)
    diagnosis.counts[status] = 1
    diagnosis.blame(status)
    return NotPlaced(UNSCHEDULABLE, diagnosis.message(), frozenset(diagnosis.rejectors), frozenset(diagnosis.pending))


def _error(status: Status) -> NotPlaced:
    return NotPlaced(SCHEDULER_ERROR, status.message)


def _result_label(result: Result) -> str:
    if isinstance(result, Placed):
        return "scheduled"
    return "unschedulable" if isinstance(result, NotPlaced) and result.reason == UNSCHEDULABLE else "error"


def _timed(state: State, runtime: ProfileRuntime, point: str, run: Callable[[], R]) -> R:
    """Let an observer measure an extension point."""
    state.observer.point_started(runtime.name, point)
    result = run()
    status = result if isinstance(result, Status) else getattr(result, "status", None)
    state.observer.point_finished(runtime.name, point, status.code if isinstance(status, Status) else Code.SUCCESS)
    return result
