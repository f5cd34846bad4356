"""The kinds that berth may follow, and the values of those beside pods and nodes: just what rules read of them.

A kind is followed only if a plugin of some profile needs it (`Plugin.needs`). Pods and nodes have values of their own in
`scheduler.framework`.
"""

from enum import StrEnum
from typing import ClassVar

import msgspec

from scheduler.matching import Labels, LabelSelector


class Kind(StrEnum):
    """Kinds of objects the engine can follow."""

    POD = "Pod"
    NODE = "Node"
    NAMESPACE = "Namespace"
    POD_DISRUPTION_BUDGET = "PodDisruptionBudget"


class ApiObject(msgspec.Struct, frozen=True, gc=False, eq=False):
    """An object as last seen. Immutable: a change is a new value. `namespace` is empty for cluster-scoped kinds."""

    kind: ClassVar[Kind]

    uid: str
    namespace: str
    name: str
    resource_version: str
    labels: Labels


class Namespace(ApiObject, frozen=True, gc=False, eq=False):
    """A v1 Namespace: its labels are what namespace selectors match."""

    kind: ClassVar[Kind] = Kind.NAMESPACE


class PodDisruptionBudget(ApiObject, frozen=True, gc=False, eq=False):
    """A policy/v1 PodDisruptionBudget. Without a selector, or with an empty one, it protects no pod that preemption looks at
    (kube-scheduler 1.36). `disrupted` are the names of pods whose disruption the budget's controller has counted already.
    """

    kind: ClassVar[Kind] = Kind.POD_DISRUPTION_BUDGET

    selector: LabelSelector | None
    disruptions_allowed: int
    disrupted: frozenset[str]
