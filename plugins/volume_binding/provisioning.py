"""Where a volume can be made for a claim: a provisioner that knows how, allowed topologies, and room that the driver tells of."""

from collections.abc import Collection, Iterable

import numpy as np

from plugins.volume_binding.choosing import single_value, usable
from scheduler.api import CsiDriver, CsiStorageCapacity, PersistentVolumeClaim, StorageClass
from scheduler.framework import BoolArray, Handle, NodeRows
from scheduler.matching import NodeSelector, NodeSelectorTerm, Operator, Requirement

_NO_PROVISIONER = "kubernetes.io/no-provisioner"


def can_be_made(storage_class: StorageClass, rows: NodeRows) -> BoolArray:
    """Where the class provisions volumes at all."""
    if storage_class.provisioner in ("", _NO_PROVISIONER):
        return np.zeros(len(rows), np.bool_)
    return usable(storage_class.allowed_topologies, rows)


def has_room(handle: Handle, claim: PersistentVolumeClaim, storage_class: StorageClass, rows: NodeRows) -> BoolArray:
    """Where one pool is large enough for the claim; everywhere if the driver does not tell (KEP-1472)."""
    driver = handle.find(CsiDriver, "", storage_class.provisioner)
    if claim.requested is None or driver is None or not driver.storage_capacity:
        return np.ones(len(rows), np.bool_)
    pools = _large_enough(handle.all(CsiStorageCapacity), storage_class.name, claim.requested)
    return rows.matching(_reach(pools)) | _everywhere(pools, rows)


def _large_enough(pools: Iterable[CsiStorageCapacity], class_name: str, size: int) -> list[tuple[Requirement, ...]]:
    return [
        pool.topology.requirements
        for pool in pools
        if pool.topology is not None
        and pool.storage_class == class_name
        and pool.limit is not None
        and pool.limit >= size
    ]


def _everywhere(pools: Collection[tuple[Requirement, ...]], rows: NodeRows) -> BoolArray:
    """A pool whose selector is empty can be reached from every node."""
    return np.full(len(rows), any(not requirements for requirements in pools), np.bool_)


def _reach(pools: Iterable[tuple[Requirement, ...]]) -> NodeSelector:
    """The nodes with access to one of the pools; pools of one label each, often one for each node, are asked about at once."""
    values: dict[str, list[str]] = {}
    terms = []
    for requirements in pools:
        label = single_value(requirements)
        if label is not None:
            values.setdefault(label.key, []).extend(label.values)
        elif requirements:
            terms.append(NodeSelectorTerm(requirements))
    alone = (NodeSelectorTerm((Requirement(key, Operator.IN, tuple(some)),)) for key, some in values.items())
    return NodeSelector((*alone, *terms))
