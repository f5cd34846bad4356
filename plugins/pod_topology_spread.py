"""PodTopologySpread: keeps pods that are alike spread over the domains of a topology key, by hard limits and by preference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plugins.spread_constraints import HOSTNAME, LIST, SYSTEM, SYSTEM_DEFAULTS, Constraints, DefaultConstraint, Spread
from plugins.spread_counts import Tally, included, tally, with_all_keys
from plugins.topology import domain_sums
from scheduler.api import ApiObject, ReplicaSet, ReplicationController, Service, StatefulSet
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
    PodInfo,
    PreFilter,
    PreFilterResult,
    PreScore,
    RowFilter,
    RowScore,
    RowVerdicts,
    Status,
    unresolvable,
    unschedulable,
)

REASON_KEY = "node(s) didn't match pod topology spread constraints (missing required label)"
REASON_SKEW = "node(s) didn't match pod topology spread constraints"


class PodTopologySpreadArgs(PluginArgs, frozen=True):
    """The constraints of pods that have none: the system's (System), or those given (List)."""

    default_constraints: tuple[DefaultConstraint, ...] = ()
    defaulting_type: str = SYSTEM

    def problems(self) -> Iterable[str]:
        """What cannot be in a list of defaults, and a list where the system's are wanted."""
        if self.defaulting_type not in (SYSTEM, LIST):
            yield f'defaultingType: found "{self.defaulting_type}", allowed: {LIST}, {SYSTEM}'
        if self.defaulting_type == SYSTEM and self.default_constraints:
            yield f"defaultConstraints: found with defaultingType {SYSTEM}, allowed: with {LIST} only"
        seen: set[tuple[str, str]] = set()
        for i, constraint in enumerate(self.default_constraints):
            path = f"defaultConstraints[{i}]"
            yield from (f"{path}.{problem}" for problem in constraint.problems())
            pair = (constraint.topology_key, constraint.when_unsatisfiable)
            if pair in seen:
                yield f'{path}: found "{pair[0]}" with {pair[1]} again, allowed: once'
            seen.add(pair)


@dataclass(frozen=True, slots=True)
class Tallies:
    """What Filter needs: the hard constraints as they stand."""

    tallies: tuple[Tally, ...]


@dataclass(frozen=True, slots=True)
class Preferences:
    """What Score needs: for each soft constraint the pods by domain (None: by node), and its weight; and the rows left out."""

    counted: tuple[tuple[Spread, IntArray | None, float], ...]
    ignored: BoolArray


class PodTopologySpread(PreFilter, RowFilter, PreScore, RowScore):
    """Refuses nodes of domains that would get too far ahead, and prefers those that have the fewest of the pods."""

    name: ClassVar[str] = "PodTopologySpread"
    Args: ClassVar[type[PluginArgs]] = PodTopologySpreadArgs
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset({Service, ReplicationController, ReplicaSet, StatefulSet})

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._by_system = args.defaulting_type == SYSTEM
        given = tuple(constraint.constraint() for constraint in args.default_constraints)
        self._constraints = Constraints(handle, SYSTEM_DEFAULTS if self._by_system else given)

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        """Counts once for all nodes; skips pods without hard constraints."""
        spreads = self._constraints.of(pod, hard=True)
        if not spreads:
            return PreFilterResult(SKIP)
        rows = self.handle.rows()
        complete = with_all_keys(rows, spreads)
        state.put(Tallies(tuple(tally(rows, s, complete & included(rows, pod, s)) for s in spreads)))
        return PreFilterResult()

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:
        """Refused where a key is missing or a limit would be passed, whichever comes first."""
        found = state.get(Tallies)
        codes = np.zeros(len(rows), np.int16)
        tallies = found.tallies if found else ()
        complete = with_all_keys(rows, [counted.spread for counted in tallies])
        for counted in tallies:
            constraint = counted.spread.constraint
            missing = rows.label_ids(constraint.topology_key) == 0
            skew = counted.skew(rows, pod, complete)
            codes[(codes == 0) & missing] = 1
            codes[(codes == 0) & (skew > constraint.max_skew)] = 2
        return RowVerdicts(codes, (unresolvable(REASON_KEY), unschedulable(REASON_SKEW)))

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:
        """Counts over all nodes for the domains that feasible nodes are in; skips pods without soft constraints."""
        spreads = self._constraints.of(pod, hard=False)
        if not spreads:
            return SKIP
        # With the system's defaults a node without a zone is still spread over by hostname.
        all_needed = bool(pod.spec.spread) or not self._by_system
        ignored = ~with_all_keys(rows, spreads) if all_needed else np.zeros(len(rows), np.bool_)
        everywhere = self.handle.rows()
        counting = with_all_keys(everywhere, spreads) if all_needed else np.ones(len(everywhere), np.bool_)
        counted = [_preference(everywhere, rows, pod, s, (counting, ignored)) for s in spreads]
        state.put(Preferences(tuple(counted), ignored))
        return SUCCESS

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:  # noqa: ARG002
        """The weighted number of such pods in each node's domains; the fewer the better."""
        preferences = state.get(Preferences)
        total = np.zeros(len(rows), np.float64)
        for spread, sums, weight in preferences.counted if preferences else ():
            ids = rows.label_ids(spread.constraint.topology_key)
            number = rows.pods_counted(spread.count) if sums is None else sums[ids]
            total += np.where(ids > 0, number * weight + (spread.constraint.max_skew - 1), 0.0)
        if preferences is not None:
            total[preferences.ignored] = 0.0
        return np.floor(total + 0.5).astype(np.int64)

    def normalize_scores(self, state: CycleState, pod: PodInfo, scores: IntArray) -> IntArray:  # noqa: ARG002
        """The lowest raw score becomes 100; nodes that were left out get 0."""
        preferences = state.get(Preferences)
        scored = ~preferences.ignored if preferences else np.ones(len(scores), np.bool_)
        largest = int(scores[scored].max(initial=0))
        if largest == 0:
            return np.where(scored, MAX_NODE_SCORE, 0)
        least = int(scores[scored].min())
        return np.where(scored, MAX_NODE_SCORE * (largest + least - scores) // largest, 0)

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Pods that are spread with this one, come, go or get other labels; nodes that join, leave or move to another domain."""
        pods = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL
        nodes = Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT
        return (
            EventRegistration(EventResource.ASSIGNED_POD, pods, self._moves_the_counts),
            EventRegistration(
                EventResource.UNSCHEDULED_POD,
                Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATIONS,
                self._changes_itself,
            ),
            EventRegistration(EventResource.NODE, nodes, self._changes_domains),
        )

    def _moves_the_counts(self, pod: PodInfo, old: object, new: object) -> bool:
        spreads = self._constraints.of(pod, hard=True)
        before = old if isinstance(old, PodInfo) else None
        after = new if isinstance(new, PodInfo) else None
        if any(other is not None and other.namespace != pod.namespace for other in (before, after)):
            return False
        if before is not None and after is not None:
            return any(spread.selects(before.labels) != spread.selects(after.labels) for spread in spreads)
        other = after or before
        return other is not None and any(spread.selects(other.labels) for spread in spreads)

    def _changes_itself(self, pod: PodInfo, old: object, new: object) -> bool:
        if not isinstance(old, PodInfo) or not isinstance(new, PodInfo):
            return True
        spreads = self._constraints.of(pod, hard=True)
        if old.spec.tolerations != new.spec.tolerations and any(s.constraint.honor_taints for s in spreads):
            return True
        return any(spread.selects(old.labels) != spread.selects(new.labels) for spread in spreads)

    def _changes_domains(self, pod: PodInfo, old: object, new: object) -> bool:
        keys = [spread.constraint.topology_key for spread in self._constraints.of(pod, hard=True)]
        before = old if isinstance(old, Node) and all(key in old.labels for key in keys) else None
        after = new if isinstance(new, Node) and all(key in new.labels for key in keys) else None
        if (before is None) != (after is None):
            return True
        if before is None or after is None:
            return False
        return before.taints != after.taints or any(before.labels[key] != after.labels[key] for key in keys)


def _preference(
    everywhere: NodeRows, rows: NodeRows, pod: PodInfo, spread: Spread, masks: tuple[BoolArray, BoolArray]
) -> tuple[Spread, IntArray | None, float]:
    """Pods by domain, and the weight that keeps topologies with few domains from counting too little."""
    counting, ignored = masks
    key = spread.constraint.topology_key
    if key == HOSTNAME:
        size = len(rows) - int(ignored.sum())
        return spread, None, float(np.log(size + 2))
    ids = everywhere.label_ids(key)
    sums = domain_sums(ids, everywhere.pods_counted(spread.count), counting & included(everywhere, pod, spread))
    size = len(np.unique(rows.label_ids(key)[~ignored]))
    return spread, sums, float(np.log(size + 2))
