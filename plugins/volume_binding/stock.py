"""The volumes of each class that a claim may still get: the free ones, and those that are meant for it. Remembered from attempt
to attempt, for most volumes of a large cluster are in use.
"""

from collections.abc import Iterable, Sequence

from plugins.volume_binding.choosing import smallest_first
from scheduler.api import PersistentVolume, PersistentVolumeClaim
from scheduler.framework import Handle

Claimant = tuple[str, str]


class Stock:
    """Volumes as the API shows them, by class."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._seen = 0
        self._place: dict[str, tuple[str, Claimant | None]] = {}
        self._free: dict[str, dict[str, PersistentVolume]] = {}
        self._meant: dict[tuple[str, Claimant], dict[str, PersistentVolume]] = {}
        self._sorted: dict[str, list[PersistentVolume]] = {}

    def of_class(self, name: str, claims: Iterable[PersistentVolumeClaim]) -> Sequence[PersistentVolume]:
        """What these claims may get, smallest first; which of them may get what is not looked at."""
        self._refresh()
        free = self._sorted.get(name)
        if free is None:
            free = self._sorted[name] = smallest_first(self._free.get(name, {}).values())
        meant = [
            volume for claim in claims for volume in self._meant.get((name, (claim.namespace, claim.name)), {}).values()
        ]
        return smallest_first([*free, *meant]) if meant else free

    def _refresh(self) -> None:
        self._seen, changed = self._handle.changed(PersistentVolume, self._seen)
        if changed is None:
            for remembered in (self._place, self._free, self._meant, self._sorted):
                remembered.clear()
            for volume in self._handle.all(PersistentVolume):
                self._put(volume)
            return
        for _, name in changed:
            self._drop(name)
            present = self._handle.find(PersistentVolume, "", name)
            if present is not None:
                self._put(present)

    def _put(self, volume: PersistentVolume) -> None:
        name, claim = volume.storage_class, volume.claim
        claimant = None if claim is None else (claim.namespace, claim.name)
        self._place[volume.name] = (name, claimant)
        if claimant is None:
            self._free.setdefault(name, {})[volume.name] = volume
            self._sorted.pop(name, None)
        else:
            self._meant.setdefault((name, claimant), {})[volume.name] = volume

    def _drop(self, volume: str) -> None:
        name, claimant = self._place.pop(volume, ("", None))
        if claimant is None:
            if self._free.get(name, {}).pop(volume, None) is not None:
                self._sorted.pop(name, None)
            return
        meant = self._meant[name, claimant]
        del meant[volume]
        if not meant:
            del self._meant[name, claimant]
