"""The claims of a pod: bound already, or waiting for the pod to be placed. Anything else keeps the pod waiting."""

from collections.abc import Callable
from dataclasses import dataclass

from plugins.claims import claim_not_found, not_its_owner
from plugins.volume_binding.assumed import AssumedVolumes
from scheduler.api import PersistentVolumeClaim, StorageClass
from scheduler.framework import Handle, PodInfo, Status, error, unresolvable

REASON_UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(frozen=True, slots=True)
class PodClaims:
    """In the order of the pod's volumes; a claim that is used twice is listed once, for it needs one volume."""

    bound: tuple[PersistentVolumeClaim, ...]
    late: tuple[PersistentVolumeClaim, ...]


def sort_claims(handle: Handle, assumed: AssumedVolumes, pod: PodInfo) -> PodClaims | Status:
    """The pod's claims, or why it must wait for one of them."""
    claims = []
    for name, made_for_it in dict.fromkeys(pod.claims()):
        found = handle.find(PersistentVolumeClaim, pod.namespace, name)
        problem = _problem(pod, name, found, made_for_it=made_for_it)
        if problem is not None:
            return problem
        if found is not None:
            claims.append(assumed.claim(found))
    bound: list[PersistentVolumeClaim] = []
    late: list[PersistentVolumeClaim] = []
    immediate = False
    for claim in claims:
        if claim.bound:
            bound.append(claim)
            continue
        binds_late = _binds_late(claim, lambda name: handle.find(StorageClass, "", name))
        if isinstance(binds_late, Status):
            return binds_late
        # A claim that names its volume is not for the scheduler to bind.
        if binds_late and not claim.volume_name:
            late.append(claim)
        else:
            immediate = True
    return unresolvable(REASON_UNBOUND) if immediate else PodClaims(tuple(bound), tuple(late))


def _problem(pod: PodInfo, name: str, claim: PersistentVolumeClaim | None, *, made_for_it: bool) -> Status | None:
    if claim is None:
        if made_for_it:
            waiting = "waiting for ephemeral volume controller to create the persistentvolumeclaim"
            return unresolvable(f'{waiting} "{name}"')
        return claim_not_found(name)
    if claim.phase == "Lost":
        return unresolvable(
            f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.volume_name}"'
        )
    if claim.terminating:
        return unresolvable(f'persistentvolumeclaim "{name}" is being deleted')
    other = not_its_owner(pod, claim) if made_for_it else None
    return None if other is None else unresolvable(other)


def _binds_late(claim: PersistentVolumeClaim, find: Callable[[str], StorageClass | None]) -> bool | Status:
    storage_class = find(claim.storage_class) if claim.storage_class else None
    if storage_class is None:
        return False
    if not storage_class.binding_mode:
        return error(f'VolumeBindingMode not set for StorageClass "{claim.storage_class}"')
    return storage_class.binds_late
