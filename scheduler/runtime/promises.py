"""The filters with the pods counted that were promised a node (kube-scheduler's RunFilterPluginsWithNominatedPods)."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

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
        places = self._places(rows)
        if not places:
            return verdicts
        crowded = self.runtime.crowded.ask(self.likeness(), rows, places, partial(self._run_crowded, rows, places))
        if isinstance(crowded, Status):
            return crowded
        for position, status in crowded.items():
            if not status.ok:
                verdicts.refuse(position, status)
        return verdicts

    def likeness(self) -> Hashable | None:
        """What the pod has in common with those that no filter can tell from it, or None."""
        return self.runtime.likeness(self.cycle, self.pod)

    def promised_on(self, name: str) -> tuple[PodInfo, ...]:
        """The pods that count against the pod on a node."""
        return tuple(self.promised.get(name, ()))

    def _places(self, rows: Rows) -> dict[int, tuple[PodInfo, ...]]:
        """Where in these rows the promises are, ascending."""
        positions = rows.positions_of(self.promised)
        places = {at: tuple(pods) for at, pods in zip(positions, self.promised.values(), strict=True) if at >= 0}
        return dict(sorted(places.items()))

    def _run_crowded(
        self, rows: Rows, places: Mapping[int, Sequence[PodInfo]], positions: Sequence[int]
    ) -> Sequence[Status] | Status:
        """The verdicts at these positions with the promised pods counted."""
        crowded = rows.table.scratch(rows.index[np.array(positions)])
        crowded.add_pods((row, other) for row, position in enumerate(positions) for other in places[position])
        verdicts = self.runtime.run_filters(self.cycle, self.pod, Rows(crowded, crowded.live(), rows.cluster))
        if isinstance(verdicts, Status):
            return verdicts
        return [verdicts.status_at(row) for row in range(len(positions))]
