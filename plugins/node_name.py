"""NodeName: a pod that names its node runs there or nowhere."""

from collections.abc import Sequence
from typing import ClassVar

from scheduler.framework import (
    SKIP,
    Action,
    CycleState,
    EventRegistration,
    EventResource,
    Facet,
    NodeRows,
    PodInfo,
    PreFilter,
    PreFilterResult,
    RowFilter,
    RowVerdicts,
    unresolvable,
)

REASON = "node(s) didn't match the requested node name"


class NodeName(PreFilter, RowFilter):
    """Refuses nodes other than spec.nodeName."""

    name: ClassVar[str] = "NodeName"
    facets: ClassVar[Facet] = Facet.NODE

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:  # noqa: ARG002
        """Skips pods that name no node, as all do that wait for a scheduler."""
        return PreFilterResult() if pod.node_name else PreFilterResult(SKIP)

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """All rows pass a pod that names none."""
        if not pod.node_name:
            return RowVerdicts.passing(len(rows))
        return RowVerdicts.failing(~rows.named(pod.node_name), unresolvable(REASON))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A new node may have the name."""
        return (EventRegistration(EventResource.NODE, Action.ADD),)
