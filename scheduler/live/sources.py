"""What berth follows on the API server."""

from scheduler.framework import Node, PodInfo
from scheduler.live.reflector import Source
from scheduler.messages import Kind, NodeGone, NodeSeen, PodGone, PodSeen
from scheduler.objects import NodeDecoder, PodDecoder


def pods(decoder: PodDecoder) -> Source[PodInfo]:
    """All pods that have not finished, in all namespaces: whatever is bound counts, whoever may be scheduled."""
    return Source(
        kind=Kind.POD,
        path="/api/v1/pods",
        field_selector="status.phase!=Succeeded,status.phase!=Failed",
        decoder=decoder,
        uid=lambda pod: pod.uid,
        name=lambda pod: pod.name,
        seen=PodSeen,
        gone=lambda uid, name: PodGone(uid),  # noqa: ARG005  pods are told by UID alone
    )


def nodes() -> Source[Node]:
    """All nodes."""
    return Source(
        kind=Kind.NODE,
        path="/api/v1/nodes",
        field_selector="",
        decoder=NodeDecoder(),
        uid=lambda node: node.uid,
        name=lambda node: node.name,
        seen=NodeSeen,
        gone=lambda uid, name: NodeGone(name, uid),
    )
