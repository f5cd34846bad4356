"""Pods and nodes as the API has them, for all tests: JSON is the source, values are what the real decoders make of it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.api import ApiObject, Kind
from scheduler.framework import Node, PodInfo
from scheduler.objects import FOLLOWED, NodeDecoder, PodDecoder

JsonObject = dict[str, Any]

_PODS = PodDecoder()
_NODES = NodeDecoder()


def container(
    cpu: str | None = None,
    memory: str | None = None,
    *,
    name: str = "main",
    image: str = "registry.example/app:1",
    ports: list[JsonObject] | None = None,
    restart_policy: str | None = None,
    resources: Mapping[str, str] | None = None,
) -> JsonObject:
    """A container; `resources` are requests beside cpu and memory."""
    requests = dict(resources or {})
    if cpu is not None:
        requests["cpu"] = cpu
    if memory is not None:
        requests["memory"] = memory
    # What is not over-committed must have limits, or the API server refuses it.
    limits = {name: amount for name, amount in requests.items() if "/" in name}
    made: JsonObject = {"name": name, "image": image, "resources": {"requests": requests} if requests else {}}
    if limits:
        made["resources"]["limits"] = limits
    if ports:
        made["ports"] = ports
    if restart_policy:
        made["restartPolicy"] = restart_policy
    return made


def pod_json(
    name: str,
    cpu: str | None = None,
    memory: str | None = None,
    *,
    namespace: str = "default",
    scheduler: str = "berth",
    priority: int | None = None,
    node: str | None = None,
    labels: Mapping[str, str] | None = None,
    containers: list[JsonObject] | None = None,
    gates: tuple[str, ...] = (),
    metadata: JsonObject | None = None,
    status: JsonObject | None = None,
    spec: JsonObject | None = None,
    resources: Mapping[str, str] | None = None,
) -> JsonObject:
    """A pod as a user would post it; `spec`, `metadata` and `status` add to what the keywords say."""
    body: JsonObject = {
        "schedulerName": scheduler,
        "containers": containers or [container(cpu, memory, resources=resources)],
        **(spec or {}),
    }
    if priority is not None:
        body["priority"] = priority
    if node is not None:
        body["nodeName"] = node
    if gates:
        body["schedulingGates"] = [{"name": gate} for gate in gates]
    meta: JsonObject = {"name": name, "namespace": namespace, **(metadata or {})}
    if labels:
        meta["labels"] = dict(labels)
    made: JsonObject = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": body}
    if status is not None:
        made["status"] = status
    return made


def node_json(
    name: str,
    cpu: str = "4",
    memory: str = "8Gi",
    *,
    pods: str = "110",
    labels: Mapping[str, str] | None = None,
    taints: list[JsonObject] | None = None,
    unschedulable: bool = False,
    images: list[JsonObject] | None = None,
    metadata: JsonObject | None = None,
    resources: Mapping[str, str] | None = None,
) -> JsonObject:
    """A node as its kubelet would register it."""
    amounts = {"cpu": cpu, "memory": memory, "pods": pods, **(resources or {})}
    spec: JsonObject = {}
    if taints:
        spec["taints"] = taints
    if unschedulable:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}, **(metadata or {})},
        "spec": spec,
        "status": {"capacity": dict(amounts), "allocatable": dict(amounts), "images": images or []},
    }


def pod(name: str, cpu: str | None = None, memory: str | None = None, **fields: Any) -> PodInfo:
    """A pod as the engine sees it; its UID is its name unless `metadata` says otherwise."""
    metadata = {"uid": name, "resourceVersion": "1", **fields.pop("metadata", {})}
    return decode_pod(pod_json(name, cpu, memory, metadata=metadata, **fields))


def node(name: str, cpu: str = "4", memory: str = "8Gi", **fields: Any) -> Node:
    """A node as the engine sees it; its UID is its name unless `metadata` says otherwise."""
    metadata = {"uid": name, "resourceVersion": "1", **fields.pop("metadata", {})}
    return decode_node(node_json(name, cpu, memory, metadata=metadata, **fields))


def decode_pod(obj: JsonObject) -> PodInfo:
    """What the decoder makes of a pod. One decoder serves all tests, so equal shapes have equal signatures."""
    return _PODS.decode(msgspec.json.encode(obj))


def decode_node(obj: JsonObject) -> Node:
    """What the decoder makes of a node."""
    return _NODES.decode(msgspec.json.encode(obj))


def budget_json(
    name: str, labels: Mapping[str, str] | None, allowed: int, disrupted: tuple[str, ...] = (), **metadata: Any
) -> JsonObject:
    """A disruption budget for the pods with these labels (None: without a selector), and what its controller has worked out."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {} if labels is None else {"selector": {"matchLabels": dict(labels)}},
        "status": {
            "disruptionsAllowed": allowed,
            "disruptedPods": dict.fromkeys(disrupted, "2026-01-01T00:00:00Z"),
            "currentHealthy": 1,
            "desiredHealthy": 1,
            "expectedPods": 1,
        },
    }


def budget(name: str, labels: Mapping[str, str] | None, allowed: int, disrupted: tuple[str, ...] = ()) -> ApiObject:
    """A disruption budget as the engine sees it."""
    read = budget_json(name, labels, allowed, disrupted, uid=name, resourceVersion="1")
    return FOLLOWED[Kind.POD_DISRUPTION_BUDGET].decoder().decode(msgspec.json.encode(read))


def taint(key: str, effect: str = "NoSchedule", value: str = "") -> JsonObject:
    """A node's taint."""
    return {"key": key, "value": value, "effect": effect}
