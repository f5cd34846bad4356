"""The resources that are served from the start.

Those with rules of their own name a strategy; the others are stored as they come.
"""

from scheduler.sandbox.budgets import BudgetStrategy
from scheduler.sandbox.crds import DefinitionStrategy
from scheduler.sandbox.events import CORE_FIELDS, EVENTS_V1, NEW_FIELDS, EventStrategy, StrictEventStrategy
from scheduler.sandbox.fields import JsonObject, objects_at, text_at
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.leases import LeaseStrategy
from scheduler.sandbox.namespaces import NamespaceStrategy
from scheduler.sandbox.nodes import NodeStrategy
from scheduler.sandbox.pods.strategy import PodStrategy, ResizeStrategy
from scheduler.sandbox.priority import PriorityClassStrategy
from scheduler.sandbox.selectors import FieldReader, as_text, reader
from scheduler.sandbox.strategy import AnyName, SpecAndStatus, Strategy


def _host_network(pod: JsonObject) -> str:
    spec = pod.get("spec")
    return as_text(bool(spec.get("hostNetwork")) if isinstance(spec, dict) else False)


def _pod_ip(pod: JsonObject) -> str:
    addresses = objects_at(pod, "status", "podIPs")
    return text_at(addresses[0], "ip") if addresses else text_at(pod, "status", "podIP")


def _unschedulable(node: JsonObject) -> str:
    spec = node.get("spec")
    return as_text(bool(spec.get("unschedulable")) if isinstance(spec, dict) else False)


_POD_FIELDS: dict[str, FieldReader] = {
    "spec.nodeName": reader("spec", "nodeName"),
    "spec.restartPolicy": reader("spec", "restartPolicy"),
    "spec.schedulerName": reader("spec", "schedulerName"),
    "spec.serviceAccountName": reader("spec", "serviceAccountName"),
    "spec.hostNetwork": _host_network,
    "status.phase": reader("status", "phase"),
    "status.podIP": _pod_ip,
    "status.nominatedNodeName": reader("status", "nominatedNodeName"),
}

_SPEC_AND_STATUS = SpecAndStatus()


def _plain(
    group: str, version: str, plural: str, kind: str, *short_names: str, namespaced: bool = True, status: bool = False
) -> Resource:
    """A resource without rules of its own, with a status and a generation if it has a status."""
    return Resource(
        group,
        version,
        plural,
        kind,
        namespaced,
        strategy=_SPEC_AND_STATUS if status else AnyName() if group.startswith("rbac.") else Strategy(),
        short_names=short_names,
        subresources=("status",) if status else (),
        categories=("all",) if status and group in ("apps", "batch") else (),
    )


CORE = (
    Resource(
        "",
        "v1",
        "pods",
        "Pod",
        namespaced=True,
        strategy=PodStrategy(),
        subresource_strategies={"resize": ResizeStrategy()},
        short_names=("po",),
        categories=("all",),
        subresources=("binding", "eviction", "resize", "status"),
        fields=_POD_FIELDS,
    ),
    Resource(
        "",
        "v1",
        "nodes",
        "Node",
        namespaced=False,
        strategy=NodeStrategy(),
        short_names=("no",),
        subresources=("status",),
        fields={"spec.unschedulable": _unschedulable},
    ),
    Resource(
        "",
        "v1",
        "namespaces",
        "Namespace",
        namespaced=False,
        strategy=NamespaceStrategy(),
        short_names=("ns",),
        subresources=("finalize", "status"),
        fields={"status.phase": reader("status", "phase")},
    ),
    Resource(
        "", "v1", "events", "Event", namespaced=True, strategy=EventStrategy(), short_names=("ev",), fields=CORE_FIELDS
    ),
    Resource("", "v1", "secrets", "Secret", namespaced=True, fields={"type": reader("type")}),
    _plain("", "v1", "configmaps", "ConfigMap", "cm"),
    _plain("", "v1", "serviceaccounts", "ServiceAccount", "sa"),
    Resource(
        "",
        "v1",
        "services",
        "Service",
        namespaced=True,
        strategy=_SPEC_AND_STATUS,
        short_names=("svc",),
        categories=("all",),
        subresources=("status",),
        fields={"spec.clusterIP": reader("spec", "clusterIP"), "spec.type": reader("spec", "type")},
    ),
    _plain("", "v1", "replicationcontrollers", "ReplicationController", "rc", status=True),
    _plain("", "v1", "persistentvolumes", "PersistentVolume", "pv", namespaced=False, status=True),
    _plain("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", "pvc", status=True),
    _plain("", "v1", "resourcequotas", "ResourceQuota", "quota", status=True),
    _plain("", "v1", "limitranges", "LimitRange", "limits"),
)

GROUPS = (
    Resource(
        "events.k8s.io",
        "v1",
        "events",
        "Event",
        namespaced=True,
        strategy=StrictEventStrategy(),
        short_names=("ev",),
        fields=NEW_FIELDS,
        face=EVENTS_V1,
    ),
    Resource("coordination.k8s.io", "v1", "leases", "Lease", namespaced=True, strategy=LeaseStrategy()),
    Resource(
        "scheduling.k8s.io",
        "v1",
        "priorityclasses",
        "PriorityClass",
        namespaced=False,
        strategy=PriorityClassStrategy(),
        short_names=("pc",),
    ),
    Resource(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        namespaced=False,
        strategy=DefinitionStrategy(),
        short_names=("crd", "crds"),
        categories=("api-extensions",),
        subresources=("status",),
    ),
    Resource(
        "policy",
        "v1",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        namespaced=True,
        strategy=BudgetStrategy(),
        short_names=("pdb",),
        subresources=("status",),
    ),
    _plain("apps", "v1", "deployments", "Deployment", "deploy", status=True),
    _plain("apps", "v1", "replicasets", "ReplicaSet", "rs", status=True),
    _plain("apps", "v1", "statefulsets", "StatefulSet", "sts", status=True),
    _plain("apps", "v1", "daemonsets", "DaemonSet", "ds", status=True),
    _plain("batch", "v1", "jobs", "Job", status=True),
    _plain("batch", "v1", "cronjobs", "CronJob", "cj", status=True),
    _plain("storage.k8s.io", "v1", "storageclasses", "StorageClass", "sc", namespaced=False),
    _plain("storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False),
    _plain("storage.k8s.io", "v1", "csidrivers", "CSIDriver", namespaced=False),
    _plain("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"),
    _plain("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", namespaced=False, status=True),
    Resource(
        "resource.k8s.io",
        "v1",
        "resourceslices",
        "ResourceSlice",
        namespaced=False,
        fields={"spec.nodeName": reader("spec", "nodeName"), "spec.driver": reader("spec", "driver")},
    ),
    _plain("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False),
    _plain("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", status=True),
    _plain("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate"),
    _plain("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False),
    _plain("rbac.authorization.k8s.io", "v1", "roles", "Role"),
    _plain("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"),
    _plain("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False),
    _plain("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False),
)

BUILT_IN = CORE + GROUPS
