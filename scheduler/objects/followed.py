"""Where the API server has each kind that can be followed beside pods and nodes, and how it is decoded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import msgspec

from scheduler.api import ApiObject, Kind
from scheduler.objects.budgets import budgets
from scheduler.objects.namespaces import namespaces
from scheduler.objects.owners import replica_sets, replication_controllers, services, stateful_sets
from scheduler.objects.storage import (
    csi_drivers,
    csi_nodes,
    csi_storage_capacities,
    persistent_volume_claims,
    persistent_volumes,
    storage_classes,
    volume_attachments,
)
from scheduler.objects.stream import WatchEvent


class AnyDecoder(Protocol):
    """Decodes one kind's JSON."""

    def decode(self, body: bytes | msgspec.Raw) -> ApiObject:
        """One object."""

    def decode_list(self, page: bytes) -> tuple[list[ApiObject], str, str]:
        """A page of a list."""

    def decode_event(self, line: bytes) -> WatchEvent[ApiObject]:
        """A line of a watch."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A kind's API group (empty for the core), version, and plural; `decoder` makes a decoder for it."""

    group: str
    version: str
    plural: str
    decoder: Callable[[], AnyDecoder]

    @property
    def path(self) -> str:
        """Where all objects of the kind, in all namespaces, are listed."""
        return f"{self._root}/{self.plural}"

    def at(self, namespace: str, name: str) -> str:
        """Where one object is; no namespace for cluster-scoped kinds."""
        return f"{self._root}{f'/namespaces/{namespace}' if namespace else ''}/{self.plural}/{name}"

    @property
    def _root(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"


_STORAGE = "storage.k8s.io"

FOLLOWED: Mapping[Kind, Followed] = {
    Kind.NAMESPACE: Followed("", "v1", "namespaces", namespaces),
    Kind.POD_DISRUPTION_BUDGET: Followed("policy", "v1", "poddisruptionbudgets", budgets),
    Kind.PERSISTENT_VOLUME: Followed("", "v1", "persistentvolumes", persistent_volumes),
    Kind.PERSISTENT_VOLUME_CLAIM: Followed("", "v1", "persistentvolumeclaims", persistent_volume_claims),
    Kind.STORAGE_CLASS: Followed(_STORAGE, "v1", "storageclasses", storage_classes),
    Kind.CSI_NODE: Followed(_STORAGE, "v1", "csinodes", csi_nodes),
    Kind.CSI_DRIVER: Followed(_STORAGE, "v1", "csidrivers", csi_drivers),
    Kind.CSI_STORAGE_CAPACITY: Followed(_STORAGE, "v1", "csistoragecapacities", csi_storage_capacities),
    Kind.VOLUME_ATTACHMENT: Followed(_STORAGE, "v1", "volumeattachments", volume_attachments),
    Kind.SERVICE: Followed("", "v1", "services", services),
    Kind.REPLICATION_CONTROLLER: Followed("", "v1", "replicationcontrollers", replication_controllers),
    Kind.REPLICA_SET: Followed("apps", "v1", "replicasets", replica_sets),
    Kind.STATEFUL_SET: Followed("apps", "v1", "statefulsets", stateful_sets),
}
