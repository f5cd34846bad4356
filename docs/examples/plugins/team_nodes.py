"""A label filter: nodes that belong to a team take only pods of that team."""

from collections.abc import Sequence

from scheduler.framework import (
    SUCCESS,
    Action,
    CycleState,
    EventRegistration,
    EventResource,
    Filter,
    Node,
    NodeInfo,
    PodInfo,
    Status,
    unresolvable,
)

TEAM = "example.com/team"


class TeamNodes(Filter):
    name = "TeamNodes"

    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        owner = node.node.labels.get(TEAM)
        if owner is None or owner == pod.labels.get(TEAM):
            return SUCCESS
        return unresolvable("node(s) belonged to another team")

    def events_to_register(self) -> Sequence[EventRegistration]:
        return (
            EventRegistration(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL, is_for_its_team),
            EventRegistration(EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_LABEL),
        )


def is_for_its_team(pod: PodInfo, old: object, new: object) -> bool:
    return isinstance(new, Node) and new.labels.get(TEAM) in (None, pod.labels.get(TEAM))
