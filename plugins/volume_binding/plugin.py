"""The plugin at its extension points (kube-scheduler 1.36). Not here: what fits where (finding), what is written (writing)."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from msgspec import UNSET, UnsetType

from plugins.volume_binding import hints
from plugins.volume_binding.assumed import AssumedVolumes
from plugins.volume_binding.choosing import NONE
from plugins.volume_binding.finding import Finder
from plugins.volume_binding.sorting import PodClaims, sort_claims
from plugins.volume_binding.writing import Plan, Writer
from scheduler.api import (
    ApiObject,
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from scheduler.framework import (
    SKIP,
    SUCCESS,
    ClaimVolume,
    CycleState,
    EphemeralVolume,
    EventRegistration,
    Handle,
    IntArray,
    NodeRows,
    PluginArgs,
    PodInfo,
    PodTemplate,
    PreBind,
    PreFilter,
    PreFilterResult,
    PreScore,
    Reserve,
    RowFilter,
    RowScore,
    RowVerdicts,
    Status,
    error,
)


class VolumeBindingArgs(PluginArgs, frozen=True):
    """How long (seconds) to wait for the volumes of a pod that has its node. `shape` is of a feature that 1.36 has turned off."""

    bind_timeout_seconds: int = 600
    shape: list[dict[str, int]] | UnsetType | None = UNSET

    def problems(self) -> Iterable[str]:
        """A negative time, and a shape."""
        if self.bind_timeout_seconds < 0:
            yield f"bindTimeoutSeconds: found {self.bind_timeout_seconds}, allowed: 0 and more"
        if self.shape not in (UNSET, None):
            yield "shape: found a value, allowed: none, for StorageCapacityScoring is turned off"


class VolumeBinding(PreFilter, RowFilter, PreScore, RowScore, Reserve, PreBind):
    """Refuses nodes on which a volume of the pod cannot be used, or none can be found or made for a claim that waits for the pod.
    Evicting pods would not help.
    """

    name: ClassVar[str] = "VolumeBinding"
    Args: ClassVar[type[PluginArgs]] = VolumeBindingArgs
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset(
        {PersistentVolume, PersistentVolumeClaim, StorageClass, CsiNode, CsiDriver, CsiStorageCapacity}
    )

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._assumed = handle.shared(AssumedVolumes)
        self._finder = Finder(handle, self._assumed)
        self._writer = Writer(handle, self._finder, args.bind_timeout_seconds)

    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        """Skips pods without claims; refuses those with a claim that must get its volume first."""
        if self.indifferent(pod.template):
            return PreFilterResult(SKIP)
        claims = sort_claims(self.handle, self._assumed, pod)
        if isinstance(claims, Status):
            return PreFilterResult(claims)
        state.put(claims)
        return PreFilterResult()

    def indifferent(self, template: PodTemplate) -> bool:
        """Pods without claims."""
        return not any(isinstance(volume, ClaimVolume | EphemeralVolume) for volume in template.spec.volumes)

    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:
        """All that is wrong with a node."""
        claims = state.get(PodClaims) or sort_claims(self.handle, self._assumed, pod)
        if isinstance(claims, Status):
            return RowVerdicts.failing(np.ones(len(rows), np.bool_), claims)
        return self._finder.find(claims, rows).verdicts()

    def events_to_register(self) -> Sequence[EventRegistration]:
        """Whatever may bring or show a volume."""
        return hints.REGISTRATIONS

    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Takes the volumes that the node's row chooses now, and selects the node for claims to be provisioned."""
        claims = state.get(PodClaims)
        if claims is None or not claims.late:
            return SUCCESS
        found = self._finder.find(claims, self.handle.row(node_name))
        if found.verdicts().codes.tolist() != [0]:
            return error("the volumes that were found for the pod are gone")
        chosen = [(choice.claim, choice.volumes, int(choice.chosen[0])) for choice in found.choices]
        plan = Plan(
            bindings=[(volumes[rank], claim) for claim, volumes, rank in chosen if rank != NONE],
            provisions=[claim for claim, where in found.provisions if where[0]],
        )
        for volume, claim in plan.bindings:
            self._assumed.take(pod.uid, volume, claim)
        for claim in plan.provisions:
            self._assumed.select(pod.uid, claim, node_name)
        state.put(plan)
        return SUCCESS

    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:  # noqa: ARG002
        """What was written already stays: the API shows it as the claim's, and the next attempt finds it so."""
        self._assumed.forget(pod.uid)

    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:  # noqa: ARG002
        """Skips: scoring by storage capacity is turned off in 1.36. A profile may name the plugin here all the same."""
        return SKIP

    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:  # noqa: ARG002
        """All alike."""
        return np.zeros(len(rows), np.int64)

    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Writes what was reserved, and waits until claims and volumes are bound."""
        plan = state.get(Plan)
        if plan is None:
            return SUCCESS
        status = await self._writer.carry_out(plan, pod, node_name)
        if status.ok:
            self._assumed.forget(pod.uid)
        return status
