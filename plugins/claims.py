"""The claims of a pod, as the plugins for volumes speak of them."""

from scheduler.api import PersistentVolumeClaim
from scheduler.framework import PodInfo, Status, unresolvable


def claim_not_found(name: str) -> Status:
    """A claim that must be there is not; nothing but its creation helps."""
    return unresolvable(f'persistentvolumeclaim "{name}" not found')


def uses_claim(pod: PodInfo, claim: PersistentVolumeClaim, *, ephemeral: bool) -> bool:
    """Whether the pod names this claim; those of its ephemeral volumes count if `ephemeral`."""
    if pod.namespace != claim.namespace:
        return False
    return any(name == claim.name and (ephemeral or not made_for_it) for name, made_for_it in pod.claims())


def not_its_owner(pod: PodInfo, claim: PersistentVolumeClaim) -> str | None:
    """What is wrong with the claim of an ephemeral volume: it must have been made for this very pod."""
    if claim.namespace == pod.namespace and claim.controller == pod.uid:
        return None
    return f"PVC {claim.namespace}/{claim.name} was not created for pod {pod.key} (pod is not owner)"
