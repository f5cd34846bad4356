"""What a plugin author reads: the values, the extension points in the order they are called, and the handle.

Names and rules are those of the Kubernetes Scheduling Framework (KEP-624), 1.36. A plugin is a class that derives from
the extension points it implements; the runtime calls it at these and at no others. Plugins import this module,
`scheduler.api` and `scheduler.matching`, never the engine, the cache or a driver.

Time, randomness and input or output are not a plugin's to use: `now` is given where it matters, and what must be
written or awaited goes through the handle.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum, IntFlag, StrEnum
from math import inf
from typing import ClassVar, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from scheduler.api import ApiObject, Disk, Kind, PersistentVolume, PersistentVolumeClaim
from scheduler.matching import (
    Labels,
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
    Taint,
    Toleration,
)

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
CodeArray = NDArray[np.int16]

MAX_NODE_SCORE = 100
CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"


class Resources(msgspec.Struct, frozen=True, gc=False):
    """An amount of each resource: milli-CPU for cpu, bytes or counts for the rest; absent means zero.

    `nonzero_cpu` and `nonzero_memory` are the sums in which each container without a request counts 100m and 200 MiB
    (kube-scheduler's NonZeroRequested); only scoring uses them.
    """

    amounts: Mapping[str, int]
    nonzero_cpu: int = 0
    nonzero_memory: int = 0


ANY_ADDRESS = "0.0.0.0"  # noqa: S104  the API's wildcard address, nothing is bound to it


class HostPort(msgspec.Struct, frozen=True, gc=False):
    """A port of the host that a pod wants. An unset IP is 0.0.0.0, an unset protocol TCP."""

    port: int
    protocol: str = "TCP"
    ip: str = ANY_ADDRESS

    def conflicts(self, other: "HostPort") -> bool:
        """Whether one node cannot give both: same protocol and port, and same IP or 0.0.0.0 on either side."""
        if self.port != other.port or self.protocol != other.protocol:
            return False
        return self.ip == other.ip or ANY_ADDRESS in (self.ip, other.ip)


class PreferredTerm(msgspec.Struct, frozen=True, gc=False):
    """A node-selector term with the weight (1 to 100) it adds to a matching node."""

    weight: int
    term: NodeSelectorTerm


class ClaimVolume(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="is_a"):
    """A volume of a pod that is a PersistentVolumeClaim of its namespace."""

    claim: str


class EphemeralVolume(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="is_a"):
    """A generic ephemeral volume of a pod: a claim that is made for it and named after both."""

    name: str


class CsiVolume(msgspec.Struct, frozen=True, gc=False, tag=True, tag_field="is_a"):
    """A volume of a pod that a CSI driver makes on its node."""

    driver: str


PodVolume = ClaimVolume | EphemeralVolume | CsiVolume | Disk
"""The volumes that scheduling looks at; secrets, tokens, empty directories and the like are left out."""


class PodAffinityTerm(msgspec.Struct, frozen=True, gc=False):
    """A pod's term about other pods in a topology domain (core/v1 PodAffinityTerm).

    It is about pods in `namespaces`, in those whose labels `namespace_selector` matches (None: in no more), and with
    `own_namespace` in the pod's own. A selector that is None matches no pod.
    """

    topology_key: str
    selector: LabelSelector | None
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    own_namespace: bool


class PreferredPodTerm(msgspec.Struct, frozen=True, gc=False):
    """A term with the weight (1 to 100) it adds, or for anti-affinity takes away."""

    weight: int
    term: PodAffinityTerm


class TermKind(Enum):
    """The four lists of terms that a pod may have about other pods."""

    REQUIRED_AFFINITY = "podAffinity.required"
    REQUIRED_ANTI_AFFINITY = "podAntiAffinity.required"
    PREFERRED_AFFINITY = "podAffinity.preferred"
    PREFERRED_ANTI_AFFINITY = "podAntiAffinity.preferred"


class SpreadConstraint(msgspec.Struct, frozen=True, gc=False):
    """A topology spread constraint (core/v1 TopologySpreadConstraint), hard (DoNotSchedule) or not (ScheduleAnyway)."""

    topology_key: str
    max_skew: int
    hard: bool
    selector: LabelSelector | None
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False
    match_label_keys: tuple[str, ...] = ()


class PodSpec(msgspec.Struct, frozen=True, weakref=True):
    """What scheduling reads of a pod's spec, compiled once and shared by all pods that say the same."""

    scheduler_name: str
    priority: int
    preemption_policy: str
    requests: Resources
    node_selector: tuple[Requirement, ...]
    required_node_affinity: NodeSelector | None
    preferred_node_affinity: tuple[PreferredTerm, ...]
    tolerations: tuple[Toleration, ...]
    host_ports: tuple[HostPort, ...]
    images: tuple[str, ...]
    container_count: int
    scheduling_gates: tuple[str, ...]
    volumes: tuple[PodVolume, ...] = ()
    required_features: frozenset[str] = frozenset()
    pod_affinity: tuple[PodAffinityTerm, ...] = ()
    pod_anti_affinity: tuple[PodAffinityTerm, ...] = ()
    preferred_pod_affinity: tuple[PreferredPodTerm, ...] = ()
    preferred_pod_anti_affinity: tuple[PreferredPodTerm, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()

    def pod_terms(self, kind: TermKind) -> Iterable[tuple[PodAffinityTerm, int]]:
        """The terms of a kind with their weights; required ones weigh 1."""
        match kind:
            case TermKind.REQUIRED_AFFINITY:
                return [(term, 1) for term in self.pod_affinity]
            case TermKind.REQUIRED_ANTI_AFFINITY:
                return [(term, 1) for term in self.pod_anti_affinity]
            case TermKind.PREFERRED_AFFINITY:
                return [(preferred.term, preferred.weight) for preferred in self.preferred_pod_affinity]
            case TermKind.PREFERRED_ANTI_AFFINITY:
                return [(preferred.term, preferred.weight) for preferred in self.preferred_pod_anti_affinity]


class Controller(msgspec.Struct, frozen=True, gc=False):
    """The ReplicationController, ReplicaSet or StatefulSet that made a pod."""

    kind: Kind
    name: str


class PodTemplate(msgspec.Struct, frozen=True, weakref=True, eq=False):
    """The scheduling-relevant part of a pod: pods with the same template are interchangeable. `signature` names it. A pod with
    ephemeral volumes has a template of its own, for their claims are.
    """

    signature: int
    namespace: str
    labels: Labels
    spec: PodSpec
    controller: Controller | None = None


class PodCondition(msgspec.Struct, frozen=True, gc=False):
    """A pod's PodScheduled condition."""

    status: str
    reason: str
    message: str


class PodInfo(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A pod as last seen. Immutable: a change is a new value.

    `usage` is what the pod takes on its node: the spec's requests, or more during an in-place resize (KEP-1287). `started` is
    status.startTime (seconds), 0 before. `preempted` says that a scheduler has chosen the pod to make room for another
    (condition DisruptionTarget, reason PreemptionByScheduler).
    `problem` says why the pod cannot be scheduled as it is written (an unparsable quantity); None for a sound pod.
    `manifest` is the whole object as JSON where an extender is to be shown it, else empty.
    """

    uid: str
    name: str
    template: PodTemplate
    usage: Resources
    node_name: str
    nominated_node: str
    phase: str
    phase_reason: str
    terminating: bool
    preempted: bool
    created: float
    started: float
    generation: int
    resource_version: str
    scheduled_condition: PodCondition | None
    problem: str | None
    manifest: bytes = b""

    @property
    def namespace(self) -> str:
        """metadata.namespace."""
        return self.template.namespace

    @property
    def labels(self) -> Labels:
        """metadata.labels."""
        return self.template.labels

    @property
    def spec(self) -> PodSpec:
        """The compiled spec."""
        return self.template.spec

    @property
    def key(self) -> str:
        """namespace/name, for people; never an identity (the UID is)."""
        return f"{self.template.namespace}/{self.name}"

    def claims(self) -> Iterator[tuple[str, bool]]:
        """The names of the claims that it uses, in the order of its volumes, and whether each is an ephemeral volume's."""
        for volume in self.template.spec.volumes:
            match volume:
                case ClaimVolume(claim=claim):
                    yield claim, False
                case EphemeralVolume(name=name):
                    yield f"{self.name}-{name}", True

    @property
    def running_since(self) -> float:
        """When its kubelet took it over (status.startTime, seconds); infinite while it has not."""
        return self.started or inf

    @property
    def terminal(self) -> bool:
        """Whether the pod has finished: it then uses nothing."""
        return self.phase in ("Succeeded", "Failed")


class Image(msgspec.Struct, frozen=True, gc=False):
    """A container image that a node holds, under all its names."""

    names: tuple[str, ...]
    size: int


class Node(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A node as last seen. `allocatable` is in the units of `Resources`. `manifest` is the whole object as JSON where an extender
    is to be shown it, else empty.
    """

    uid: str
    name: str
    labels: Labels
    annotations: Mapping[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    allocatable: Mapping[str, int]
    images: tuple[Image, ...]
    conditions: Mapping[str, str]
    resource_version: str
    manifest: bytes = b""
    declared_features: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class NodeInfo:
    """A node with the pods on it (bound by anyone, or assumed) and their sums. The cache owns it; plugins only read."""

    node: Node
    pods: dict[str, PodInfo] = field(default_factory=dict)
    requested: dict[str, int] = field(default_factory=dict)
    nonzero_cpu: int = 0
    nonzero_memory: int = 0

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.name

    def free(self, resource: str) -> int:
        """Allocatable minus requested; negative when the node is over-committed."""
        return self.node.allocatable.get(resource, 0) - self.requested.get(resource, 0)


class PodCount(ABC):
    """What to count of the pods on each node, assumed ones among them. The cache keeps the counts up to date as pods come and go.

    Equal values share one column, so that subclasses are frozen dataclasses. `namespaces` and `carrying` say which pods
    may count at all, so that the others need not be looked at.
    """

    namespaces: frozenset[str] | None = None
    carrying: TermKind | None = None
    terminating: bool = True

    @abstractmethod
    def of(self, template: PodTemplate) -> int:
        """What a pod of this template adds, if it may count. Pods that are being deleted may not unless `terminating`."""

    def adds(self, template: PodTemplate, *, terminating: bool) -> int:
        """What a pod adds, and 0 for one that may not count."""
        if terminating and not self.terminating:
            return 0
        if self.namespaces is not None and template.namespace not in self.namespaces:
            return 0
        if self.carrying is not None and not template.spec.pod_terms(self.carrying):
            return 0
        return self.of(template)


class NodeRows(Protocol):
    """A set of nodes seen as columns: every answer is an array aligned with the set, in its order.

    Rows may be all nodes, the few that changed, or one hypothetical node: a rule cannot tell and need not. Arrays
    are the caller's to read, not to write.
    """

    def __len__(self) -> int:
        """How many nodes."""

    def subset(self, positions: IntArray) -> "NodeRows":
        """The nodes at these positions of the set, which are ascending."""

    def names(self) -> Sequence[str]:
        """Node names."""

    def node(self, position: int) -> NodeInfo:
        """The node at this position of the set."""

    def allocatable(self, resource: str) -> IntArray:
        """What the kubelet offers of a resource; 0 where it has none."""

    def requested(self, resource: str) -> IntArray:
        """What the pods on each node request of a resource; `pods` counts them."""

    def nonzero_requested(self, resource: str) -> IntArray:
        """As `requested`; cpu and memory with the defaults for containers that request none."""

    def unschedulable(self) -> BoolArray:
        """spec.unschedulable (cordoned)."""

    def named(self, name: str) -> BoolArray:
        """Where the node has this name."""

    def meets(self, requirement: Requirement) -> BoolArray:
        """Where the node's labels meet one requirement."""

    def matching(self, selector: NodeSelector) -> BoolArray:
        """Where at least one term of the selector matches the node's labels and name."""

    def matching_term(self, term: NodeSelectorTerm) -> BoolArray:
        """Where this one term matches."""

    def untolerated(self, tolerations: tuple[Toleration, ...], effects: frozenset[str]) -> IntArray:
        """How many taints of these effects none of the tolerations tolerates."""

    def label_ids(self, key: str) -> IntArray:
        """A number for the value of a label, the same for equal values; 0 where the label is missing."""

    def pods_counted(self, count: PodCount) -> IntArray:
        """The count of each node."""

    def pods_more(self, count: PodCount) -> IntArray | None:
        """For hypothetical rows, how much more each has than the same node has in the cluster; None for real ones.

        Each hypothetical row is a world of its own: the cluster with this one node replaced.
        """

    def port_conflicts(self, ports: tuple[HostPort, ...]) -> BoolArray:
        """Where one of these host ports is taken (same protocol and port, and same IP or a wildcard on either side)."""

    def hypothetical(self) -> bool:
        """Whether these are rows of a what-if."""

    def node_version(self) -> int:
        """A number that is another one whenever a node has joined, left or changed, whatever came and went on it."""

    def generations(self) -> IntArray:
        """A number for each node that is another one whenever the node or its pods have changed, also in a what-if."""

    def claim_users(self, namespace: str, claim: str) -> IntArray:
        """How often pods of the cluster use a claim; for a hypothetical row, of the cluster with only this node replaced."""

    def claims_at(self, position: int) -> Collection[tuple[str, str]]:
        """Namespace and name of the claims that pods on the node at this position use."""

    def disks_at(self, position: int) -> Collection[Disk]:
        """The in-tree disks that pods on the node at this position use."""

    def disk_conflicts(self, disks: Collection[Disk]) -> BoolArray:
        """Where a pod uses a disk that cannot be used together with one of these."""

    def labels(self, key: str) -> tuple[IntArray, Sequence[str | None]]:
        """The value of a label on each node, as a position in the sequence; None stands for nodes without the label."""

    def declaring(self, features: frozenset[str]) -> BoolArray:
        """Where the node declares all of these features (status.declaredFeatures)."""

    def image_size(self, image: str) -> IntArray:
        """Size in bytes of an image (by full name, tag or digest included) where the node holds it, else 0."""

    def image_spread(self, image: str) -> int:
        """How many nodes of the whole cluster hold the image."""

    def node_total(self) -> int:
        """How many nodes the whole cluster has."""


class Code(IntEnum):
    """Verdict of a plugin (fwk.Code). Unresolvable means that evicting pods would not help."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def label(self) -> str:
        """The name as metrics spell it, e.g. UnschedulableAndUnresolvable."""
        return "".join(word.capitalize() for word in self.name.split("_"))


class Status(msgspec.Struct, frozen=True, gc=False):
    """A verdict with its reasons. `plugin` is filled in by the runtime."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""

    @property
    def ok(self) -> bool:
        """Whether the pod may go on."""
        return self.code is Code.SUCCESS

    @property
    def rejected(self) -> bool:
        """Whether the pod was refused (as opposed to an error)."""
        return self.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)

    @property
    def message(self) -> str:
        """The reasons in one line."""
        return ", ".join(self.reasons)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    """Refused; evicting pods or a change in the cluster may help."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """Refused, and preemption would not help."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(*reasons: str) -> Status:
    """An internal fault: the pod is retried with error backoff."""
    return Status(Code.ERROR, reasons)


def nodes_available(total: int, counts: Iterable[tuple[Status, int]]) -> str:
    """The line users know, of how many nodes gave which verdict: `0/5 nodes are available: 1 Insufficient cpu, 4 node(s) ...`

    Reasons are sorted as text with the number in front (kube-scheduler's FitError); a node counts for each reason of its
    verdict.
    """
    totals: Counter[str] = Counter()
    for status, nodes in counts:
        for reason in status.reasons if nodes else ():
            totals[reason] += nodes
    text = f"0/{total} nodes are available:"
    return f"{text} {', '.join(sorted(f'{nodes} {reason}' for reason, nodes in totals.items()))}." if totals else text


class NodeStatuses(Mapping[str, Status]):
    """Why each node was refused, by its name (fwk.NodeToStatusReader). Nodes that PreFilter ruled out are not in it."""

    @abstractmethod
    def with_code(self, code: Code) -> NodeRows:
        """The nodes that were refused with this code."""


@dataclass(frozen=True, slots=True)
class RowVerdicts:
    """A filter's answer for a set of rows: `codes[i]` is 0 where row i passes, else k, meaning `statuses[k - 1]`."""

    codes: CodeArray
    statuses: tuple[Status, ...]

    @staticmethod
    def failing(where: BoolArray, status: Status) -> "RowVerdicts":
        """One reason, given wherever `where` is true."""
        return RowVerdicts(where.astype(np.int16), (status,))

    @staticmethod
    def passing(count: int) -> "RowVerdicts":
        """All rows pass."""
        return RowVerdicts(np.zeros(count, np.int16), ())


T = TypeVar("T")
A = TypeVar("A", bound=ApiObject)


class CycleState:
    """Scratch space of one pod's attempt, keyed by the type of what is stored.

    `bind_annotations` ride in the Binding and reach the pod in the same write; Reserve and PreBind may add to them.
    `skip_filter` and `skip_score` hold the plugins that said Skip in PreFilter and PreScore.
    """

    __slots__ = ("_values", "bind_annotations", "skip_filter", "skip_score")

    def __init__(self) -> None:
        self._values: dict[type, object] = {}
        self.bind_annotations: dict[str, str] = {}
        self.skip_filter: set[str] = set()
        self.skip_score: set[str] = set()

    def renew(self) -> None:
        """Forget everything: the attempt has waited and begins again on newer facts."""
        self._values.clear()
        self.bind_annotations.clear()
        self.skip_filter.clear()
        self.skip_score.clear()

    def put(self, value: object) -> None:
        """Store a value under its own type, replacing an earlier one."""
        self._values[type(value)] = value

    def get(self, kind: type[T]) -> T | None:
        """The value of this type, or None."""
        value = self._values.get(kind)
        return value if isinstance(value, kind) else None


class EventResource(StrEnum):
    """What an event is about (fwk.EventResource): pods, of which those on nodes and the waiting pod itself are told apart, nodes,
    and the kinds of `scheduler.api` under their own names.
    """

    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnscheduledPod"
    NODE = "Node"
    NAMESPACE = "Namespace"
    POD_DISRUPTION_BUDGET = "PodDisruptionBudget"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    STORAGE_CLASS = "StorageClass"
    CSI_NODE = "CSINode"
    CSI_DRIVER = "CSIDriver"
    CSI_STORAGE_CAPACITY = "CSIStorageCapacity"
    VOLUME_ATTACHMENT = "VolumeAttachment"
    SERVICE = "Service"
    REPLICATION_CONTROLLER = "ReplicationController"
    REPLICA_SET = "ReplicaSet"
    STATEFUL_SET = "StatefulSet"
    ANY = "*"


class Action(IntFlag):
    """What happened to it (fwk.ActionType)."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_POD_LABEL = 128
    UPDATE_POD_SCALE_DOWN = 256
    UPDATE_POD_TOLERATIONS = 512
    UPDATE_POD_GATES_ELIMINATED = 1024
    UPDATE_OTHER = 2048
    UPDATE_NODE_DECLARED_FEATURE = 4096
    UPDATE = 4 | 8 | 16 | 32 | 64 | 128 | 256 | 512 | 1024 | 2048 | 4096
    ALL = 8191


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """Something that may make a waiting pod schedulable. `label` is its name in metrics and logs."""

    resource: EventResource
    action: Action
    label: str


Hint = Callable[[PodInfo, object, object], bool]
"""hint(pod, old, new) -> True to queue the pod. `old` is None for an addition, `new` for a deletion; Node, PodInfo, ApiObject."""


@dataclass(frozen=True, slots=True)
class EventRegistration:
    """An event that may cure a plugin's rejections; without a hint every such event does."""

    resource: EventResource
    action: Action
    hint: Hint | None = None

    def covers(self, event: ClusterEvent) -> bool:
        """Whether this registration is for the event: the resource is the same, and all that happened was asked for."""
        same = self.resource in (event.resource, EventResource.ANY) or event.resource is EventResource.ANY
        return same and bool(self.action & event.action)


class Victims(msgspec.Struct, frozen=True):
    """Pods on one node that would have to go, and how many of these evictions a PodDisruptionBudget would forbid."""

    pods: tuple[PodInfo, ...]
    violations: int = 0


Evictable = Callable[[NodeInfo], Sequence[PodInfo]]
"""The pods of a node that may be evicted, in the order in which they are spared again where there is room."""


ObjectName = tuple[type[ApiObject], str, str]
"""Kind, namespace (empty for cluster-scoped kinds) and name of an object."""

Progress = Status | Collection[ObjectName]
"""How something has ended, or the objects whose change may end it."""


class Handle(Protocol):
    """What a plugin may ask of the engine."""

    def rows(self) -> NodeRows:
        """All nodes."""

    def row(self, node_name: str) -> NodeRows:
        """One node as a set of rows, empty if it is not known."""

    def node(self, name: str) -> NodeInfo | None:
        """The node of this name as it is now."""

    def find(self, kind: type[A], namespace: str, name: str) -> A | None:
        """The object of this kind and name; the kind must be among the plugin's `needs`. Cluster-scoped: no namespace."""

    def all(self, kind: type[A]) -> Collection[A]:
        """All objects of a kind, which must be among the plugin's `needs`."""

    def topology_keys(self, kind: TermKind) -> Collection[str]:
        """The topology keys in terms of a kind that pods on nodes have."""

    def changed(self, kind: type[ApiObject], since: int) -> tuple[int, Collection[tuple[str, str]] | None]:
        """For a plugin that remembers what it has made of objects: how many changes there have been to a kind so far, and
        namespace and name of those that were added, changed or removed after the first `since`. None instead of names if they
        are not known any more: all is to be made afresh.
        """

    def allow(self, uid: str, plugin: str) -> bool:
        """Let a pod that waits on Permit go on, in the name of one plugin; False if it does not wait."""

    def reject(self, uid: str, plugin: str, reason: str) -> bool:
        """Refuse a pod that waits on Permit; False if it does not wait."""

    def waiting(self) -> Sequence[PodInfo]:
        """The pods that wait on Permit."""

    def activate(self, uid: str) -> None:
        """Move a waiting pod to the active queue, whatever rejected it."""

    def nominated_node(self, uid: str) -> str:
        """The node that a waiting pod was promised, or ""."""

    def random_below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1 of the engine's seeded generator."""

    def dry_run(
        self, state: CycleState, pod: PodInfo, rows: NodeRows, evictable: Evictable
    ) -> Sequence[tuple[PodInfo, ...] | Status]:
        """For each of these nodes of the cluster, which of its evictable pods must go so that the pod fits, or why it would not
        fit without all of them. Nothing is changed. Pods that were promised a node are counted as in a real attempt.
        """

    def preempt(self, pod: PodInfo, node_name: str, victims: Sequence[PodInfo], plugin: str) -> None:
        """Evict pods, the least important last, so that the pod can have the node; this goes on while scheduling does.

        A victim that waits on Permit or in PreBind is sent back to the queue; any other gets the condition DisruptionTarget and
        is deleted. The last one is deleted only when all others were. If one cannot be, the pod is tried again after a backoff.
        """

    def preempting(self, uid: str) -> bool:
        """Whether evictions for this pod are still under way, so that it cannot be helped by trying it now."""

    def shared(self, kind: type[T]) -> T:
        """What the plugins of all profiles share: one value of this type, made without arguments when first asked for."""

    async def bind_volume(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> Status:
        """Write into a volume which claim it is for; success only if the API says so. It must not have changed meanwhile."""

    async def select_node(self, claim: PersistentVolumeClaim, node_name: str) -> Status:
        """Write into a claim where its volume is to be provisioned; as `bind_volume`."""

    async def until(self, pod: PodInfo, node_name: str, check: Callable[[], Progress], seconds: float) -> Status | None:
        """Wait until `check` answers with a status. It is asked at once, and whenever the pod, the node or one of the objects
        that it has answered instead changes or goes. None after so many seconds.
        """

    async def bind(self, pod: PodInfo, node_name: str, annotations: Mapping[str, str]) -> Status:
        """Write the Binding and return once its outcome is known; Wait if it was not sent and the pod is to be tried again."""

    async def process_preemption(
        self, pod: PodInfo, candidates: Mapping[str, Victims]
    ) -> Mapping[str, Victims] | Status:
        """Let the extenders with a preempt verb narrow down candidates (victims by node name); an error status if one fails.

        Without such extenders the candidates come back at once. Otherwise other pods may have been decided on meanwhile, and
        nodes about which anything has changed are left out.
        """


class PluginArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Base of a plugin's arguments (pluginConfig[].args): fields in snake case here, in camel case in the file."""

    def problems(self) -> Iterable[str]:
        """What is wrong with values of the right type, each as "path.of.field: found X, allowed: Y"."""
        return ()


class NoArgs(PluginArgs, frozen=True):
    """Arguments of a plugin that takes none."""


class Facet(IntFlag):
    """The part of a node row that a rule reads; cached results are refreshed when that part changes.

    AMOUNTS stands for less than the others: of the node what is allocatable, of the pods on it what they request in all. Nodes
    that are equal in these get the same results, which need be found for one of them only.
    """

    NODE = 1
    USAGE = 2
    AMOUNTS = 4


class Plugin(ABC):
    """Base of all plugins. `Args` is the type its pluginConfig args are decoded into, strictly. `needs` are the kinds it reads
    through the handle, beside pods and nodes; nothing is decided before they are known completely.

    `__init__(args, handle)` is given arguments that have no `problems`.
    """

    name: ClassVar[str]
    Args: ClassVar[type[PluginArgs]] = NoArgs
    needs: ClassVar[frozenset[type[ApiObject]]] = frozenset()

    def __init__(self, args: PluginArgs, handle: Handle) -> None:  # noqa: ARG002  part of the contract
        self.handle = handle

    def events_to_register(self) -> Sequence[EventRegistration]:
        """The events that may cure this plugin's rejections (EnqueueExtensions). By default every event."""
        return (EventRegistration(EventResource.ANY, Action.ALL),)

    def indifferent(self, template: PodTemplate) -> bool:  # noqa: ARG002  part of the contract
        """Whether pods of this template are none of the plugin's business, whatever the cluster is like: it is then not called
        for them from PreFilter to PreBind, as if it had skipped. Asked once for all pods of a template. By default all matter.
        """
        return False


class PreEnqueue(Plugin):
    """Decides whether a pod may enter the active queue at all; asked again when a registered event concerns the pod."""

    @abstractmethod
    def pre_enqueue(self, pod: PodInfo) -> Status:
        """Success, or a rejection that keeps the pod gated."""


class QueueSort(Plugin):
    """Orders the active queue. All profiles share one."""

    @abstractmethod
    def sort_key(self, pod: PodInfo, queued_at: float) -> tuple[float | str, ...]:
        """Smaller is earlier. `queued_at` is when the pod last entered the queue (seconds)."""


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """Status of PreFilter, and the only nodes worth looking at (None: all)."""

    status: Status = SUCCESS
    node_names: frozenset[str] | None = None


class PreFilter(Plugin):
    """Called once per attempt. Skip turns this plugin's filter off for the attempt; Unschedulable lets the other
    PreFilters run before the pod is refused, UnschedulableAndUnresolvable ends the attempt at once.
    """

    @abstractmethod
    def pre_filter(self, state: CycleState, pod: PodInfo) -> PreFilterResult:
        """Check the pod, prepare the filter."""


class RowRule(Plugin):
    """A filter or score over rows whose results may be kept per pod shape and refreshed only for changed rows.

    `facets` says which part of a row the rule reads. `row_key` says what it reads of the pod: equal keys give equal
    results on equal rows, and equal answers of the plugin's queueing hints. It is asked once for all pods of a template,
    until a node changes; nothing is kept for a pod that has a node already. None means that results depend on more than
    template and row, and are never kept.
    """

    facets: ClassVar[Facet] = Facet.NODE | Facet.USAGE

    def row_key(self, template: PodTemplate) -> Hashable | None:  # noqa: ARG002  part of the contract
        """What the rule reads of the pod (SignPlugin). By default nothing is kept."""
        return None


class Filter(Plugin):
    """The plain form of a filter: one node at a time, called for every node that earlier filters passed."""

    @abstractmethod
    def filter(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> Status:
        """Success, Unschedulable, UnschedulableAndUnresolvable or Error."""


class RowFilter(RowRule):
    """The row form of a filter: all rows in one call."""

    @abstractmethod
    def filter_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> RowVerdicts:
        """A verdict for each row."""


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """Outcome of PostFilter: a node to nominate (None: leave the nomination as it is, "": clear it). With `wakes` the events
    that the plugin has registered for, and whose hints say so, wake the pod too.
    """

    status: Status
    nominated_node: str | None = None
    wakes: bool = False


class PostFilter(Plugin):
    """Called when no node is feasible. `verdicts` holds each node's refusal."""

    @abstractmethod
    async def post_filter(self, state: CycleState, pod: PodInfo, verdicts: NodeStatuses) -> PostFilterResult:
        """Try to make room. Success ends the PostFilters, Unschedulable lets the next one try."""


class PreScore(Plugin):
    """Called once per attempt, if more than one node is feasible. Skip turns this plugin's score off."""

    @abstractmethod
    def pre_score(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> Status:
        """Prepare the score; `rows` are the feasible nodes."""


class Normalize(Enum):
    """How raw scores become 0 to 100 (helper.DefaultNormalizeScore), where no own normalisation is needed."""

    NONE = 0
    LARGEST = 1
    REVERSED = 2


class Score(Plugin):
    """The plain form of a score: one node at a time."""

    normalize: ClassVar[Normalize] = Normalize.NONE

    @abstractmethod
    def score(self, state: CycleState, pod: PodInfo, node: NodeInfo) -> int:
        """The node's raw score; 0 to 100 after normalisation, anything else is an error of the attempt."""


class RowScore(RowRule):
    """The row form of a score. Scores are integers, 0 to 100 after `normalize_scores`.

    A rule that leaves normalising to `normalize` gets by with what is kept; one of its own needs all scores again each time.
    """

    normalize: ClassVar[Normalize] = Normalize.NONE

    @abstractmethod
    def score_rows(self, state: CycleState, pod: PodInfo, rows: NodeRows) -> IntArray:
        """A raw score for each row."""

    def normalize_scores(self, state: CycleState, pod: PodInfo, scores: IntArray) -> IntArray:  # noqa: ARG002
        """Scores of the feasible rows, brought to 0..100; by default as `normalize` says."""
        return normalized(scores, int(scores.max(initial=0)), self.normalize)


class Reserve(Plugin):
    """Claims a plugin's own state for pod and node. Unreserve must be idempotent: it is called, in reverse order and for
    all Reserve plugins, after any later failure, also of a Reserve that came before this one.
    """

    @abstractmethod
    def reserve(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Success or a rejection."""

    @abstractmethod
    def unreserve(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Undo `reserve`."""


@dataclass(frozen=True, slots=True)
class PermitResult:
    """Status of Permit; with Wait, how long (seconds) before the pod is refused."""

    status: Status
    timeout: float = 0.0


class Permit(Plugin):
    """The last word before binding: approve, refuse, or wait for `Handle.allow`."""

    @abstractmethod
    def permit(self, state: CycleState, pod: PodInfo, node_name: str) -> PermitResult:
        """Success, a rejection, or Wait with a timeout (capped at 15 minutes)."""


class PreBind(Plugin):
    """Work that must be done before the pod is bound; may await the handle."""

    @abstractmethod
    async def pre_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Success, or a failure that undoes the attempt."""


class Bind(Plugin):
    """Binds the pod. Plugins are tried in order until one does not Skip."""

    @abstractmethod
    async def bind(self, state: CycleState, pod: PodInfo, node_name: str) -> Status:
        """Success, Skip or a failure."""


class PostBind(Plugin):
    """Told after a pod was bound."""

    @abstractmethod
    def post_bind(self, state: CycleState, pod: PodInfo, node_name: str) -> None:
        """Clean up or take note."""


EXTENSION_POINTS: Mapping[str, tuple[type[Plugin], ...]] = {
    "preEnqueue": (PreEnqueue,),
    "queueSort": (QueueSort,),
    "preFilter": (PreFilter,),
    "filter": (Filter, RowFilter),
    "postFilter": (PostFilter,),
    "preScore": (PreScore,),
    "score": (Score, RowScore),
    "reserve": (Reserve,),
    "permit": (Permit,),
    "preBind": (PreBind,),
    "bind": (Bind,),
    "postBind": (PostBind,),
}
"""Configuration name of each extension point, with the classes that implement it, in call order."""


def normalized(scores: IntArray, largest: int, how: Normalize) -> IntArray:
    """Scores of which the largest among the feasible nodes is known, brought to 0..100 (helper.DefaultNormalizeScore): integer
    division; if all are 0, they stay so or, reversed, become 100.
    """
    if how is Normalize.NONE:
        return scores
    reverse = how is Normalize.REVERSED
    if largest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    scaled = MAX_NODE_SCORE * scores // largest
    return MAX_NODE_SCORE - scaled if reverse else scaled
