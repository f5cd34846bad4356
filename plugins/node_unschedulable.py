"""NodeUnschedulable: cordoned nodes take no pods, but for those that tolerate it."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from scheduler.framework import (
    Action,
    CycleState,
    EventRegistration,
    EventResource,
    Facet,
    Node,
    NodeRows,
    PodInfo,
    PodSpec,
    PodTemplate,
    RowFilter,
    RowVerdicts,
    unresolvable,
)
from scheduler.matching import Effect, Taint, untolerated

REASON = "node(s) were unschedulable"

_CORDON = (Taint("node.kubernetes.io/unschedulable", "", Effect.NO_SCHEDULE),)


def _tolerates_cordon(spec: PodSpec) -> bool:
    """Whether the pod tolerates the taint that stands for spec.unschedulable."""
    return not untolerated(_CORDON, spec.tolerations)


class NodeUnschedulable(RowFilter):
    """Refuses nodes with spec.unschedulable."""

    name: ClassVar[str] = "NodeUnschedulable"
    facets: ClassVar[Facet] = Facet.NODE

    def row_key(self, template: PodTemplate) -> Hashable | None:
        """Whether the pod minds."""
        return _tolerates_cordon(template.spec)

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """All rows pass a pod that does not mind."""
        if _tolerates_cordon(pod.spec):
            return RowVerdicts.passing(len(rows))
        return RowVerdicts.failing(rows.unschedulable(), unresolvable(REASON))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A node that is open, and tolerations of the pod. A change of spec.unschedulable comes as a change of taints."""
        return (
            EventRegistration(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT, _opened),
            EventRegistration(EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATIONS, _tolerates_now),
        )


def _opened(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    was_closed = not isinstance(old, Node) or old.unschedulable
    return was_closed and isinstance(new, Node) and not new.unschedulable


def _tolerates_now(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    return isinstance(new, PodInfo) and _tolerates_cordon(new.spec)
