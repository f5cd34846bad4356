"""NodePorts: a host port can be given once."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from scheduler.framework import (
    SKIP,
    Action,
    CycleState,
    EventRegistration,
    EventResource,
    NodeRows,
    PodInfo,
    PodTemplate,
    PreFilter,
    PreFilterResult,
    RowFilter,
    RowVerdicts,
    unschedulable,
)

REASON = "node(s) didn't have free ports for the requested pod ports"


class NodePorts(PreFilter, RowFilter):
    """Refuses nodes on which a host port of the pod is taken (containers and sidecars)."""

    name: ClassVar[str] = "NodePorts"

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:  # noqa: ARG002
        """Skips pods without host ports."""
        return PreFilterResult(SKIP) if self.indifferent(pod.template) else PreFilterResult()

    def indifferent(self, template: PodTemplate) -> bool:
        """Pods without host ports."""
        return not template.spec.host_ports

    def row_key(self, template: PodTemplate) -> Hashable | None:
        """The ports."""
        return template.spec.host_ports

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """Refused where a port is taken."""
        return RowVerdicts.failing(rows.port_conflicts(pod.spec.host_ports), unschedulable(REASON))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A pod that goes and frees a port, and new nodes."""
        return (
            EventRegistration(EventResource.ASSIGNED_POD, Action.DELETE, _frees_a_port),
            EventRegistration(EventResource.NODE, Action.ADD),
        )


def _frees_a_port(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    freed = old.spec.host_ports if isinstance(old, PodInfo) else ()
    return any(wanted.conflicts(port) for wanted in pod.spec.host_ports for port in freed)
