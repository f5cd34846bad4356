"""NodeDeclaredFeatures: a node must declare what the pod cannot run without (KEP-5328)."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from scheduler.framework import (
    SKIP,
    Action,
    CycleState,
    EventRegistration,
    EventResource,
    Facet,
    Node,
    NodeRows,
    PodInfo,
    PodTemplate,
    PreFilter,
    PreFilterResult,
    RowFilter,
    RowVerdicts,
    unresolvable,
)

REASON = "node(s) didn't match Pod's required features"


class NodeDeclaredFeatures(PreFilter, RowFilter):
    """Refuses nodes that do not declare every feature that the pod's spec takes for granted. The fields that ask for one never
    change, so no update of the pod helps.
    """

    name: ClassVar[str] = "NodeDeclaredFeatures"
    facets: ClassVar[Facet] = Facet.NODE

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:  # noqa: ARG002
        """Skips pods that ask for nothing special."""
        return PreFilterResult(SKIP) if self.indifferent(pod.template) else PreFilterResult()

    def indifferent(self, template: PodTemplate) -> bool:
        """Pods that ask for nothing special."""
        return not template.spec.required_features

    def row_key(self, template: PodTemplate) -> Hashable | None:
        """The features."""
        return template.spec.required_features

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:  # noqa: ARG002
        """Refused where one is not declared."""
        return RowVerdicts.failing(~rows.declaring(pod.spec.required_features), unresolvable(REASON))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """New nodes, and nodes that declare something else than before."""
        changes = Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE
        return (EventRegistration(EventResource.NODE, changes, _declares),)


def _declares(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    return isinstance(new, Node) and pod.spec.required_features <= new.declared_features
