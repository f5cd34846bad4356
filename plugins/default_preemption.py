"""DefaultPreemption: a pod that fits nowhere takes the place of pods of lower priority (kube-scheduler 1.36)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from scheduler.api import ApiObject, PodDisruptionBudget
from scheduler.framework import (
    SUCCESS,
    Action,
    Code,
    CycleState,
    EventRegistration,
    EventResource,
    Handle,
    IntArray,
    NodeInfo,
    NodeRows,
    NodeStatuses,
    PluginArgs,
    PodInfo,
    PostFilter,
    PostFilterResult,
    PreEnqueue,
    Status,
    Victims,
    error,
    nodes_available,
    unresolvable,
    unschedulable,
)

NEVER = "preemption: not eligible due to preemptionPolicy=Never."
TERMINATING = "preemption: not eligible due to a terminating pod on the nominated node."
NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
WAITING = "waiting for the preemption for this pod to be finished"

_PRIORITY_OFFSET = 2**31
# So many nodes are looked at together at least, for one alone costs nearly as much.
_FEWEST = 16


class DefaultPreemptionArgs(PluginArgs, frozen=True):
    """How many candidates are looked for before the best is taken: a percentage of the nodes that evictions may help, and at
    least so many.
    """

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100

    def problems(self) -> Iterable[str]:
        """Numbers out of range, and no candidates at all."""
        percentage, absolute = self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute
        if not 0 <= percentage <= 100:
            yield f"minCandidateNodesPercentage: found {percentage}, allowed: 0 to 100"
        if absolute < 0:
            yield f"minCandidateNodesAbsolute: found {absolute}, allowed: 0 or more"
        if percentage == absolute == 0:
            yield "minCandidateNodesPercentage, minCandidateNodesAbsolute: found 0 for both, allowed: 0 for one of them"

    def wanted(self, nodes: int) -> int:
        """How many candidates are enough among so many nodes."""
        return min(nodes, max(nodes * self.min_candidate_nodes_percentage // 100, self.min_candidate_nodes_absolute))


class DefaultPreemption(PreEnqueue, PostFilter):
    """Picks a node and the fewest, least important pods on it that must go, evicts them while scheduling goes on, and promises
    the pod that node.
    """

    name: ClassVar[str] = "DefaultPreemption"
    Args: ClassVar[type[PluginArgs]] = DefaultPreemptionArgs
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset({PodDisruptionBudget})

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._args = args

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """A pod for which others are being evicted waits until that is done."""
        return unresolvable(WAITING) if self.handle.preempting(pod.uid) else SUCCESS

    def events_to_register(self) -> Sequence[EventRegistration]:
        """When a pod goes or shrinks, those that are gated are asked again, and those for which evicting the rest of the node
        may now be enough (in kube-scheduler they are tried whenever a pod goes).
        """
        change = Action.DELETE | Action.UPDATE_POD_SCALE_DOWN
        return (EventRegistration(EventResource.ASSIGNED_POD, change, self._may_be_enough),)

    async def post_filter(self, state: CycleState, pod: PodInfo, verdicts: NodeStatuses) -> PostFilterResult:
        """Evict, and promise the node; or say why that is of no use. A promise that cannot be kept is taken back."""
        ineligible = self._ineligible(pod, verdicts)
        if ineligible:
            return PostFilterResult(unschedulable(ineligible))
        search = Search(self.handle, state, pod, self._args)
        found = search.run(verdicts.with_code(Code.UNSCHEDULABLE))
        if not found:
            if search.problem is not None:
                return PostFilterResult(error(f"preemption: {search.problem.message}"))
            return PostFilterResult(unschedulable(f"preemption: {search.summary()}"), "", wakes=True)
        candidates = await self.handle.process_preemption(pod, found)
        if isinstance(candidates, Status):
            return PostFilterResult(error(f"preemption: {candidates.message}"))
        if not candidates:
            return PostFilterResult(unschedulable("preemption: no candidate node for preemption"))
        best = min(candidates, key=lambda name: cost(candidates[name]))
        self.handle.preempt(pod, best, candidates[best].pods, self.name)
        return PostFilterResult(SUCCESS, best)

    def _ineligible(self, pod: PodInfo, verdicts: NodeStatuses) -> str | None:
        """Why the pod must not preempt: it says so itself, or it has, and not all victims are gone from its node."""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        promised = self.handle.nominated_node(pod.uid)
        node = self.handle.node(promised) if promised else None
        verdict = verdicts.get(promised)
        if node is None or verdict is None or verdict.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return None
        leaving = (other for other in node.pods.values() if other.terminating and other.preempted)
        return TERMINATING if any(other.spec.priority < pod.spec.priority for other in leaving) else None

    def _may_be_enough(self, pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG002  a queueing hint
        """Whether the node would have room for the pod without those of lower priority, of which there are some."""
        node = self.handle.node(old.node_name) if isinstance(old, PodInfo) else None
        if node is None or pod.spec.preemption_policy == "Never":
            return False
        priority = pod.spec.priority
        below = [other for other in node.pods.values() if other.template.spec.priority < priority]
        return bool(below) and all(
            node.free(name) + sum(other.usage.amounts.get(name, 0) for other in below) >= amount
            for name, amount in pod.spec.requests.amounts.items()
        )


class Search:
    """Looks for nodes that evictions would make fit, from a random one onwards, until there are enough."""

    def __init__(self, handle: Handle, state: CycleState, pod: PodInfo, args: DefaultPreemptionArgs) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._args = args
        self._budgets = Budgets(handle.all(PodDisruptionBudget))
        self._refusals: list[Status] = []
        self.problem: Status | None = None

    def run(self, rows: NodeRows) -> dict[str, Victims]:
        """Candidates among these nodes. Enough are found when there are as many as wanted, and one that breaks no budget."""
        found: dict[str, Victims] = {}
        if not len(rows):
            return found
        wanted = self._args.wanted(len(rows))
        harmless = False
        start, looked = self._handle.random_below(len(rows)), 0
        while looked < len(rows):
            # Most nodes are candidates, so to look at as many as are missing is mostly enough.
            positions = _piece(start, looked, max(wanted - len(found), _FEWEST), len(rows))
            looked += len(positions)
            for name, victims in self._candidates(rows.subset(positions)):
                found[name] = victims
                harmless = harmless or not victims.violations
                if harmless and len(found) >= wanted:
                    return found
        return found

    def summary(self) -> str:
        """Why no node is a candidate, counted over all nodes."""
        total = self._handle.rows().node_total()
        counts = [(status, 1) for status in self._refusals]
        return nodes_available(total, [*counts, (NOT_HELPFUL, total - len(counts))])

    def _candidates(self, rows: NodeRows) -> Iterator[tuple[str, Victims]]:
        outcomes = self._handle.dry_run(self._state, self._pod, rows, self._evictable)
        for position, outcome in enumerate(outcomes):
            if isinstance(outcome, Status):
                self._note(outcome)
            elif not outcome:
                name = rows.node(position).name
                self._note(error(f'expected at least one victim pod on node "{name}"'))
            else:
                pods = tuple(sorted(outcome, key=importance))
                yield rows.node(position).name, Victims(pods, self._budgets.broken_by(pods))

    def _note(self, refusal: Status) -> None:
        self._refusals.append(refusal)
        if refusal.code is Code.ERROR:
            self.problem = self.problem or refusal

    def _evictable(self, node: NodeInfo) -> Sequence[PodInfo]:
        """The pods of lower priority: first those whose eviction would break a budget, each part the most important first."""
        priority = self._pod.template.spec.priority
        below = [pod for pod in node.pods.values() if pod.template.spec.priority < priority]
        below.sort(key=importance)
        return self._budgets.protected_first(below)


class Budgets:
    """Disruption budgets, best effort: a pod whose eviction would break one is spared where that is possible."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._by_namespace: dict[str, list[PodDisruptionBudget]] = {}
        for budget in budgets:
            # One without requirements protects nothing that preemption looks at.
            if budget.selector is not None and budget.selector.requirements:
                self._by_namespace.setdefault(budget.namespace, []).append(budget)
        self._matching: dict[int, Sequence[PodDisruptionBudget]] = {}
        self._breaking: set[str] = set()

    def protected_first(self, pods: Sequence[PodInfo]) -> Sequence[PodInfo]:
        """The pods of one node, those first that find a budget used up by the ones before them."""
        if not self._by_namespace:
            return pods
        left: dict[str, int] = {}
        protected: list[PodInfo] = []
        others: list[PodInfo] = []
        for pod in pods:
            breaks = False
            for budget in self._of(pod):
                if pod.name in budget.disrupted:
                    continue
                left[budget.uid] = left.get(budget.uid, budget.disruptions_allowed) - 1
                breaks = breaks or left[budget.uid] < 0
            (protected if breaks else others).append(pod)
        self._breaking.update(pod.uid for pod in protected)
        return protected + others

    def broken_by(self, victims: Iterable[PodInfo]) -> int:
        """How many of these pods were found to break a budget."""
        return sum(pod.uid in self._breaking for pod in victims)

    def _of(self, pod: PodInfo) -> Sequence[PodDisruptionBudget]:
        template = pod.template
        known = self._matching.get(template.signature)
        if known is None:
            known = [
                budget
                for budget in self._by_namespace.get(template.namespace, ())
                if template.labels and budget.selector is not None and budget.selector.matches(template.labels)
            ]
            self._matching[template.signature] = known
        return known


def importance(pod: PodInfo) -> tuple[int, float]:
    """The most important pod has the least: by priority, then by how long it has been running."""
    return (-pod.template.spec.priority, pod.running_since)


def cost(victims: Victims) -> tuple[int, int, int, int, float]:
    """The candidate with the least is taken: by broken budgets, the highest priority among the victims, the sum of their
    priorities (none of which counts as negative), their number, and how early the first of the most important started.
    """
    priorities = [pod.spec.priority for pod in victims.pods]
    highest = max(priorities)
    earliest = min(pod.running_since for pod in victims.pods if pod.spec.priority == highest)
    total = sum(priority + _PRIORITY_OFFSET for priority in priorities)
    return (victims.violations, highest, total, len(priorities), -earliest)


def _piece(start: int, looked: int, size: int, count: int) -> IntArray:
    """The next positions of `count`, going round from `start`, when so many were looked at; ascending, at most `size`."""
    begin = (start + looked) % count
    return np.arange(begin, min(begin + size, count if begin >= start else start))
