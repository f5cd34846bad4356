"""PodTopologySpread: keeps pods that are alike spread over the domains of a topology key, by hard limits and by preference."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plugins.remembered import Remembered
from plugins.spread_constraints import (
    HOSTNAME,
    LIST,
    SYSTEM,
    SYSTEM_DEFAULTS,
    Constraints,
    DefaultConstraint,
    Spread,
    Spreads,
)
from plugins.spread_counts import Ground, Tally, ground, included, tally, with_all_keys
from scheduler.api import ApiObject, ReplicaSet, ReplicationController, Service, StatefulSet
from scheduler.framework import (
    MAX_NODE_SCORE,
    SKIP,
    SUCCESS,
    Action,
    BoolArray,
    CodeArray,
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
_REASONS = (unresolvable(REASON_KEY), unschedulable(REASON_SKEW))


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
    """What Score needs: for each soft constraint the pods by domain (None: by node), and its weight; and the rows that are
    not left out (None: none is).
    """

    counted: tuple[tuple[Spread, IntArray | None, float], ...]
    scored: BoolArray | None


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
        self._hard: Remembered[list[Ground]] = Remembered()
        self._soft: Remembered[list[Ground]] = Remembered()

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        """Counts once for all nodes; skips pods without hard constraints."""
        spreads = self._constraints.of(pod, hard=True)
        if not spreads:
            return PreFilterResult(SKIP)
        rows = self.handle.rows()
        grounds = self._hard.get(pod.template, _version(rows, spreads), lambda: _grounds(rows, pod, spreads))
        state.put(Tallies(tuple(tally(rows, on, pod) for on in grounds)))
        return PreFilterResult()

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:
        """Refused where a key is missing or a limit would be passed, whichever comes first."""
        found = state.get(Tallies)
        codes: CodeArray | None = None
        tallies = found.tallies if found else ()
        complete = with_all_keys(rows, [counted.spread for counted in tallies]) if rows.hypothetical() else None
        for counted in tallies:
            here = counted.codes(rows) if complete is None else counted.codes_in_worlds(rows, pod, complete)
            codes = here if codes is None else np.where(codes == 0, here, codes)
        return RowVerdicts(np.zeros(len(rows), np.int16) if codes is None else codes, _REASONS)

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:
        """Counts over all nodes for the domains that feasible nodes are in; skips pods without soft constraints."""
        spreads = self._constraints.of(pod, hard=False)
        if not spreads:
            return SKIP
        # With the system's defaults a node without a zone is still spread over by hostname.
        all_needed = bool(pod.spec.spread) or not self._by_system
        scored = with_all_keys(rows, spreads) if all_needed else np.ones(len(rows), np.bool_)
        everywhere = self.handle.rows()
        grounds = self._soft.get(
            pod.template,
            _version(everywhere, spreads),
            lambda: _grounds(everywhere, pod, spreads, all_keys=all_needed),
        )
        counted = tuple(_preference(everywhere, rows, on, scored) for on in grounds)
        state.put(Preferences(counted, None if scored.all() else scored))
        return SUCCESS

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:  # noqa: ARG002
        """The weighted number of such pods in each node's domains; the fewer the better."""
        preferences = state.get(Preferences)
        total = np.zeros(len(rows), np.float64)
        for spread, sums, weight in preferences.counted if preferences else ():
            ids = rows.label_ids(spread.constraint.topology_key)
            more = spread.constraint.max_skew - 1
            if sums is None:
                total += np.where(ids > 0, rows.pods_counted(spread.count) * weight + more, 0.0)
            else:
                by_domain = sums * weight + more
                by_domain[0] = 0.0
                total += by_domain[ids]
        if preferences is not None and preferences.scored is not None:
            total[~preferences.scored] = 0.0
        return np.floor(total + 0.5).astype(np.int64)

    def normalize_scores(self, state: CycleState, pod: PodInfo, scores: IntArray) -> IntArray:  # noqa: ARG002
        """The lowest raw score becomes 100; nodes that were left out get 0."""
        preferences = state.get(Preferences)
        scored = preferences.scored if preferences else None
        those = scores if scored is None else scores[scored]
        largest = int(those.max(initial=0))
        if largest == 0:
            normalized = np.full(len(scores), MAX_NODE_SCORE)
        else:
            normalized = MAX_NODE_SCORE * (largest + int(those.min()) - scores) // largest
        return normalized if scored is None else np.where(scored, normalized, 0)

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


def _version(rows: NodeRows, spreads: Spreads) -> Hashable:
    """Another one whenever a node has changed, or the constraints have been found again."""
    return (rows.node_version(), spreads)


def _grounds(rows: NodeRows, pod: PodInfo, spreads: Spreads, *, all_keys: bool = True) -> list[Ground]:
    complete = with_all_keys(rows, spreads) if all_keys else np.ones(len(rows), np.bool_)
    return [ground(rows, spread, complete & included(rows, pod, spread)) for spread in spreads]


def _preference(
    everywhere: NodeRows, rows: NodeRows, on: Ground, scored: BoolArray
) -> tuple[Spread, IntArray | None, float]:
    """Pods by domain, and the weight that keeps topologies with few domains from counting too little."""
    key = on.spread.constraint.topology_key
    if key == HOSTNAME:
        return on.spread, None, float(np.log(np.count_nonzero(scored) + 2))
    domains = np.count_nonzero(np.bincount(rows.label_ids(key), weights=scored))
    return on.spread, on.sums(everywhere), float(np.log(domains + 2))
