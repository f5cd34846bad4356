"""The shapes of the API's JSON, cut down to the fields that are read; everything else is skipped while decoding.

Quantities come as strings or numbers. Strings that should be enums stay strings: what is unknown must not fail to decode.
"""

import msgspec

Quantities = dict[str, str | int | float]


class Wire(msgspec.Struct, rename="camel", gc=False, omit_defaults=True):
    """Base of all: camel case, defaults left out again when a value is encoded to tell it apart from others."""


class OwnerReference(Wire):
    """metadata.ownerReferences[]."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(Wire):
    """metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    generation: int = 0
    owner_references: list[OwnerReference] | None = None


class ResourceRequirements(Wire):
    """resources."""

    requests: Quantities | None = None


class ContainerPort(Wire):
    """ports[]; the container's own port is of no interest."""

    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""


class RestartRule(Wire):
    """restartPolicyRules[] of a container."""

    action: str = ""


class Container(Wire):
    """containers[] and initContainers[]."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements | None = None
    ports: list[ContainerPort] | None = None
    restart_policy: str = ""
    restart_policy_rules: list[RestartRule] | None = None


class Requirement(Wire):
    """matchExpressions[] and matchFields[]."""

    key: str
    operator: str
    values: list[str] | None = None


class NodeSelectorTerm(Wire):
    """nodeSelectorTerms[]."""

    match_expressions: list[Requirement] | None = None
    match_fields: list[Requirement] | None = None


class NodeSelector(Wire):
    """requiredDuringSchedulingIgnoredDuringExecution of a node affinity."""

    node_selector_terms: list[NodeSelectorTerm] | None = None


class PreferredTerm(Wire):
    """preferredDuringSchedulingIgnoredDuringExecution[] of a node affinity."""

    weight: int
    preference: NodeSelectorTerm


class NodeAffinity(Wire):
    """affinity.nodeAffinity."""

    required: NodeSelector | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: list[PreferredTerm] | None = msgspec.field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class LabelSelector(Wire):
    """A metav1.LabelSelector."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[Requirement] | None = None


class PodAffinityTerm(Wire):
    """A term about other pods. What matchLabelKeys add is in the selector already: the API server puts it there."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: list[str] | None = None
    namespace_selector: LabelSelector | None = None


class PreferredPodTerm(Wire):
    """preferredDuringSchedulingIgnoredDuringExecution[] of a pod affinity."""

    weight: int
    pod_affinity_term: PodAffinityTerm


class PodAffinity(Wire):
    """affinity.podAffinity and affinity.podAntiAffinity."""

    required: list[PodAffinityTerm] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: list[PreferredPodTerm] | None = msgspec.field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Wire):
    """affinity."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class SpreadConstraint(Wire):
    """topologySpreadConstraints[]."""

    topology_key: str = ""
    max_skew: int = 1
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] | None = None


class Toleration(Wire):
    """tolerations[]."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class SchedulingGate(Wire):
    """schedulingGates[]."""

    name: str


class ImageVolume(Wire):
    """volumes[].image."""

    reference: str = ""


class ClaimVolume(Wire):
    """volumes[].persistentVolumeClaim."""

    claim_name: str = ""


class EphemeralVolume(Wire):
    """volumes[].ephemeral, whose template is of no interest."""


class CsiVolume(Wire):
    """volumes[].csi."""

    driver: str = ""


class GcePersistentDisk(Wire):
    """gcePersistentDisk of a pod's volume or a PersistentVolume, as those that follow."""

    pd_name: str = ""
    read_only: bool = False


class AwsElasticBlockStore(Wire):
    """awsElasticBlockStore."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class AzureDisk(Wire):
    """azureDisk."""

    disk_uri: str = msgspec.field(default="", name="diskURI")


class Cinder(Wire):
    """cinder."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class Portworx(Wire):
    """portworxVolume."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class Iscsi(Wire):
    """iscsi."""

    iqn: str = ""
    read_only: bool = False


class Rbd(Wire):
    """rbd."""

    monitors: list[str] | None = None
    pool: str = ""
    image: str = ""
    read_only: bool = False


class Disks(Wire):
    """The in-tree types of a pod's volume or a PersistentVolume; at most one is set."""

    gce_persistent_disk: GcePersistentDisk | None = None
    aws_elastic_block_store: AwsElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    cinder: Cinder | None = None
    portworx_volume: Portworx | None = None
    iscsi: Iscsi | None = None
    rbd: Rbd | None = None


class Volume(Disks):
    """volumes[]. Only an ephemeral volume's name matters; the names of token volumes differ from pod to pod."""

    name: str = ""
    image: ImageVolume | None = None
    persistent_volume_claim: ClaimVolume | None = None
    ephemeral: EphemeralVolume | None = None
    csi: CsiVolume | None = None

    def __post_init__(self) -> None:
        """Forget a name that says nothing, so that pods which differ in it only are alike."""
        if self.ephemeral is None:
            self.name = ""


class PodSpec(Wire):
    """spec."""

    node_name: str = ""
    scheduler_name: str = ""
    priority: int = 0
    preemption_policy: str = ""
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    resources: ResourceRequirements | None = None
    overhead: Quantities | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    scheduling_gates: list[SchedulingGate] | None = None
    volumes: list[Volume] | None = None
    host_network: bool = False
    host_users: bool | None = None
    topology_spread_constraints: list[SpreadConstraint] | None = None


class Condition(Wire):
    """conditions[]."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""


class ContainerStatus(Wire):
    """containerStatuses[] and initContainerStatuses[]."""

    name: str = ""
    allocated_resources: Quantities | None = None
    resources: ResourceRequirements | None = None


class PodStatus(Wire):
    """status."""

    phase: str = ""
    reason: str = ""
    start_time: str | None = None
    nominated_node_name: str = ""
    conditions: list[Condition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    allocated_resources: Quantities | None = None
    resources: ResourceRequirements | None = None


class Pod(Wire):
    """A v1 Pod."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class Taint(Wire):
    """A node's taints[]."""

    key: str
    value: str = ""
    effect: str = ""


class NodeSpec(Wire):
    """A node's spec."""

    taints: list[Taint] | None = None
    unschedulable: bool = False


class ContainerImage(Wire):
    """A node's images[]."""

    names: list[str] | None = None
    size_bytes: int = 0


class NodeStatus(Wire):
    """A node's status."""

    allocatable: Quantities | None = None
    conditions: list[Condition] | None = None
    images: list[ContainerImage] | None = None
    declared_features: list[str] | None = None


class Node(Wire):
    """A v1 Node."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class Namespace(Wire):
    """A v1 Namespace."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)


class PodDisruptionBudgetSpec(Wire):
    """A budget's spec."""

    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(Wire):
    """A budget's status; the values of `disruptedPods` are times."""

    disruptions_allowed: int = 0
    disrupted_pods: dict[str, str | None] | None = None


class PodDisruptionBudget(Wire):
    """A policy/v1 PodDisruptionBudget."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodDisruptionBudgetSpec = msgspec.field(default_factory=PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = msgspec.field(default_factory=PodDisruptionBudgetStatus)


class LabelsSpec(Wire):
    """The spec of a Service or a ReplicationController."""

    selector: dict[str, str] | None = None


class Selecting(Wire):
    """A v1 Service or ReplicationController."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: LabelsSpec = msgspec.field(default_factory=LabelsSpec)


class SelectorSpec(Wire):
    """The spec of a ReplicaSet or a StatefulSet."""

    selector: LabelSelector | None = None


class SelectingByTerms(Wire):
    """An apps/v1 ReplicaSet or StatefulSet."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: SelectorSpec = msgspec.field(default_factory=SelectorSpec)


class ListMeta(Wire):
    """metadata of a list."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Status(Wire):
    """A metav1.Status: the answer to a failed call, and the object of an ERROR event."""

    code: int = 0
    reason: str = ""
    message: str = ""
