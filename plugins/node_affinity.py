"""NodeAffinity: the nodes a pod asks for by label or name, in nodeSelector and in affinity.nodeAffinity."""

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar

import numpy as np

from plugins.added_affinity import AddedAffinity
from scheduler.framework import (
    SKIP,
    SUCCESS,
    Action,
    CycleState,
    EventRegistration,
    EventResource,
    Facet,
    Handle,
    IntArray,
    Node,
    NodeRows,
    Normalize,
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
    unresolvable,
)
from scheduler.matching import NodeSelector, NodeSelectorTerm, Operator

REASON_POD = "node(s) didn't match Pod's node affinity/selector"
REASON_ADDED = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT = "pod affinity terms conflict"


class NodeAffinityArgs(PluginArgs, frozen=True):
    """addedAffinity applies to every pod of the profile, on top of the pod's own."""

    added_affinity: AddedAffinity | None = None

    def problems(self) -> Iterable[str]:
        """Terms that the API server would refuse in a pod."""
        if self.added_affinity is not None:
            yield from (f"addedAffinity.{problem}" for problem in self.added_affinity.problems())


class NodeAffinity(PreFilter, RowFilter, PreScore, RowScore):
    """Refuses nodes that do not match what is required; adds up the weights of the preferred terms that match."""

    name: ClassVar[str] = "NodeAffinity"
    Args: ClassVar[type[PluginArgs]] = NodeAffinityArgs
    facets: ClassVar[Facet] = Facet.NODE
    normalize: ClassVar[Normalize] = Normalize.LARGEST

    def __init__(self, args: NodeAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._added = args.added_affinity.required() if args.added_affinity else None
        self._added_preferred = args.added_affinity.preferred() if args.added_affinity else ()

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:  # noqa: ARG002
        """Skips pods that ask for nothing; narrows the search to the nodes named, if every required term names one."""
        required = pod.spec.required_node_affinity
        if required is None:
            indifferent = self._added is None and not pod.spec.node_selector
            return PreFilterResult(SKIP) if indifferent else PreFilterResult()
        names = _named_by(required)
        if names is not None and not names:
            return PreFilterResult(unresolvable(REASON_CONFLICT))
        return PreFilterResult(node_names=names)

    def indifferent(self, template: PodTemplate) -> bool:
        """Pods that ask for nothing, where nothing is added."""
        spec = template.spec
        own = spec.node_selector or spec.required_node_affinity or spec.preferred_node_affinity
        return not own and self._added is None and not self._added_preferred

    def row_key(self, template: PodTemplate) -> Hashable | None:
        """Selector and terms."""
        return (
            template.spec.node_selector,
            template.spec.required_node_affinity,
            template.spec.preferred_node_affinity,
        )

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """Refused where the added affinity does not match, else where the pod's own does not."""
        codes = np.zeros(len(rows), np.int16)
        for requirement in pod.spec.node_selector:
            codes[~rows.meets(requirement)] = 1
        if pod.spec.required_node_affinity is not None:
            codes[~rows.matching(pod.spec.required_node_affinity)] = 1
        if self._added is not None:
            codes[~rows.matching(self._added)] = 2
        return RowVerdicts(codes, (unresolvable(REASON_POD), unresolvable(REASON_ADDED)))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A node that matches and did not before."""
        return (EventRegistration(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL, self._matches_now),)

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:  # noqa: ARG002
        """Skips where nothing is preferred."""
        return SUCCESS if pod.spec.preferred_node_affinity or self._added_preferred else SKIP

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:  # noqa: ARG002
        """The sum of the weights of matching terms, the pod's and the added ones."""
        total = np.zeros(len(rows), np.int64)
        for preferred in (*self._added_preferred, *pod.spec.preferred_node_affinity):
            total[rows.matching_term(preferred.term)] += preferred.weight
        return total

    def _matches_now(self, pod: PodInfo, old: object, new: object) -> bool:
        did_before = isinstance(old, Node) and self._accepts(pod, old)
        return isinstance(new, Node) and self._accepts(pod, new) and not did_before

    def _accepts(self, pod: PodInfo, node: Node) -> bool:
        """The filter's rule for one node that is not in the table."""
        selectors = (pod.spec.required_node_affinity, self._added)
        if any(selector is not None and not selector.matches(node.name, node.labels) for selector in selectors):
            return False
        return all(requirement.matches(node.labels) for requirement in pod.spec.node_selector)


def _named_by(selector: NodeSelector) -> frozenset[str] | None:
    """The nodes that the terms name, any of them; None if a term names none, so that every node may match it."""
    if not selector.terms:
        return None
    named: frozenset[str] = frozenset()
    for term in selector.terms:
        names = _named_by_term(term)
        if names is None:
            return None
        named |= names
    return named


def _named_by_term(term: NodeSelectorTerm) -> frozenset[str] | None:
    sets = [frozenset(r.values) for r in term.fields if r.key == "metadata.name" and r.operator is Operator.IN]
    return frozenset.intersection(*sets) if sets else None
