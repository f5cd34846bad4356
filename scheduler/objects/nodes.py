"""Nodes: JSON to `Node`."""

from scheduler.framework import Image, Node
from scheduler.matching import Effect, Taint
from scheduler.objects import wire
from scheduler.objects.decoder import ObjectDecoder
from scheduler.objects.requests import UnreadableError, amounts, integers

_EFFECTS = {effect.value: effect for effect in Effect}


class NodeDecoder(ObjectDecoder[wire.Node, Node]):
    """Decodes nodes. A resource whose quantity cannot be understood is taken as absent, so that nothing is placed on it."""

    def __init__(self) -> None:
        super().__init__(wire.Node, _node)


def _node(node: wire.Node) -> Node:
    meta, spec, status = node.metadata, node.spec, node.status
    return Node(
        uid=meta.uid,
        name=meta.name,
        labels=meta.labels or {},
        annotations=meta.annotations or {},
        taints=tuple(Taint(t.key, t.value, _EFFECTS[t.effect]) for t in spec.taints or () if t.effect in _EFFECTS),
        unschedulable=spec.unschedulable,
        allocatable=_allocatable(status.allocatable),
        images=tuple(Image(tuple(i.names or ()), i.size_bytes) for i in status.images or ()),
        conditions={c.type: c.status for c in status.conditions or ()},
        resource_version=meta.resource_version,
    )


def _allocatable(quantities: wire.Quantities | None) -> dict[str, int]:
    readable: dict[str, int] = {}
    for resource, text in (quantities or {}).items():
        try:
            readable |= integers(amounts({resource: text}, "status.allocatable"))
        except UnreadableError:
            continue
    return readable
