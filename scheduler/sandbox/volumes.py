"""A stand-in for kube-controller-manager's volume controller and for provisioners: it completes what a scheduler has begun.

A volume whose claimRef names a waiting claim is bound to it; a claim with a selected node gets a new volume for that node. Not
here: binding of what no scheduler has chosen, deletion, reclaiming.
"""

from collections.abc import Callable
from dataclasses import dataclass

from scheduler.sandbox.clock import Clock
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import ApiError
from scheduler.sandbox.fields import JsonObject, name_of, namespace_of, object_at, text_at

_MERGE = "application/merge-patch+json"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


@dataclass(frozen=True, slots=True)
class VolumePace:
    """Seconds until a volume is bound, and until one is provisioned."""

    bind: float = 0.1
    provision: float = 0.5


class VolumeController:
    """Binds and provisions. A claim in `failing` (by name) is not provisioned: its selected node is taken back."""

    def __init__(self, cluster: Cluster, clock: Clock, pace: VolumePace) -> None:
        self.failing: set[str] = set()
        self.pace = pace
        self._cluster = cluster
        self._clock = clock
        self._follow("persistentvolumes", self._see_volume)
        self._follow("persistentvolumeclaims", self._see_claim)

    def _follow(self, resource: str, see: Callable[[JsonObject], None]) -> None:
        def look() -> None:
            for event in watch.drain():
                if isinstance(event.object, dict) and event.type != "DELETED":
                    see(event.object)

        revision = max(1, self._cluster.revision)
        watch = self._cluster.watch(resource, revision, wake=lambda: self._clock.after(0.0, look))

    def _see_volume(self, volume: JsonObject) -> None:
        reference = object_at(object_at(volume, "spec"), "claimRef")
        if text_at(reference, "uid") and text_at(volume, "status", "phase") != "Bound":
            self._clock.after(self.pace.bind, lambda: self._bind(name_of(volume)))

    def _see_claim(self, claim: JsonObject) -> None:
        if not _selected_node(claim) or text_at(claim, "spec", "volumeName"):
            return
        act = self._give_up if name_of(claim) in self.failing else self._provision
        self._clock.after(self.pace.provision, lambda: act(namespace_of(claim), name_of(claim)))

    def _bind(self, name: str) -> None:
        volume = self._find("persistentvolumes", None, name)
        reference = object_at(object_at(volume or {}, "spec"), "claimRef")
        claim = self._find("persistentvolumeclaims", text_at(reference, "namespace"), text_at(reference, "name"))
        if claim is None or text_at(claim, "metadata", "uid") != text_at(reference, "uid"):
            return
        self._status("persistentvolumes", None, name, "Bound")
        if text_at(claim, "spec", "volumeName"):
            return
        annotations: JsonObject = {"pv.kubernetes.io/bind-completed": "yes", _BOUND_BY_CONTROLLER: "yes"}
        patch: JsonObject = {"metadata": {"annotations": annotations}, "spec": {"volumeName": name}}
        namespace = namespace_of(claim)
        self._cluster.patch("persistentvolumeclaims", namespace, name_of(claim), patch, _MERGE)
        self._status("persistentvolumeclaims", namespace, name_of(claim), "Bound")

    def _provision(self, namespace: str, name: str) -> None:
        claim = self._find("persistentvolumeclaims", namespace, name)
        if claim is None or text_at(claim, "spec", "volumeName"):
            return
        if self._find("nodes", None, _selected_node(claim)) is None:
            return
        spec = object_at(claim, "spec")
        term: JsonObject = {
            "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [_selected_node(claim)]}]
        }
        uid = text_at(claim, "metadata", "uid")
        volume: JsonObject = {
            "metadata": {"name": f"pvc-{uid}"},
            "spec": {
                "capacity": object_at(object_at(spec, "resources"), "requests"),
                "accessModes": spec.get("accessModes") or ["ReadWriteOnce"],
                "storageClassName": text_at(spec, "storageClassName"),
                "claimRef": {"namespace": namespace, "name": name, "uid": uid},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            },
            "status": {"phase": "Pending"},
        }
        if self._find("persistentvolumes", None, f"pvc-{uid}") is None:
            self._cluster.create("persistentvolumes", volume)

    def _give_up(self, namespace: str, name: str) -> None:
        """A provisioner that has failed asks for another node."""
        patch: JsonObject = {"metadata": {"annotations": {_SELECTED_NODE: None}}}
        self._cluster.patch("persistentvolumeclaims", namespace, name, patch, _MERGE)

    def _status(self, resource: str, namespace: str | None, name: str, phase: str) -> None:
        patch: JsonObject = {"status": {"phase": phase}}
        self._cluster.patch(resource, namespace, name, patch, _MERGE, subresource="status")

    def _find(self, resource: str, namespace: str | None, name: str) -> JsonObject | None:
        try:
            return self._cluster.get(resource, namespace, name)
        except ApiError:
            return None


def _selected_node(claim: JsonObject) -> str:
    return text_at(object_at(object_at(claim, "metadata"), "annotations"), _SELECTED_NODE)
