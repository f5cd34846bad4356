"""How the pods of a constraint are spread over the domains of its topology key, and where a pod may go without spoiling it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plugins.spread_constraints import Spread
from plugins.topology import domain_sums, known_domains
from scheduler.framework import BoolArray, IntArray, NodeRows, PodInfo
from scheduler.matching import SCHEDULING_EFFECTS

_NO_DOMAIN = np.iinfo(np.int64).max


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
class Tally:
    """The state of one hard constraint in the cluster: pods by domain (label id), and the least of them.

    `second` is the least without the domain `lowest`; both are 0 while there are fewer domains than minDomains.
    """

    spread: Spread
    sums: IntArray
    least: int
    lowest: int
    second: int
    enough_domains: bool

    def skew(self, rows: NodeRows, pod: PodInfo, complete: BoolArray) -> IntArray:
        """How far the domain of each row would be above the least one with the pod on it; `complete` rows have all keys."""
        ids = rows.label_ids(self.spread.constraint.topology_key)
        here = self.sums[ids]
        least = np.full(len(rows), self.least, np.int64)
        more = rows.pods_more(self.spread.count)
        if more is not None:
            counts = complete & included(rows, pod, self.spread)
            here = here + more * counts
            others = np.where(ids == self.lowest, self.second, self.least)
            least = np.where(counts, np.minimum(here, others), least)
        if not self.enough_domains:
            least = np.zeros(len(rows), np.int64)
        return here + int(self.spread.selects(pod.labels)) - least


def tally(rows: NodeRows, spread: Spread, counting: BoolArray) -> Tally:
    """Count one constraint over all nodes, of which those `counting` matter."""
    ids = rows.label_ids(spread.constraint.topology_key)
    sums = domain_sums(ids, rows.pods_counted(spread.count), counting)
    known = np.flatnonzero(known_domains(ids, counting))
    least = second = _NO_DOMAIN
    lowest = -1
    if len(known):
        position = int(np.argmin(sums[known]))
        lowest, least = int(known[position]), int(sums[known[position]])
        second = int(np.delete(sums[known], position).min(initial=_NO_DOMAIN))
    return Tally(spread, sums, least, lowest, second, len(known) >= spread.constraint.min_domains)
