"""SchedulingGates: a pod with gates stays out of the queue (KEP-3521)."""

from collections.abc import Sequence
from typing import ClassVar

from scheduler.framework import (
    SUCCESS,
    Action,
    EventRegistration,
    EventResource,
    PodInfo,
    PreEnqueue,
    Status,
    unresolvable,
)

REASON = "waiting for scheduling gates: [{gates}]"


class SchedulingGates(PreEnqueue):
    """Refuses pods with spec.schedulingGates."""

    name: ClassVar[str] = "SchedulingGates"

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Success once there are no gates."""
        gates = pod.spec.scheduling_gates
        return unresolvable(REASON.format(gates=" ".join(gates))) if gates else SUCCESS

    def events_to_register(self) -> Sequence[EventRegistration]:
        """The removal of the pod's last gate."""
        return (EventRegistration(EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_GATES_ELIMINATED),)
