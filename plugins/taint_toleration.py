"""TaintToleration: taints keep pods off nodes, or make the nodes less liked."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from scheduler.framework import (
    SUCCESS,
    Action,
    CycleState,
    EventRegistration,
    EventResource,
    Facet,
    IntArray,
    Node,
    NodeRows,
    Normalize,
    PodInfo,
    PodTemplate,
    PreScore,
    RowFilter,
    RowScore,
    RowVerdicts,
    Status,
    unresolvable,
)
from scheduler.matching import SCHEDULING_EFFECTS, Effect, untolerated

REASON = "node(s) had untolerated taint(s)"

_PREFERENCE = frozenset({Effect.PREFER_NO_SCHEDULE})


class TaintToleration(RowFilter, PreScore, RowScore):
    """Refuses nodes with a NoSchedule or NoExecute taint that the pod does not tolerate; prefers those with the fewest
    PreferNoSchedule taints that it does not.
    """

    name: ClassVar[str] = "TaintToleration"
    facets: ClassVar[Facet] = Facet.NODE
    normalize: ClassVar[Normalize] = Normalize.REVERSED

    def row_key(self, template: PodTemplate) -> Hashable | None:
        """The tolerations."""
        return template.spec.tolerations

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """Refused where a taint that forbids is not tolerated."""
        return RowVerdicts.failing(rows.untolerated(pod.spec.tolerations, SCHEDULING_EFFECTS) > 0, unresolvable(REASON))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """A node with other taints, and tolerations of the pod."""
        return (
            EventRegistration(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT, _tolerated_now),
            EventRegistration(EventResource.UNSCHEDULED_POD, Action.UPDATE_POD_TOLERATIONS),
        )

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:  # noqa: ARG002
        """Nothing to prepare; a profile may name the plugin here, as in kube-scheduler."""
        return SUCCESS

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:  # noqa: ARG002
        """The number of PreferNoSchedule taints that are not tolerated."""
        return rows.untolerated(pod.spec.tolerations, _PREFERENCE)


def _forbids(node: Node, pod: PodInfo) -> bool:
    return any(taint.effect in SCHEDULING_EFFECTS for taint in untolerated(node.taints, pod.spec.tolerations))


def _tolerated_now(pod: PodInfo, old: object, new: object) -> bool:
    was_forbidden = not isinstance(old, Node) or _forbids(old, pod)
    return was_forbidden and isinstance(new, Node) and not _forbids(new, pod)
