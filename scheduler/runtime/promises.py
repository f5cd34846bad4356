"""The filters with the pods counted that were promised a node (kube-scheduler's RunFilterPluginsWithNominatedPods)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler.cache.rows import Rows
from scheduler.framework import CycleState, PodInfo, Status
from scheduler.runtime.filters import NodeVerdicts
from scheduler.runtime.profile import ProfileRuntime

Promised = Mapping[str, Sequence[PodInfo]]
"""By node name the pods that were promised the node and count against the pod in question."""


@dataclass(frozen=True, slots=True)
class PodFilters:
    """The filters of a profile for one pod in one attempt, with the promises that count against it."""

    runtime: ProfileRuntime
    cycle: CycleState
    pod: PodInfo
    promised: Promised

    def run(self, rows: Rows) -> NodeVerdicts | Status:
        """The verdict of each row; one with promised pods must take the pod both with and without them.

        A promise may make a node full, and it may be what an affinity relies on. What is refused with them is told so.
        """
        verdicts = self.runtime.run_filters(self.cycle, self.pod, rows)
        if isinstance(verdicts, Status):
            return verdicts
        places = {at: pods for name, pods in self.promised.items() if (at := rows.position_of(name)) is not None}
        if not places:
            return verdicts
        positions = sorted(places)
        crowded = rows.table.scratch(rows.index[np.array(positions)])
        crowded.add_pods((row, other) for row, position in enumerate(positions) for other in places[position])
        refusals = self.runtime.run_filters(self.cycle, self.pod, Rows(crowded, crowded.live(), rows.cluster))
        if isinstance(refusals, Status):
            return refusals
        for row, position in enumerate(positions):
            if refusals.codes[row]:
                verdicts.refuse(position, refusals.status_at(row))
        return verdicts
