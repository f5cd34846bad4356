"""Joins the kept scores of a profile into totals, for rows that a standing lets pass."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from scheduler.cache.nodes import NodeTable
from scheduler.cache.rows import Rows
from scheduler.framework import CycleState, IntArray, PodInfo, PodTemplate, RowScore, Score, Status
from scheduler.runtime.answers import checked_column
from scheduler.runtime.guard import Guard
from scheduler.runtime.parts import KeptPart
from scheduler.runtime.row_cache import Kept, RowCache
from scheduler.runtime.standing import Standing, StandingRows
from scheduler.runtime.standings import keys_of
from scheduler.runtime.totals import ScorePart, Totals

POINT = "Score"
_MOST_TEMPLATES = 1024
_MOST_TOTALS = 8


@dataclass(frozen=True, slots=True)
class Weighted:
    """A score plugin, its weight, and its kept results if it is a row rule."""

    plugin: Score | RowScore
    weight: int
    cache: RowCache[np.int64] | None


@dataclass(frozen=True, slots=True)
class Joined:
    """Totals, and the scores that are not in them."""

    totals: Totals
    rest: Sequence[Weighted]


@dataclass(frozen=True, slots=True)
class Plan:
    """Which of these scores can be joined for the pods of a template, as of a position of the node journal."""

    nodes: int
    scores: Sequence[Weighted]
    kept: tuple[tuple[Weighted, Hashable], ...]
    rest: tuple[Weighted, ...]
    key: Hashable


class JoinedScores:
    """The totals of each standing."""

    def __init__(self, table: NodeTable, guard: Guard) -> None:
        self._table = table
        self._guard = guard
        self._plans: OrderedDict[tuple[PodTemplate, bool], Plan] = OrderedDict()
        self._totals: WeakKeyDictionary[Standing, OrderedDict[Hashable, Totals]] = WeakKeyDictionary()

    def of(
        self, active: Sequence[Weighted], state: CycleState, pod: PodInfo, rows: StandingRows
    ) -> Joined | Status | None:
        """The totals of these rows; a status if a rule failed, None if the scores have to be asked one by one."""
        standing = rows.standing
        plan = self._plan(active, pod, of_nodes=not standing.reads_usage)
        if not plan.kept or not standing.is_current(rows):
            return None
        totals = self._totals_of(standing, plan)
        try:
            problem = totals.refresh(state, pod)
        except ValueError:
            # A score out of range: asked by itself, the plugin is named.
            return None
        if problem is None and not totals.hold_for(rows):
            return None
        return problem or Joined(totals, plan.rest)

    def _plan(self, active: Sequence[Weighted], pod: PodInfo, *, of_nodes: bool) -> Plan:
        """`of_nodes`: join only scores that look at nothing but nodes, for pods that share no more."""
        nodes = self._table.node_journal.position
        plan = self._plans.get((pod.template, of_nodes))
        if plan is None or plan.nodes != nodes or plan.scores is not active:
            plan = self._plans[pod.template, of_nodes] = _plan(active, nodes, pod, of_nodes=of_nodes)
            if len(self._plans) > _MOST_TEMPLATES:
                self._plans.popitem(last=False)
        return plan

    def _totals_of(self, standing: Standing, plan: Plan) -> Totals:
        of_standing = self._totals.get(standing)
        if of_standing is None:
            of_standing = self._totals[standing] = OrderedDict()
        totals = of_standing.get(plan.key)
        if totals is None:
            parts = [part for weighted, key in plan.kept if (part := _part(weighted, key)) is not None]
            totals = of_standing[plan.key] = Totals(standing, parts, self._guard)
            if len(of_standing) > _MOST_TOTALS:
                of_standing.popitem(last=False)
        return totals


def kept_scores(plugin: RowScore, state: CycleState, pod: PodInfo, rows: Rows, kept: Kept[np.int64]) -> IntArray:  # noqa: ARG001  scores have no statuses to keep
    """The raw scores of some rows, to be kept. Raises ValueError for an answer that is no number for each row."""
    return checked_column(plugin.score_rows(state, pod, rows), len(rows))


def _plan(active: Sequence[Weighted], nodes: int, pod: PodInfo, *, of_nodes: bool) -> Plan:
    kept: list[tuple[Weighted, Hashable]] = []
    rest: list[Weighted] = []
    for weighted in active:
        plugin = weighted.plugin
        joins = weighted.cache is not None and not (of_nodes and weighted.cache.reads_usage)
        keys = keys_of([plugin], pod) if joins and isinstance(plugin, RowScore) and _normalizes_plainly(plugin) else ()
        if keys:
            kept.append((weighted, keys[0]))
        else:
            rest.append(weighted)
    key = tuple((weighted.plugin.name, key) for weighted, key in kept)
    return Plan(nodes, active, tuple(kept), tuple(rest), key)


def _part(weighted: Weighted, key: Hashable) -> ScorePart | None:
    plugin = weighted.plugin
    if not isinstance(plugin, RowScore) or weighted.cache is None:
        return None
    kept = KeptPart(plugin, POINT, partial(kept_scores, plugin), weighted.cache, key)
    return ScorePart(kept, weighted.weight, plugin.normalize)


def _normalizes_plainly(plugin: RowScore) -> bool:
    """Whether the plugin leaves normalising to what `normalize` says."""
    return type(plugin).normalize_scores is RowScore.normalize_scores
