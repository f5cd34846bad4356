"""What berth follows on the API server."""

from scheduler.api import ApiObject, Kind
from scheduler.framework import Node, PodInfo
from scheduler.live.reflector import Source
from scheduler.messages import NodeGone, NodeSeen, ObjectGone, ObjectSeen, PodGone, PodSeen
from scheduler.objects import FOLLOWED, NodeDecoder, PodDecoder


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


def others(kind: Kind) -> Source[ApiObject]:
    """All objects of a kind beside these, which some plugin needs."""
    followed = FOLLOWED[kind]
    return Source(
        kind=kind,
        path=followed.path,
        field_selector="",
        decoder=followed.decoder(),
        uid=lambda obj: obj.uid,
        name=lambda obj: f"{obj.namespace}/{obj.name}",
        seen=ObjectSeen,
        gone=lambda uid, name: ObjectGone(kind, uid, *name.split("/")),
    )


def nodes(decoder: NodeDecoder) -> Source[Node]:
    """All nodes."""
    return Source(
        kind=Kind.NODE,
        path="/api/v1/nodes",
        field_selector="",
        decoder=decoder,
        uid=lambda node: node.uid,
        name=lambda node: node.name,
        seen=NodeSeen,
        gone=lambda uid, name: NodeGone(name, uid),
    )
