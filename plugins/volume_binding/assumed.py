"""What pods on their way to a node are about to write: volumes they have taken, nodes they have selected for claims.

All profiles share it, for they draw on the same volumes. It is laid over what is known of the API, not kept in its stead: an
object that changes meanwhile stays taken.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from scheduler.api import ClaimReference, PersistentVolume, PersistentVolumeClaim

V = TypeVar("V")


@dataclass(slots=True)
class AssumedVolumes:
    """By UID of volume or claim: the pods that assume it, each with the claim or node it has in mind. Pods that share a claim
    assume the same.
    """

    _volumes: dict[str, dict[str, ClaimReference]] = field(default_factory=dict)
    _claims: dict[str, dict[str, str]] = field(default_factory=dict)

    def take(self, pod: str, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """A pod takes a volume for its claim."""
        self._volumes.setdefault(volume.uid, {})[pod] = ClaimReference(claim.namespace, claim.name, claim.uid)

    def select(self, pod: str, claim: PersistentVolumeClaim, node_name: str) -> None:
        """A pod selects where the volume of its claim is to be provisioned."""
        self._claims.setdefault(claim.uid, {})[pod] = node_name

    def forget(self, pod: str) -> None:
        """Nothing is assumed for a pod any more: it has failed, or the API shows what it has written."""
        _forget(self._volumes, pod)
        _forget(self._claims, pod)

    def volume(self, volume: PersistentVolume) -> PersistentVolume:
        """A volume as it will be."""
        taken = self._volumes.get(volume.uid)
        return volume if taken is None else msgspec.structs.replace(volume, claim=next(iter(taken.values())))

    def volumes(self, volumes: Iterable[PersistentVolume]) -> list[PersistentVolume]:
        """Volumes as they will be."""
        return [self.volume(volume) for volume in volumes] if self._volumes else list(volumes)

    def claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """A claim as it will be."""
        selected = self._claims.get(claim.uid)
        return (
            claim if selected is None else msgspec.structs.replace(claim, selected_node=next(iter(selected.values())))
        )


def _forget(assumed: dict[str, dict[str, V]], pod: str) -> None:
    for uid in [uid for uid, by_pod in assumed.items() if pod in by_pod]:
        del assumed[uid][pod]
        if not assumed[uid]:
            del assumed[uid]
