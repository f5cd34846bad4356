"""What has changed between two versions of an object, as the cluster events that waiting pods may be woken by.

The classes and names are kube-scheduler's (1.36, framework/events.go). A change that is none of them wakes nobody.
"""

from scheduler.api import Kind
from scheduler.framework import Action, ClusterEvent, EventResource, Node, PodInfo

ASSIGNED_POD_ADD = ClusterEvent(EventResource.ASSIGNED_POD, Action.ADD, "AssignedPodAdd")
ASSIGNED_POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, Action.DELETE, "AssignedPodDelete")
NODE_ADD = ClusterEvent(EventResource.NODE, Action.ADD, "NodeAdd")
NODE_DELETE = ClusterEvent(EventResource.NODE, Action.DELETE, "NodeDelete")

_OBJECT_ACTIONS = {Action.ADD: "Add", Action.UPDATE_OTHER: "Update", Action.DELETE: "Delete"}
_OBJECT_EVENTS = {
    (kind, action): ClusterEvent(EventResource(kind.value), action, f"{kind}{label}")
    for kind in set(Kind) - {Kind.POD, Kind.NODE}
    for action, label in _OBJECT_ACTIONS.items()
}

_NODE_UPDATES = {
    action: ClusterEvent(EventResource.NODE, action, label)
    for action, label in (
        (Action.UPDATE_NODE_ALLOCATABLE, "NodeUpdateNodeAllocatable"),
        (Action.UPDATE_NODE_LABEL, "NodeUpdateNodeLabel"),
        (Action.UPDATE_NODE_TAINT, "NodeUpdateNodeTaint"),
        (Action.UPDATE_NODE_CONDITION, "NodeUpdateNodeCondition"),
        (Action.UPDATE_NODE_ANNOTATION, "NodeUpdateNodeAnnotation"),
        (Action.UPDATE_NODE_DECLARED_FEATURE, "NodeUpdateNodeDeclaredFeature"),
    )
}


def node_changes(old: Node, new: Node) -> list[ClusterEvent]:
    """The events of a node update. Uncordoning counts as a change of taints; cordoning helps nobody."""
    happened = []
    if old.allocatable != new.allocatable:
        happened.append(Action.UPDATE_NODE_ALLOCATABLE)
    if old.labels != new.labels:
        happened.append(Action.UPDATE_NODE_LABEL)
    if old.taints != new.taints or (old.unschedulable and not new.unschedulable):
        happened.append(Action.UPDATE_NODE_TAINT)
    if old.conditions != new.conditions:
        happened.append(Action.UPDATE_NODE_CONDITION)
    if old.annotations != new.annotations:
        happened.append(Action.UPDATE_NODE_ANNOTATION)
    if old.declared_features != new.declared_features:
        happened.append(Action.UPDATE_NODE_DECLARED_FEATURE)
    return [_NODE_UPDATES[action] for action in happened]


def object_event(kind: Kind, action: Action) -> ClusterEvent:
    """The event of an object of another kind that was added, changed (UPDATE_OTHER) or deleted."""
    return _OBJECT_EVENTS[kind, action]


def pod_changes(old: PodInfo, new: PodInfo, resource: EventResource) -> list[ClusterEvent]:
    """The events of a pod update; `resource` says whether the pod is on a node or waits itself."""
    happened: list[tuple[Action, str]] = []
    if old.labels != new.labels:
        happened.append((Action.UPDATE_POD_LABEL, "UpdatePodLabel"))
    if any(new.usage.amounts.get(name, 0) < amount for name, amount in old.usage.amounts.items()):
        happened.append((Action.UPDATE_POD_SCALE_DOWN, "UpdatePodScaleDown"))
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        happened.append((Action.UPDATE_POD_GATES_ELIMINATED, "UpdatePodSchedulingGatesEliminated"))
    if old.spec.tolerations != new.spec.tolerations:
        happened.append((Action.UPDATE_POD_TOLERATIONS, "UpdatePodToleration"))
    prefix = "AssignedPod" if resource is EventResource.ASSIGNED_POD else "UnschedulablePod"
    return [
        ClusterEvent(resource, action, f"{prefix}{label.removeprefix('UpdatePod')}Update") for action, label in happened
    ]
