"""How the pods of a constraint are spread over the domains of its topology key, and where a pod may go without spoiling it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plugins.spread_constraints import Spread
from plugins.topology import domain_sums, known_domains
from scheduler.framework import BoolArray, CodeArray, IntArray, NodeRows, PodInfo
from scheduler.matching import SCHEDULING_EFFECTS

_NO_DOMAIN = np.iinfo(np.int64).max
MISSING, SKEWED = 1, 2


def with_all_keys(rows: NodeRows, spreads: Sequence[Spread]) -> BoolArray:
    """Where a node has every topology key."""
    has = np.ones(len(rows), np.bool_)
    for key in {spread.constraint.topology_key for spread in spreads}:
        has &= rows.label_ids(key) > 0
    return has


def included(rows: NodeRows, pod: PodInfo, spread: Spread) -> BoolArray:
    """Where the inclusion policies let a node count: that the pod may go there by its node affinity, and by its tolerations."""
    counts = np.ones(len(rows), np.bool_)
    if spread.constraint.honor_affinity:
        for requirement in pod.spec.node_selector:
            counts &= rows.meets(requirement)
        if pod.spec.required_node_affinity is not None:
            counts &= rows.matching(pod.spec.required_node_affinity)
    if spread.constraint.honor_taints:
        counts &= rows.untolerated(pod.spec.tolerations, SCHEDULING_EFFECTS) == 0
    return counts


@dataclass(frozen=True, slots=True)
class Ground:
    """The nodes that count for a constraint (None: all), and the label ids of their domains; as long as no node changes."""

    spread: Spread
    counting: BoolArray | None
    known: IntArray

    @property
    def has_enough(self) -> bool:
        """Whether there are as many domains as there should be (minDomains)."""
        return len(self.known) >= self.spread.constraint.min_domains

    def sums(self, rows: NodeRows) -> IntArray:
        """Pods by domain (label id), of these rows, which are all nodes."""
        ids = rows.label_ids(self.spread.constraint.topology_key)
        return domain_sums(ids, rows.pods_counted(self.spread.count), self.counting)


def ground(rows: NodeRows, spread: Spread, counting: BoolArray) -> Ground:
    """The ground of one constraint over all nodes, of which those `counting` matter."""
    known = np.flatnonzero(known_domains(rows.label_ids(spread.constraint.topology_key), counting))
    return Ground(spread, None if counting.all() else counting, known)


@dataclass(frozen=True, slots=True)
class Tally:
    """The state of one hard constraint in the cluster: pods by domain (label id), and the least of those that count, which is 0
    while there are fewer domains than minDomains.
    """

    ground: Ground
    sums: IntArray
    least: int
    itself: int

    @property
    def spread(self) -> Spread:
        """The constraint."""
        return self.ground.spread

    def codes(self, rows: NodeRows) -> CodeArray:
        """For each row 0, MISSING where the node has no such domain, or SKEWED where its domain would be too far above the least
        one with the pod on it.
        """
        constraint = self.spread.constraint
        by_domain = np.where(self.sums > constraint.max_skew + self.least - self.itself, SKEWED, 0).astype(np.int16)
        by_domain[0] = MISSING
        return by_domain[rows.label_ids(constraint.topology_key)]

    def codes_in_worlds(self, rows: NodeRows, pod: PodInfo, complete: BoolArray) -> CodeArray:
        """The same for hypothetical rows, of which those that are `complete` have all keys."""
        constraint = self.spread.constraint
        ids = rows.label_ids(constraint.topology_key)
        counts = complete & included(rows, pod, self.spread)
        more = rows.pods_more(self.spread.count)
        here = self.sums[ids] + (0 if more is None else more * counts)
        least = np.where(counts, np.minimum(here, self._least_elsewhere(ids)), self.least)
        # Without any domain the least is so large that only the difference can be told.
        skew = here + self.itself - (least if self.ground.has_enough else 0)
        return np.where(ids == 0, MISSING, np.where(skew > constraint.max_skew, SKEWED, 0)).astype(np.int16)

    def _least_elsewhere(self, ids: IntArray) -> IntArray:
        """The least of all domains but that of each row."""
        known = self.sums[self.ground.known]
        if not len(known):
            return np.full(len(ids), _NO_DOMAIN, np.int64)
        position = int(np.argmin(known))
        second = int(np.delete(known, position).min(initial=_NO_DOMAIN))
        return np.where(ids == self.ground.known[position], second, int(known[position]))


def tally(rows: NodeRows, on: Ground, pod: PodInfo) -> Tally:
    """Count one constraint over all nodes."""
    sums = on.sums(rows)
    least = int(sums[on.known].min(initial=_NO_DOMAIN)) if on.has_enough else 0
    return Tally(on, sums, least, int(on.spread.selects(pod.labels)))
