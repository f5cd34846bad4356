"""Effects as the API server takes them: the JSON bodies of what is written. A driver adds the transport and the time."""

from collections.abc import Mapping

from scheduler.messages import (
    Bind,
    BindVolume,
    ClearNomination,
    DeletePod,
    MarkDisrupted,
    PatchPodStatus,
    SelectNode,
)

Body = Mapping[str, object]


def binding_body(effect: Bind) -> Body:
    """The v1 Binding to POST to pods/NAME/binding. Its UID is a precondition: a new pod of the same name is left alone."""
    metadata: dict[str, object] = {"name": effect.name, "namespace": effect.namespace, "uid": effect.uid}
    if effect.annotations:
        metadata["annotations"] = dict(effect.annotations)
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata,
        "target": {"apiVersion": "v1", "kind": "Node", "name": effect.node_name},
    }


def status_patch(effect: PatchPodStatus, timestamp: str) -> Body:
    """The strategic merge patch of pods/NAME/status; conditions are merged by type, others stay. `timestamp` is metav1.Time."""
    condition: dict[str, object] = {
        "type": "PodScheduled",
        "status": "False",
        "reason": effect.reason,
        "message": effect.message,
        "observedGeneration": effect.observed_generation,
    }
    if effect.transition:
        condition["lastTransitionTime"] = timestamp
    status: dict[str, object] = {"conditions": [condition]}
    if effect.nominated_node is not None:
        status["nominatedNodeName"] = effect.nominated_node or None
    return {"metadata": {"uid": effect.uid}, "status": status}


def disruption_patch(effect: MarkDisrupted, timestamp: str) -> Body:
    """The strategic merge patch of pods/NAME/status that says why a pod is about to be deleted. `timestamp` is metav1.Time."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": effect.message,
        "observedGeneration": effect.observed_generation,
        "lastTransitionTime": timestamp,
    }
    return {"metadata": {"uid": effect.uid}, "status": {"conditions": [condition]}}


def nomination_patch(effect: ClearNomination) -> Body:
    """The strategic merge patch of pods/NAME/status that takes a nomination back."""
    return {"metadata": {"uid": effect.uid}, "status": {"nominatedNodeName": None}}


def delete_options(effect: DeletePod) -> Body:
    """The v1 DeleteOptions of pods/NAME. A new pod of the same name is left alone."""
    return {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": effect.uid}}


def claim_patch(effect: BindVolume) -> Body:
    """The merge patch of a PersistentVolume as the volume controller itself would bind it (component-helpers, 1.36)."""
    metadata: dict[str, object] = {"uid": effect.uid, "resourceVersion": effect.resource_version}
    if effect.by_us:
        metadata["annotations"] = {"pv.kubernetes.io/bound-by-controller": "yes"}
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": effect.claim.namespace,
        "name": effect.claim.name,
        "uid": effect.claim.uid,
        "resourceVersion": effect.claim_version,
    }
    return {"metadata": metadata, "spec": {"claimRef": reference}}


def selected_node_patch(effect: SelectNode) -> Body:
    """The merge patch of a PersistentVolumeClaim that tells provisioners where its volume is wanted."""
    annotations = {"volume.kubernetes.io/selected-node": effect.node_name}
    metadata = {"uid": effect.uid, "resourceVersion": effect.resource_version, "annotations": annotations}
    return {"metadata": metadata}
