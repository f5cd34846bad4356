"""Nodes: JSON to `Node`."""

import msgspec

from scheduler.framework import Image, Node
from scheduler.matching import Effect, Taint
from scheduler.objects import wire
from scheduler.objects.requests import UnreadableError, amounts, integers
from scheduler.objects.stream import WatchEvent, bookmark_version, decode_status, split_event

_EFFECTS = {effect.value: effect for effect in Effect}


class NodeList(wire.Wire):
    """A page of nodes."""

    metadata: wire.ListMeta = msgspec.field(default_factory=wire.ListMeta)
    items: list[wire.Node] = msgspec.field(default_factory=list)


class NodeDecoder:
    """Decodes nodes. A resource whose quantity cannot be understood is taken as absent, so that nothing is placed on it."""

    def __init__(self) -> None:
        self._node = msgspec.json.Decoder(wire.Node)
        self._list = msgspec.json.Decoder(NodeList)

    def decode(self, body: bytes | msgspec.Raw) -> Node:
        """One node."""
        return _node(self._node.decode(body))

    def decode_list(self, page: bytes) -> tuple[list[Node], str, str]:
        """A page of a list: nodes, version, and the token for the next page (empty at the end)."""
        decoded = self._list.decode(page)
        return [_node(node) for node in decoded.items], decoded.metadata.resource_version, decoded.metadata.continue_

    def decode_event(self, line: bytes) -> WatchEvent[Node]:
        """A line of a watch. Raises msgspec.DecodeError if it is cut or malformed."""
        kind, raw = split_event(line)
        if kind == "BOOKMARK":
            return WatchEvent(kind, None, bookmark_version(raw), None)
        if kind == "ERROR":
            return WatchEvent(kind, None, "", decode_status(bytes(raw)))
        node = self.decode(raw)
        return WatchEvent(kind, node, node.resource_version, None)


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
