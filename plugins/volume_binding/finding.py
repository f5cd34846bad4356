"""The volumes of a pod on each row: whether those it has can be used there, and whence those it lacks would come."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from plugins.csi_migration import Migration, migrated_affinity, migration_of
from plugins.volume_binding.assumed import AssumedVolumes
from plugins.volume_binding.choosing import NONE, Choice, choose, usable
from plugins.volume_binding.provisioning import can_be_made, has_room
from plugins.volume_binding.sorting import PodClaims
from plugins.volume_binding.stock import Stock
from scheduler.api import CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass
from scheduler.framework import BoolArray, Handle, NodeRows, RowVerdicts, unresolvable

REASONS = (
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) did not have enough free storage",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
)
_STATUSES = tuple(
    unresolvable(*(reason for bit, reason in enumerate(REASONS) if code >> bit & 1))
    for code in range(1, 1 << len(REASONS))
)


@dataclass(slots=True)
class Found:
    """By row: what is wrong, one array a reason in the order of REASONS; and for each claim without a volume the volume chosen,
    or that it is to be provisioned.
    """

    wrong: tuple[BoolArray, ...]
    choices: list[Choice] = field(default_factory=list)
    provisions: list[tuple[PersistentVolumeClaim, BoolArray]] = field(default_factory=list)

    def verdicts(self) -> RowVerdicts:
        """All that is wrong is named; nothing of it can be helped by evicting pods."""
        codes = np.zeros(len(self.wrong[0]), np.int16)
        for bit, where in enumerate(self.wrong):
            codes |= where.astype(np.int16) << bit
        return RowVerdicts(codes, _STATUSES)


class Finder:
    """Looks for the volumes of pods."""

    def __init__(self, handle: Handle, assumed: AssumedVolumes) -> None:
        self._handle = handle
        self._assumed = assumed
        self._stock = Stock(handle)

    def find(self, claims: PodClaims, rows: NodeRows) -> Found:
        """What is found on each row. Raises LookupError if the class of a claim has gone."""
        found = Found(tuple(np.zeros(len(rows), np.bool_) for _ in REASONS))
        mismatch, nothing_to_bind, _, missing = found.wrong
        self._check_bound(claims.bound, rows, mismatch, missing)
        if not claims.late:
            return found
        selected = [claim for claim in claims.late if claim.selected_node is not None]
        here = np.ones(len(rows), np.bool_)
        for claim in selected:
            here &= rows.named(claim.selected_node or "")
        nothing_to_bind |= ~here
        self._choose(sorted((c for c in claims.late if c.selected_node is None), key=_size), rows, found)
        wanting = [(claim, here) for claim in selected]
        wanting += [(choice.claim, here & (choice.chosen == NONE)) for choice in found.choices]
        self._provision(wanting, rows, found)
        return found

    def volume_usable(self, volume: PersistentVolume, rows: NodeRows) -> BoolArray:
        """Where a bound volume can be used; where an in-tree plugin has been replaced by a CSI driver, by the driver's labels."""
        where = usable(volume.node_affinity, rows)
        migration = migration_of(volume.disk)
        if migration is None:
            return where
        return np.where(self._migrated(migration, rows), usable(migrated_affinity(volume, migration), rows), where)

    def _check_bound(
        self, claims: Sequence[PersistentVolumeClaim], rows: NodeRows, mismatch: BoolArray, missing: BoolArray
    ) -> None:
        """The first claim with something wrong decides."""
        right = np.ones(len(rows), np.bool_)
        for claim in claims:
            volume = self._handle.find(PersistentVolume, "", claim.volume_name)
            if volume is None:
                missing |= right
                return
            where = self.volume_usable(volume, rows)
            mismatch |= right & ~where
            right &= where

    def _choose(self, claims: Sequence[PersistentVolumeClaim], rows: NodeRows, found: Found) -> None:
        classes = dict.fromkeys(claim.storage_class for claim in claims)
        volumes = {name: self._assumed.volumes(self._stock.of_class(name, claims)) for name in classes}
        for claim in claims:
            found.choices.append(choose(claim, volumes[claim.storage_class], rows, found.choices))

    def _provision(
        self, wanting: Sequence[tuple[PersistentVolumeClaim, BoolArray]], rows: NodeRows, found: Found
    ) -> None:
        """The first claim for which nothing can be provisioned decides."""
        _, nothing_to_bind, no_room, _ = found.wrong
        right = np.ones(len(rows), np.bool_)
        for claim, where in wanting:
            if not where.any():
                continue
            storage_class = self._handle.find(StorageClass, "", claim.storage_class)
            if storage_class is None:
                raise LookupError(f'failed to find storage class "{claim.storage_class}"')
            made = can_be_made(storage_class, rows)
            nothing_to_bind |= right & where & ~made
            right &= made | ~where
            room = has_room(self._handle, claim, storage_class, rows)
            no_room |= right & where & ~room
            right &= room | ~where
            found.provisions.append((claim, where))

    def _migrated(self, migration: Migration, rows: NodeRows) -> BoolArray:
        """The nodes whose CSINode says that the driver has taken over."""
        names = {node.name for node in self._handle.all(CsiNode) if migration.plugin in node.migrated_plugins}
        return np.fromiter((name in names for name in rows.names()), np.bool_, len(rows))


def _size(claim: PersistentVolumeClaim) -> int:
    return claim.requested or 0
