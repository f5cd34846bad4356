"""NodeName: a pod that names its node runs there or nowhere."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from scheduler.framework import (
    Action,
    CycleState,
    EventRegistration,
    EventResource,
    Facet,
    NodeRows,
    PodInfo,
    PodTemplate,
    RowFilter,
    RowVerdicts,
    unresolvable,
)

REASON = "node(s) didn't match the requested node name"


class NodeName(RowFilter):
    """Refuses nodes other than spec.nodeName."""

    name: ClassVar[str] = "NodeName"
    facets: ClassVar[Facet] = Facet.NODE

    def row_key(self, template: PodTemplate) -> Hashable | None:  # noqa: ARG002
        """Nothing: pods that wait name no node, and for one that does nothing is kept."""
        return ()

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """All rows pass a pod that names none."""
        if not pod.node_name:
            return RowVerdicts.passing(len(rows))
        return RowVerdicts.failing(~rows.named(pod.node_name), unresolvable(REASON))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A new node may have the name."""
        return (EventRegistration(EventResource.NODE, Action.ADD),)
