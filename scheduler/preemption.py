"""Which pods would have to go from a node so that another fits there: a what-if over rows.

Candidate nodes are looked at all at once: each row of a scratch table is a world of its own, in which only this node differs.
Not here: whose pods may be evicted and which node is taken (the plugin), nor how pods are evicted (eviction.py).
"""

from collections.abc import Sequence

import numpy as np

from scheduler.cache.nodes import NodeTable
from scheduler.cache.rows import Rows
from scheduler.framework import Evictable, IntArray, PodInfo, Status, unresolvable
from scheduler.runtime.filters import NodeVerdicts
from scheduler.runtime.promises import PodFilters

NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")

Outcome = tuple[PodInfo, ...] | Status
"""The pods that must go, in the order in which they were to be spared, or why the pod does not fit without all of them."""


def dry_run(filters: PodFilters, rows: Rows, evictable: Evictable) -> list[Outcome]:
    """What evicting would do on each of these rows (kube-scheduler's SelectVictimsOnNode).

    All evictable pods are taken off all rows; where the pod then fits, they are given back in lock step: in round k the k-th
    of each row, which stays if the pod still fits. What is known from a pod that read alike is not tried again.
    """
    infos = [rows.node(position) for position in range(len(rows))]
    on_row = [tuple(evictable(info)) for info in infos]
    supposed = {at: (pods, filters.promised_on(infos[at].name)) for at, pods in enumerate(on_row) if pods}
    outcomes: list[Outcome] = [NO_VICTIMS] * len(rows)
    if not supposed:
        return outcomes

    def find(positions: Sequence[int]) -> Sequence[Outcome]:
        return _Trial(filters, rows.subset(np.array(positions))).run([on_row[position] for position in positions])

    found = filters.runtime.evictions.ask(filters.likeness(), rows, supposed, find)
    if isinstance(found, Status):
        return [found] * len(rows)
    for position, outcome in found.items():
        outcomes[position] = outcome
    return outcomes


class _Trial:
    """Copies of some rows, from which pods are taken and to which they are given back."""

    def __init__(self, filters: PodFilters, rows: Rows) -> None:
        self._filters = filters
        self._cluster = rows.cluster
        self._scratch: NodeTable = rows.table.scratch(rows.index)

    def run(self, evictable: Sequence[Sequence[PodInfo]]) -> list[Outcome]:
        """The outcome of each row, given the pods that may be taken from it."""
        self._scratch.remove_pods((row, pod) for row, pods in enumerate(evictable) for pod in pods)
        verdicts = self._verdicts(self._scratch.live())
        if isinstance(verdicts, Status):
            return [verdicts] * len(evictable)
        victims: dict[int, list[PodInfo]] = {row: [] for row in verdicts.feasible().tolist()}
        for turn in range(max((len(evictable[row]) for row in victims), default=0)):
            given = {row: evictable[row][turn] for row in victims if turn < len(evictable[row])}
            missed = self._give_back(given)
            if isinstance(missed, Status):
                return [missed] * len(evictable)
            for row in missed:
                victims[row].append(given[row])
        return [tuple(victims[row]) if row in victims else verdicts.status_at(row) for row in range(len(evictable))]

    def _give_back(self, given: dict[int, PodInfo]) -> list[int] | Status:
        """Count one pod again on each of these rows; answers the rows that do not fit with it, which lose it again."""
        index = np.array(list(given), np.int64)
        self._scratch.add_pods(given.items())
        verdicts = self._verdicts(index)
        if isinstance(verdicts, Status):
            return verdicts
        missed: list[int] = index[verdicts.codes != 0].tolist()
        self._scratch.remove_pods((row, given[row]) for row in missed)
        return missed

    def _verdicts(self, index: IntArray) -> NodeVerdicts | Status:
        return self._filters.run(Rows(self._scratch, index, self._cluster))
