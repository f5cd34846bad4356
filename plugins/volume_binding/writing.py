"""Binding the volumes of a pod that has its node: which writes start it, and when it is done, or has failed."""

from collections.abc import Sequence
from dataclasses import dataclass

from plugins.volume_binding.finding import Finder
from scheduler.api import ClaimReference, PersistentVolume, PersistentVolumeClaim
from scheduler.framework import SUCCESS, Handle, ObjectName, PodInfo, Progress, Status, error


@dataclass(frozen=True, slots=True)
class Plan:
    """Volumes to bind, each with the claim that it is for, and claims whose volumes are to be provisioned."""

    bindings: Sequence[tuple[PersistentVolume, PersistentVolumeClaim]]
    provisions: Sequence[PersistentVolumeClaim]


class Writer:
    """Starts bindings, and waits for the volume controller and the provisioners, at most `timeout` seconds."""

    def __init__(self, handle: Handle, finder: Finder, timeout: float) -> None:
        self._handle = handle
        self._finder = finder
        self._timeout = timeout

    async def carry_out(self, plan: Plan, pod: PodInfo, node_name: str) -> Status:
        """Success once every claim is bound. The first write that fails ends it; those before are not undone."""
        for volume, claim in plan.bindings:
            status = await self._bind(volume, claim)
            if not status.ok:
                return status
        for claim in plan.provisions:
            status = await self._select(claim, node_name)
            if not status.ok:
                return status
        outcome = await self._handle.until(pod, node_name, lambda: self._check(plan, pod, node_name), self._timeout)
        if outcome is None:
            return error("binding volumes: context deadline exceeded")
        return outcome if outcome.ok else error(*(f"binding volumes: {reason}" for reason in outcome.reasons))

    async def _bind(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> Status:
        """Nothing is written where the API shows it already, by an earlier attempt or for another pod with the claim."""
        now = self._handle.find(PersistentVolume, "", volume.name)
        if now is None or now.uid != volume.uid:
            return error(f'persistentvolume "{volume.name}" not found')
        if now.claim == ClaimReference(claim.namespace, claim.name, claim.uid):
            return SUCCESS
        return await self._handle.bind_volume(now, claim)

    async def _select(self, claim: PersistentVolumeClaim, node_name: str) -> Status:
        present = self._same(claim)
        if isinstance(present, Status):
            return present
        return SUCCESS if present.selected_node == node_name else await self._handle.select_node(present, node_name)

    def _check(self, plan: Plan, pod: PodInfo, node_name: str) -> Progress:
        """By what the API shows: done, failed, or the objects to wait for (checkBindings of kube-scheduler)."""
        node = self._handle.node(node_name)
        if node is None:
            return error(f'failed to get node "{node_name}": node "{node_name}" not found')
        if pod.uid not in node.pods:
            return error("pod does not exist any more")
        waiting: list[ObjectName] = []
        for volume, claim in plan.bindings:
            problem = self._check_binding(volume, claim, node_name, waiting)
            if problem is not None:
                return problem
        for claim in plan.provisions:
            problem = self._check_provision(claim, node_name, waiting)
            if problem is not None:
                return problem
        return waiting or SUCCESS

    def _check_binding(
        self, volume: PersistentVolume, claim: PersistentVolumeClaim, node_name: str, waiting: list[ObjectName]
    ) -> Status | None:
        now = self._handle.find(PersistentVolume, "", volume.name)
        if now is None:
            return error(f'failed to check binding: persistentvolume "{volume.name}" not found')
        present = self._same(claim)
        if isinstance(present, Status):
            return present
        if now.claim is None or not now.claim.uid:
            return error(f'ClaimRef got reset for pv "{volume.name}"')
        misplaced = self._misplaced(now, node_name)
        if misplaced is not None:
            return misplaced
        if not present.bound:
            waiting += [_name(now), _name(present)]
        return None

    def _check_provision(
        self, claim: PersistentVolumeClaim, node_name: str, waiting: list[ObjectName]
    ) -> Status | None:
        present = self._same(claim)
        if isinstance(present, Status):
            return present
        if present.selected_node != node_name:
            # That is how a provisioner says that it has failed.
            return error(f'provisioning failed for PVC "{claim.name}"')
        volume = self._handle.find(PersistentVolume, "", present.volume_name) if present.volume_name else None
        misplaced = self._misplaced(volume, node_name) if volume is not None else None
        if misplaced is not None:
            return misplaced
        if not present.bound or volume is None:
            waiting += [_name(present), (PersistentVolume, "", present.volume_name)]
        return None

    def _same(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim | Status:
        present = self._handle.find(PersistentVolumeClaim, claim.namespace, claim.name)
        if present is None or present.uid != claim.uid:
            return error(f'failed to check binding: persistentvolumeclaim "{claim.name}" not found')
        return present

    def _misplaced(self, volume: PersistentVolume, node_name: str) -> Status | None:
        """A volume that turns out to be elsewhere, or a node whose labels have changed."""
        if self._finder.volume_usable(volume, self._handle.row(node_name)).all():
            return None
        where = f'pv "{volume.name}" node affinity doesn\'t match node "{node_name}"'
        return error(f"{where}: no matching NodeSelectorTerms")


def _name(obj: PersistentVolume | PersistentVolumeClaim) -> ObjectName:
    return type(obj), obj.namespace, obj.name
