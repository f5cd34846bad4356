"""Which volume each row would take for a claim: the one that is meant for the claim, else the smallest that is large enough.

The rules are those of component-helpers' FindMatchingVolume (1.36). Volumes are looked at once each, not once per node: those
whose node affinity allows one value of one label, as local and zonal volumes do, are found by the rows' label.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler.api import PersistentVolume, PersistentVolumeClaim
from scheduler.framework import BoolArray, IntArray, NodeRows
from scheduler.matching import NodeSelector, Operator, Requirement

NONE = -1
_BEYOND = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Choice:
    """For a claim: `volumes` of its class, smallest first, and by row the position of the chosen one, or NONE."""

    claim: PersistentVolumeClaim
    volumes: Sequence[PersistentVolume]
    chosen: IntArray


def smallest_first(volumes: Iterable[PersistentVolume]) -> list[PersistentVolume]:
    """By capacity; kube-scheduler leaves the order among equals to chance."""
    return sorted(volumes, key=lambda volume: (volume.capacity, volume.name))


def choose(
    claim: PersistentVolumeClaim, volumes: Sequence[PersistentVolume], rows: NodeRows, earlier: Sequence[Choice]
) -> Choice:
    """A volume on each row, other than those that earlier claims of the pod have chosen there."""
    taken = [choice.chosen for choice in earlier if choice.volumes is volumes]
    fitting = [rank for rank, volume in enumerate(volumes) if _suits(claim, volume)]
    meant = next((rank for rank in fitting if _is_meant_for(volumes[rank], claim)), None)
    if meant is not None:
        # Where a volume that is meant for the claim cannot be used, no other will do.
        allowed = usable(volumes[meant].node_affinity, rows) & ~_among(taken, np.full(len(rows), meant, np.int64))
        return Choice(claim, volumes, np.where(allowed, meant, NONE))
    best = np.full(len(rows), _BEYOND, np.int64)
    available = [rank for rank in fitting if _is_available(claim, volumes[rank])]
    for candidates in _candidates(volumes, available, rows, len(taken) + 1):
        better = (candidates < best) & ~_among(taken, candidates)
        best = np.where(better, candidates, best)
    return Choice(claim, volumes, np.where(best == _BEYOND, NONE, best))


def usable(affinity: NodeSelector | None, rows: NodeRows) -> BoolArray:
    """Where a volume with this node affinity can be used."""
    return np.ones(len(rows), np.bool_) if affinity is None else rows.matching(affinity)


def single_value(requirements: Sequence[Requirement]) -> Requirement | None:
    """The requirement, if it is the only one and asks for values of one label."""
    alone = len(requirements) == 1 and requirements[0].operator is Operator.IN
    return requirements[0] if alone else None


def _suits(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    if volume.claim is not None and not volume.claim.means(claim):
        return False
    return (
        volume.capacity >= (claim.requested or 0)
        and volume.volume_mode == claim.volume_mode
        and volume.attributes_class == claim.attributes_class
        and not volume.terminating
    )


def _is_meant_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    return volume.claim is not None and volume.claim.means(claim)


def _is_available(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    if volume.phase != "Available" or not claim.access_modes <= volume.access_modes:
        return False
    return claim.selector is None or claim.selector.matches(volume.labels)


def _among(taken: Sequence[IntArray], ranks: IntArray) -> BoolArray:
    among = np.zeros(len(ranks), np.bool_)
    for chosen in taken:
        among |= chosen == ranks
    return among


def _candidates(
    volumes: Sequence[PersistentVolume], ranks: Sequence[int], rows: NodeRows, depth: int
) -> Iterable[IntArray]:
    """By row the rank of a volume that can be used there, or _BEYOND; together they hold each row's `depth` best ones."""
    by_label: dict[str, dict[str, list[int]]] = {}
    by_affinity: dict[NodeSelector | None, list[int]] = {}
    for rank in ranks:
        affinity = volumes[rank].node_affinity
        label = _label_of(affinity)
        found = (
            by_affinity.setdefault(affinity, [])
            if label is None
            else by_label.setdefault(label.key, {}).setdefault(label.values[0], [])
        )
        if len(found) < depth:
            found.append(rank)
    for affinity, best in by_affinity.items():
        where = usable(affinity, rows)
        yield from (np.where(where, rank, _BEYOND) for rank in best)
    for key, best_of in by_label.items():
        ids, values = rows.labels(key)
        for place in range(depth):
            ranked = (best_of.get(value, ()) if value is not None else () for value in values)
            at = (found[place] if place < len(found) else _BEYOND for found in ranked)
            yield np.fromiter(at, np.int64, len(values))[ids]


def _label_of(affinity: NodeSelector | None) -> Requirement | None:
    """The label that a volume's node must have, where it asks for one value of one label and for nothing else."""
    if affinity is None or len(affinity.terms) != 1 or affinity.terms[0].fields:
        return None
    label = single_value(affinity.terms[0].expressions)
    return label if label is not None and len(label.values) == 1 else None
