"""Pods and nodes as large as those of real clusters, for measurements."""

import uuid
from typing import Any

JsonObject = dict[str, Any]


def realistic_pod(number: int, shape: int, node: str | None) -> JsonObject:
    """A Deployment's pod with two containers, managed fields, and, on a node, a running status: about 6 KB of JSON."""
    name = f"service-{shape}-7d4b9c6f5{number % 10}-{number:06d}"
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": name[:-7],
        "uid": f"owner-{shape}",
        "controller": True,
    }
    pod: JsonObject = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "generateName": name[:-6],
            "namespace": f"team-{shape % 7}",
            "uid": str(uuid.UUID(int=number + 1)),
            "resourceVersion": str(1000 + number),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {
                "app": f"service-{shape}",
                "pod-template-hash": "7d4b9c6f5",
                "tier": "backend",
                "track": "stable",
            },
            "annotations": {"checksum/config": "0123456789abcdef" * 4, "prometheus.io/scrape": "true"},
            "ownerReferences": [owner],
            "managedFields": [_managed("kube-controller-manager"), _managed("kubelet")],
        },
        "spec": _spec(number, shape),
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    }
    if node is not None:
        pod["spec"]["nodeName"] = node
        pod["status"] = _running(number)
    return pod


def realistic_node(number: int) -> JsonObject:
    """A node of one of three zones with 32 CPUs."""
    amounts = {"cpu": "32", "memory": "128Gi", "pods": "110", "ephemeral-storage": "400Gi"}
    name = f"node-{number:05d}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % 3}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"node-uid-{number}", "resourceVersion": "1", "labels": labels},
        "spec": {},
        "status": {"capacity": dict(amounts), "allocatable": dict(amounts)},
    }


def _spec(number: int, shape: int) -> JsonObject:
    def container(name: str, cpu: str, memory: str) -> JsonObject:
        return {
            "name": name,
            "image": f"registry.example/team/{name}-{shape}:v1.2.3",
            "imagePullPolicy": "IfNotPresent",
            "args": ["--listen=:8080", "--log-level=info", "--config=/etc/config/config.yaml"],
            "env": [{"name": f"SETTING_{i}", "value": f"value-{i}"} for i in range(8)],
            "ports": [{"containerPort": 8080, "protocol": "TCP", "name": "http"}],
            "resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}},
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 10},
            "volumeMounts": [{"name": "config", "mountPath": "/etc/config"}],
        }

    return {
        "schedulerName": "berth",
        "containers": [container("server", "200m", "256Mi"), container("proxy", "50m", "64Mi")],
        "volumes": [
            {"name": "config", "configMap": {"name": f"config-{shape}"}},
            {
                "name": f"kube-api-access-{number:05d}",
                "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]},
            },
        ],
        "tolerations": [
            {
                "key": "node.kubernetes.io/not-ready",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
            {
                "key": "node.kubernetes.io/unreachable",
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": 300,
            },
        ],
        "serviceAccountName": "default",
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def _running(number: int) -> JsonObject:
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:05Z"}
        for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    ]
    statuses = [
        {
            "name": name,
            "ready": True,
            "restartCount": 0,
            "image": f"registry.example/team/{name}:v1.2.3",
            "imageID": "sha256:" + "ab" * 32,
            "containerID": "containerd://" + "cd" * 32,
            "state": {"running": {"startedAt": "2026-01-01T00:00:04Z"}},
        }
        for name in ("server", "proxy")
    ]
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    return {"phase": "Running", "podIP": address, "conditions": conditions, "containerStatuses": statuses}


def _managed(manager: str) -> JsonObject:
    fields: JsonObject = {f"f:field-{i}": {"f:nested": {}, ".": {}} for i in range(20)}
    return {"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}
