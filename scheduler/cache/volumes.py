"""The volumes of the pods on each node row: how often each claim is used, and which in-tree disks."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np

from scheduler.api import Disk, DiskType
from scheduler.framework import BoolArray, IntArray, PodInfo

ClaimKey = tuple[str, str]
K = TypeVar("K")

_NONE: Mapping[ClaimKey, int] = {}
_NO_DISKS: Mapping[Disk, int] = {}


class VolumeIndex:
    """Counts of uses, kept as pods come and go, for those pods that have volumes."""

    def __init__(self) -> None:
        self._rows_of: dict[ClaimKey, Counter[int]] = {}
        self._claims: dict[int, Counter[ClaimKey]] = {}
        self._disks: dict[int, Counter[Disk]] = {}
        self._rows_with: dict[tuple[DiskType, str], Counter[int]] = {}

    def add(self, row: int, pod: PodInfo) -> None:
        """A pod came to the row."""
        if pod.spec.volumes:
            self._count(row, pod, 1)

    def remove(self, row: int, pod: PodInfo) -> None:
        """A pod left the row."""
        if pod.spec.volumes:
            self._count(row, pod, -1)

    def at(self, rows: IntArray) -> "VolumeIndex":
        """A copy for some of the rows, renumbered in this order."""
        copy = VolumeIndex()
        if not self._claims and not self._disks:
            return copy
        for number, row in enumerate(rows.tolist()):
            if (claims := self._claims.get(row)) is not None:
                copy._claims[number] = Counter(claims)
                for claim, uses in claims.items():
                    copy._rows_of.setdefault(claim, Counter())[number] = uses
            if (disks := self._disks.get(row)) is not None:
                copy._disks[number] = Counter(disks)
                for disk, uses in disks.items():
                    copy._rows_with.setdefault((disk.type, disk.identity), Counter())[number] += uses
        return copy

    def users(self, claim: ClaimKey) -> Mapping[int, int]:
        """By row, how often pods there use a claim; rows without a user are left out."""
        return self._rows_of.get(claim, {})

    def claims_on(self, row: int) -> Mapping[ClaimKey, int]:
        """The claims that pods on a row use, and how often."""
        return self._claims.get(row, _NONE)

    def disks_on(self, row: int) -> Mapping[Disk, int]:
        """The in-tree disks that pods on a row use, and how often."""
        return self._disks.get(row, _NO_DISKS)

    def conflicts(self, disks: Iterable[Disk], capacity: int) -> BoolArray:
        """The rows on which a disk is in use that cannot be used together with one of these."""
        taken = np.zeros(capacity, np.bool_)
        for disk in disks:
            for row in self._rows_with.get((disk.type, disk.identity), ()):
                if any(disk.conflicts(other) for other in self._disks[row]):
                    taken[row] = True
        return taken

    def _count(self, row: int, pod: PodInfo, sign: int) -> None:
        for name, _ in pod.claims():
            claim = (pod.namespace, name)
            _tally(self._rows_of, claim, row, sign)
            _tally(self._claims, row, claim, sign)
        for volume in pod.spec.volumes:
            if isinstance(volume, Disk):
                _tally(self._disks, row, volume, sign)
                _tally(self._rows_with, (volume.type, volume.identity), row, sign)


V = TypeVar("V")


def _tally(counts: dict[K, Counter[V]], key: K, value: V, sign: int) -> None:
    """Count; what has come down to nothing is forgotten."""
    tally = counts.setdefault(key, Counter())
    tally[value] += sign
    if not tally[value]:
        del tally[value]
    if not tally:
        del counts[key]
