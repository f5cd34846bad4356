"""VolumeZone: a pod must go to the zone of its volumes, where these carry zone or region labels instead of a node affinity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plugins.claims import claim_not_found, uses_claim
from scheduler.api import ApiObject, PersistentVolume, PersistentVolumeClaim, StorageClass
from scheduler.framework import (
    SKIP,
    Action,
    BoolArray,
    ClaimVolume,
    CycleState,
    EventRegistration,
    EventResource,
    Facet,
    NodeRows,
    PodInfo,
    PodTemplate,
    PreFilter,
    PreFilterResult,
    RowFilter,
    RowVerdicts,
    Status,
    unresolvable,
)
from scheduler.matching import Labels, Operator, Requirement

REASON = "node(s) had no available volume zone"

_ZONE = "topology.kubernetes.io/zone"
_REGION = "topology.kubernetes.io/region"
_TODAY: Mapping[str, str] = {
    "failure-domain.beta.kubernetes.io/zone": _ZONE,
    "failure-domain.beta.kubernetes.io/region": _REGION,
    _ZONE: _ZONE,
    _REGION: _REGION,
}
"""The label keys that count, with their present names."""
_SEPARATOR = "__"


@dataclass(frozen=True, slots=True)
class Places:
    """The labels of a pod's volumes: key and allowed values of each."""

    labels: tuple[tuple[str, frozenset[str]], ...]


class VolumeZone(PreFilter, RowFilter):
    """Refuses nodes in another zone or region than a bound volume; nodes without such labels can reach any."""

    name: ClassVar[str] = "VolumeZone"
    facets: ClassVar[Facet] = Facet.NODE
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset({PersistentVolume, PersistentVolumeClaim, StorageClass})

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        """Skips pods whose volumes name no zone; refuses those with a claim that can tell nothing."""
        places = self._places(pod)
        if isinstance(places, Status):
            return PreFilterResult(places)
        if not places.labels:
            return PreFilterResult(SKIP)
        state.put(places)
        return PreFilterResult()

    def indifferent(self, template: PodTemplate) -> bool:
        """Pods without claims."""
        return not any(isinstance(volume, ClaimVolume) for volume in template.spec.volumes)

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:
        """Refused where a label differs; a node may have the present name of a key where the volume has the old one."""
        places = state.get(Places) or self._places(pod)
        if isinstance(places, Status):
            return RowVerdicts.failing(np.ones(len(rows), np.bool_), places)
        somewhere = np.zeros(len(rows), np.bool_)
        for key in _TODAY:
            somewhere |= rows.meets(Requirement(key, Operator.EXISTS))
        elsewhere = np.zeros(len(rows), np.bool_)
        for key, values in places.labels:
            elsewhere |= ~_inside(rows, key, values)
        return RowVerdicts.failing(somewhere & elsewhere, unresolvable(REASON))

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Claims of the pod, volumes with other labels, nodes, and classes that bind late."""
        either = Action.ADD | Action.UPDATE
        return (
            EventRegistration(EventResource.STORAGE_CLASS, Action.ADD, _binds_late),
            EventRegistration(EventResource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
            EventRegistration(EventResource.PERSISTENT_VOLUME_CLAIM, either, _is_claimed),
            EventRegistration(EventResource.PERSISTENT_VOLUME, either, _moved),
        )

    def _places(self, pod: PodInfo) -> Places | Status:
        labels: list[tuple[str, frozenset[str]]] = []
        for volume in pod.spec.volumes:
            if not isinstance(volume, ClaimVolume):
                continue
            found = self._volume_of(pod.namespace, volume.claim)
            if isinstance(found, Status):
                return found
            if found is not None:
                labels.extend(_places_of(found.labels).items())
        return Places(tuple(labels))

    def _volume_of(self, namespace: str, name: str) -> PersistentVolume | Status | None:
        """The volume of a claim; None if it will be bound when the pod is placed."""
        claim = self.handle.find(PersistentVolumeClaim, namespace, name)
        if claim is None:
            return claim_not_found(name)
        if not claim.volume_name:
            return self._unbound(claim)
        volume = self.handle.find(PersistentVolume, "", claim.volume_name)
        return unresolvable(f'persistentvolume "{claim.volume_name}" not found') if volume is None else volume

    def _unbound(self, claim: PersistentVolumeClaim) -> Status | None:
        name = claim.storage_class
        if not name:
            return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
        storage_class = self.handle.find(StorageClass, "", name)
        if storage_class is None:
            return unresolvable(f'storageclass.storage.k8s.io "{name}" not found')
        if not storage_class.binding_mode:
            return unresolvable(f'VolumeBindingMode not set for StorageClass "{name}"')
        return None if storage_class.binds_late else unresolvable("PersistentVolume had no name")


def _inside(rows: NodeRows, key: str, values: frozenset[str]) -> BoolArray:
    allowed = tuple(sorted(values))
    inside = rows.meets(Requirement(key, Operator.IN, allowed))
    if key == _TODAY[key]:
        return inside
    other_name = rows.meets(Requirement(_TODAY[key], Operator.IN, allowed))
    return inside | (rows.meets(Requirement(key, Operator.DOES_NOT_EXIST)) & other_name)


def _places_of(labels: Labels) -> dict[str, frozenset[str]]:
    """The zones and regions that labels name. A value that cannot be understood is passed over."""
    places = {}
    for key in _TODAY:
        values = frozenset(value.strip() for value in labels.get(key, "").split(_SEPARATOR))
        if "" not in values:
            places[key] = values
    return places


def _binds_late(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    return isinstance(new, StorageClass) and new.binds_late


def _is_claimed(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    return isinstance(new, PersistentVolumeClaim) and uses_claim(pod, new, ephemeral=False)


def _moved(pod: PodInfo, old: object, new: object) -> bool:  # noqa: ARG001  a queueing hint
    if not isinstance(old, PersistentVolume) or not isinstance(new, PersistentVolume):
        return True
    return _places_of(old.labels) != _places_of(new.labels)
