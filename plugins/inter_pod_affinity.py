"""InterPodAffinity: pods that must, must not, would rather or rather not be in the same topology domain as others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plugins.pod_terms import PodsInScopes, Scope, scope_of, terms_about
from plugins.topology import domain_sums
from scheduler.api import ApiObject, Namespace
from scheduler.framework import (
    MAX_NODE_SCORE,
    SKIP,
    SUCCESS,
    Action,
    BoolArray,
    CycleState,
    EventRegistration,
    EventResource,
    Handle,
    IntArray,
    Node,
    NodeRows,
    PluginArgs,
    PodAffinityTerm,
    PodCount,
    PodInfo,
    PreFilter,
    PreFilterResult,
    PreScore,
    RowFilter,
    RowScore,
    RowVerdicts,
    Status,
    TermKind,
    unresolvable,
    unschedulable,
)

REASON_AFFINITY = "node(s) didn't match pod affinity rules"
REASON_ANTI = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"
_REASONS = (unresolvable(REASON_AFFINITY), unschedulable(REASON_ANTI), unschedulable(REASON_EXISTING))


class InterPodAffinityArgs(PluginArgs, frozen=True):
    """What it counts that the required affinity of a pod on a node is about this pod, and whether preferences of pods on
    nodes do not count for pods that have none of their own.
    """

    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def problems(self) -> Iterable[str]:
        """A weight that is none."""
        if not 0 <= self.hard_pod_affinity_weight <= 100:
            yield f"hardPodAffinityWeight: found {self.hard_pod_affinity_weight}, allowed: 0 to 100"


@dataclass(frozen=True, slots=True)
class Domains:
    """A count by domain of one topology key; nothing counts where the key is missing."""

    key: str
    count: PodCount
    sums: IntArray

    def on(self, rows: NodeRows) -> IntArray:
        """The count of each row's domain; 0 where the key is missing."""
        ids = rows.label_ids(self.key)
        here: IntArray = self.sums[ids]
        more = rows.pods_more(self.count)
        return here if more is None else np.where(ids > 0, here + more, 0)

    def anything_on(self, rows: NodeRows) -> BoolArray:
        """Where the count of the row's domain is not 0."""
        if rows.hypothetical():
            return self.on(rows) > 0
        there = self.sums > 0
        there[0] = False
        found: BoolArray = there[rows.label_ids(self.key)]
        return found

    def anywhere(self, rows: NodeRows) -> IntArray | int:
        """The count over all domains, in each row's world."""
        whole = int(self.sums[1:].sum())
        more = rows.pods_more(self.count)
        return whole if more is None else whole + np.where(rows.label_ids(self.key) > 0, more, 0)


@dataclass(frozen=True, slots=True)
class Required:
    """What Filter needs: the domains of the pod's own required terms, those of terms of pods on nodes that are against it, and
    whether it fulfils its own affinity.
    """

    affinity: tuple[Domains, ...]
    anti_affinity: tuple[Domains, ...]
    existing: tuple[Domains, ...]
    fulfils_itself: bool


@dataclass(frozen=True, slots=True)
class Preferred:
    """What Score needs: what adds to the score of a domain, with its factor."""

    domains: tuple[tuple[Domains, int], ...]


class InterPodAffinity(PreFilter, RowFilter, PreScore, RowScore):
    """Refuses nodes by required terms, the pod's own and those of pods on nodes; adds up the weights of preferred ones."""

    name: ClassVar[str] = "InterPodAffinity"
    Args: ClassVar[type[PluginArgs]] = InterPodAffinityArgs
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset({Namespace})

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._hard_weight = args.hard_pod_affinity_weight
        self._ignores_others = args.ignore_preferred_terms_of_existing_pods

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        """Counts once for all nodes; skips pods without required terms that nobody minds."""
        rows = self.handle.rows()
        existing = self._terms_about(rows, pod, TermKind.REQUIRED_ANTI_AFFINITY)
        affinity = self._scopes(pod, pod.spec.pod_affinity)
        anti = self._scopes(pod, pod.spec.pod_anti_affinity)
        if not existing and not affinity and not anti:
            return PreFilterResult(SKIP)
        # A pod counts for affinity only if all terms are about it.
        together = PodsInScopes(tuple(affinity))
        state.put(
            Required(
                tuple(_domains(rows, term.topology_key, together) for term in pod.spec.pod_affinity),
                tuple(
                    _domains(rows, term.topology_key, PodsInScopes((scope,)))
                    for term, scope in zip(pod.spec.pod_anti_affinity, anti, strict=True)
                ),
                existing,
                fulfils_itself=all(scope.covers(pod.template) for scope in affinity),
            )
        )
        return PreFilterResult()

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """Refused by affinity, by anti-affinity, or by that of pods on nodes, in this order."""
        required = state.get(Required)
        codes = np.zeros(len(rows), np.int16)
        if required is not None:
            if required.affinity:
                codes[~_satisfies(required, rows)] = 1
            for code, domains in ((2, required.anti_affinity), (3, required.existing)):
                for domain in domains:
                    there = domain.anything_on(rows)
                    if there.any():
                        codes[there & (codes == 0)] = code
        return RowVerdicts(codes, _REASONS)

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:  # noqa: ARG002
        """Counts once for all nodes; skips where no term adds anything."""
        spec = pod.spec
        has_own = bool(spec.preferred_pod_affinity or spec.preferred_pod_anti_affinity)
        if self._ignores_others and not has_own:
            return SKIP
        everywhere = self.handle.rows()
        domains: list[tuple[Domains, int]] = []
        for preferred, sign in ((spec.preferred_pod_affinity, 1), (spec.preferred_pod_anti_affinity, -1)):
            for weighted in preferred:
                scope = scope_of(weighted.term, pod.namespace, self.handle)
                counted = _domains(everywhere, weighted.term.topology_key, PodsInScopes((scope,)))
                domains.append((counted, sign * weighted.weight))
        for kind, factor in (
            (TermKind.REQUIRED_AFFINITY, self._hard_weight),
            (TermKind.PREFERRED_AFFINITY, 1),
            (TermKind.PREFERRED_ANTI_AFFINITY, -1),
        ):
            if factor:
                domains += [(counted, factor) for counted in self._terms_about(everywhere, pod, kind)]
        if not any(counted.sums[1:].any() for counted, _ in domains):
            return SKIP
        state.put(Preferred(tuple(domains)))
        return SUCCESS

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:  # noqa: ARG002
        """The sum of all weights of terms and pods in each node's domains; may be negative."""
        preferred = state.get(Preferred)
        total = np.zeros(len(rows), np.int64)
        for domain, factor in preferred.domains if preferred else ():
            total += factor * domain.on(rows)
        return total

    def normalize_scores(self, state: CycleState, pod: PodInfo, scores: IntArray) -> IntArray:  # noqa: ARG002
        """From 0 for the least to 100 for the largest, by floats and cut, as kube-scheduler does it."""
        least, largest = int(scores.min(initial=0)), int(scores.max(initial=0))
        if len(scores):
            least, largest = int(scores.min()), int(scores.max())
        if largest == least:
            return np.zeros_like(scores)
        return (float(MAX_NODE_SCORE) * ((scores - least) / float(largest - least))).astype(np.int64)

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Pods that terms are about, or that have terms about this one; nodes that join or move to another domain."""
        return (
            EventRegistration(
                EventResource.ASSIGNED_POD, Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL, self._meets_terms
            ),
            EventRegistration(EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_LABEL),
            EventRegistration(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL, _moves_domains),
        )

    def _scopes(self, pod: PodInfo, terms: Iterable[PodAffinityTerm]) -> list[Scope]:
        return [scope_of(term, pod.namespace, self.handle) for term in terms]

    def _terms_about(self, rows: NodeRows, pod: PodInfo, kind: TermKind) -> tuple[Domains, ...]:
        counted = (_domains(rows, count.topology_key, count) for count in terms_about(pod, kind, self.handle))
        return tuple(domains for domains in counted if domains.sums[1:].any())

    def _meets_terms(self, pod: PodInfo, old: object, new: object) -> bool:
        before = old if isinstance(old, PodInfo) else None
        after = new if isinstance(new, PodInfo) else None
        wanted, unwanted = self._scopes(pod, pod.spec.pod_affinity), self._scopes(pod, pod.spec.pod_anti_affinity)
        if after is not None:
            if _all_cover(wanted, after) and not (before is not None and _all_cover(wanted, before)):
                return True
            return before is not None and _all_cover(unwanted, before) and not _all_cover(unwanted, after)
        if before is None:
            return True
        others = self._scopes(before, before.spec.pod_anti_affinity)
        return _all_cover(unwanted, before) or _all_cover(others, pod)


def _domains(rows: NodeRows, key: str, count: PodCount) -> Domains:
    sums = domain_sums(rows.label_ids(key), rows.pods_counted(count))
    sums[0] = 0
    return Domains(key, count, sums)


def _satisfies(required: Required, rows: NodeRows) -> BoolArray:
    """Whether each node's domains have a pod that all affinity terms are about; or there is none, and the pod is one itself."""
    has_keys = np.ones(len(rows), np.bool_)
    present = np.ones(len(rows), np.bool_)
    total: IntArray | int = 0
    for domain in required.affinity:
        has_keys &= rows.label_ids(domain.key) > 0
        present &= domain.on(rows) > 0
        total = total + domain.anywhere(rows)
    first = np.equal(total, 0) & required.fulfils_itself
    return has_keys & (present | first)


def _all_cover(scopes: Sequence[Scope], pod: PodInfo) -> bool:
    return bool(scopes) and all(scope.covers(pod.template) for scope in scopes)


def _moves_domains(pod: PodInfo, old: object, new: object) -> bool:
    before = old.labels if isinstance(old, Node) else None
    after = new.labels if isinstance(new, Node) else {}
    for term in pod.spec.pod_affinity:
        key = term.topology_key
        if key in after and (before is None or before.get(key) != after[key]):
            return True
    for term in pod.spec.pod_anti_affinity:
        key = term.topology_key
        if before is None or (key in before and before[key] != after.get(key)):
            return True
    return False
