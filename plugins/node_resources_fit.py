"""NodeResourcesFit: a node must have room for what the pod requests; scored by how much is left or used.

Scoring counts pod-level requests of the incoming pod. kube-scheduler 1.36 does not (its scorer is never told that the
feature is on), though its filter and its count of pods on nodes do: see docs/parity.md.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar

import numpy as np

from plugins.resource_names import NATIVE, group_of, is_scalar
from plugins.resource_scoring import effective_weights, usages
from plugins.scoring_strategy import LEAST, ScoringStrategy, scorer
from scheduler.framework import (
    PODS,
    SUCCESS,
    Action,
    BoolArray,
    Code,
    CycleState,
    EventRegistration,
    EventResource,
    Facet,
    Handle,
    IntArray,
    Node,
    NodeRows,
    PluginArgs,
    PodInfo,
    PodTemplate,
    PreFilter,
    PreFilterResult,
    PreScore,
    RowFilter,
    RowScore,
    RowVerdicts,
    Status,
)
from scheduler.names import is_extended, is_qualified_name

REASON_PODS = "Too many pods"
REASON = "Insufficient {resource}"


class NodeResourcesFitArgs(PluginArgs, frozen=True):
    """Extended resources that the filter leaves to somebody else, by name or by what stands before the slash."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type=LEAST)

    def problems(self) -> Iterable[str]:
        """Names that cannot be, and what is wrong with the strategy."""
        for i, name in enumerate(self.ignored_resources):
            if not is_qualified_name(name):
                yield f'ignoredResources[{i}]: found "{name}", allowed: a resource name such as example.com/widget'
        for i, group in enumerate(self.ignored_resource_groups):
            if "/" in group or not is_qualified_name(group):
                yield f'ignoredResourceGroups[{i}]: found "{group}", allowed: the part of a name before the slash'
        yield from (f"scoringStrategy.{problem}" for problem in self.scoring_strategy.problems())


class NodeResourcesFit(PreFilter, RowFilter, PreScore, RowScore):
    """Refuses nodes without room, for good where even an empty node would be too small."""

    name: ClassVar[str] = "NodeResourcesFit"
    Args: ClassVar[type[PluginArgs]] = NodeResourcesFitArgs
    facets: ClassVar[Facet] = Facet.AMOUNTS

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._resources = effective_weights(args.scoring_strategy.resources)
        self._score = scorer(args.scoring_strategy)

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:  # noqa: ARG002
        """Never skips: every pod counts against a node's number of pods."""
        return PreFilterResult()

    def row_key(self, template: PodTemplate) -> Hashable | None:
        """The requests."""
        requests = template.spec.requests
        return (tuple(sorted(requests.amounts.items())), requests.nonzero_cpu, requests.nonzero_memory)

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """All that is short is named; rows short of the same share a verdict."""
        tally = ShortageTally(len(rows))
        tally.add(REASON_PODS, rows.requested(PODS) >= rows.allocatable(PODS), Code.UNSCHEDULABLE)
        for resource, amount in self._checked(pod):
            allocatable = rows.allocatable(resource)
            short = amount > allocatable - rows.requested(resource)
            if short.any():
                reason = REASON.format(resource=resource)
                too_small = amount > allocatable
                tally.add(reason, too_small, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
                tally.add(reason, short & ~too_small, Code.UNSCHEDULABLE)
        return tally.verdicts()

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Room that is given back, nodes that are new or have grown, and less that is asked for."""
        return (
            EventRegistration(EventResource.ASSIGNED_POD, Action.DELETE | Action.UPDATE_POD_SCALE_DOWN, self._frees),
            EventRegistration(EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_SCALE_DOWN),
            EventRegistration(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, self._has_grown),
        )

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:  # noqa: ARG002
        """Nothing to prepare; a profile may name the plugin here, as in kube-scheduler."""
        return SUCCESS

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:  # noqa: ARG002
        """By the strategy, with the defaults for containers that request no cpu or memory."""
        return self._score(usages(pod, rows, self._resources, with_defaults=True), len(rows))

    def _checked(self, pod: PodInfo) -> list[tuple[str, int]]:
        """What the filter looks at, in the order of the reasons: native resources, then the others by name."""
        amounts = pod.spec.requests.amounts
        names = [*NATIVE, *sorted(name for name in amounts if is_scalar(name) and not self._is_ignored(name))]
        return [(name, amount) for name in names if (amount := amounts.get(name, 0)) > 0]

    def _is_ignored(self, name: str) -> bool:
        return is_extended(name) and (name in self._ignored or group_of(name) in self._ignored_groups)

    def _frees(self, pod: PodInfo, old: object, new: object) -> bool:
        """A pod that goes or shrinks frees room on its node, and only there: it helps if the waiting pod fits there now.

        A promise that was taken back, or a decision that was undone, is about a pod without a node: that may be anywhere.
        """
        if not isinstance(old, PodInfo) or not old.node_name:
            return True
        if isinstance(new, PodInfo):
            before, after = old.usage.amounts, new.usage.amounts
            if not any(before.get(name, 0) > after.get(name, 0) for name, _ in self._checked(pod)):
                return False
        info = self.handle.node(old.node_name)
        if info is None or len(info.pods) >= info.node.allocatable.get(PODS, 0):
            return False
        return all(info.free(name) >= amount for name, amount in self._checked(pod))

    def _has_grown(self, pod: PodInfo, old: object, new: object) -> bool:
        """The node could hold the pod if it were empty, and has more than before of what counts."""
        if not isinstance(new, Node):
            return False
        offered = new.allocatable
        wanted = [*self._checked(pod), (PODS, 1)]
        if any(amount > offered.get(name, 0) for name, amount in wanted):
            return False
        return not isinstance(old, Node) or any(offered[name] > old.allocatable.get(name, 0) for name, _ in wanted)


class ShortageTally:
    """Collects what rows are short of; one status for each distinct set of shortages, the worst code wins."""

    def __init__(self, count: int) -> None:
        self._codes = np.zeros(count, np.int16)
        self._numbers: dict[Status, int] = {SUCCESS: 0}

    def add(self, reason: str, where: BoolArray, code: Code) -> None:
        """These rows are short of one more thing."""
        if not where.any():
            return
        statuses = list(self._numbers)
        for number in np.unique(self._codes[where]).tolist():
            before = statuses[number]
            status = Status(max(before.code, code), (*before.reasons, reason))
            self._codes[where & (self._codes == number)] = self._numbers.setdefault(status, len(self._numbers))

    def verdicts(self) -> RowVerdicts:
        """The verdict of each row."""
        return RowVerdicts(self._codes, tuple(self._numbers)[1:])
