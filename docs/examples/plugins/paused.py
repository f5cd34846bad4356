"""A gate: pods of a namespace that is paused do not enter the queue until it no longer is."""

from collections.abc import Sequence
from typing import ClassVar

from scheduler.api import ApiObject, Namespace
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

PAUSED = "example.com/paused"


class Paused(PreEnqueue):
    name = "Paused"
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset({Namespace})

    def pre_enqueue(self, pod: PodInfo) -> Status:
        namespace = self.handle.find(Namespace, "", pod.namespace)
        if namespace is not None and namespace.labels.get(PAUSED) == "true":
            return unresolvable("the namespace is paused")
        return SUCCESS

    def events_to_register(self) -> Sequence[EventRegistration]:
        return (EventRegistration(EventResource.NAMESPACE, Action.ALL),)
