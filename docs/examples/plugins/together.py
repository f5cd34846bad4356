"""A permit that waits: pods of a group are bound once so many of them have a place, or give it back after a minute."""

from scheduler.framework import SUCCESS, Code, CycleState, Permit, PermitResult, PodInfo, Status

GROUP = "example.com/group"
SIZE = "example.com/group-size"
PATIENCE = 60.0


class Together(Permit):
    name = "Together"

    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        size = pod.labels.get(SIZE, "")
        if GROUP not in pod.labels or not size.isdigit():
            return PermitResult(SUCCESS)
        others = [other for other in self.handle.waiting() if same_group(other, pod)]
        if len(others) + 1 < int(size):
            return PermitResult(Status(Code.WAIT), timeout=PATIENCE)
        for other in others:
            self.handle.allow(other.uid, self.name)
        return PermitResult(SUCCESS)


def same_group(one: PodInfo, other: PodInfo) -> bool:
    return one.namespace == other.namespace and one.labels.get(GROUP) == other.labels[GROUP]
