"""Nodes: JSON to `Node`."""

import msgspec

from scheduler.framework import Image, Node
from scheduler.matching import Effect, Taint
from scheduler.objects import wire
from scheduler.objects.decoder import ObjectDecoder
from scheduler.objects.manifests import NO_MANIFESTS, Manifests, manifest
from scheduler.objects.requests import UnreadableError, amounts, integers
from scheduler.objects.stream import split_list

_EFFECTS = {effect.value: effect for effect in Effect}


class NodeDecoder(ObjectDecoder[wire.Node, Node]):
    """Decodes nodes. A resource whose quantity cannot be understood is taken as absent, so that nothing is placed on it.

    `manifests` may be set to something else at any time.
    """

    def __init__(self, manifests: Manifests = NO_MANIFESTS) -> None:
        super().__init__(wire.Node, _node)
        self.manifests = manifests

    def decode(self, body: bytes | msgspec.Raw) -> Node:
        """One node."""
        node = super().decode(body)
        return msgspec.structs.replace(node, manifest=manifest(body)) if self.manifests.nodes else node

    def decode_list(self, page: bytes) -> tuple[list[Node], str, str]:
        """A page of a list: nodes, version, and the token for the next page (empty at the end)."""
        if not self.manifests.nodes:
            return super().decode_list(page)
        items, meta = split_list(page)
        return [self.decode(item) for item in items], meta.resource_version, meta.continue_


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
        declared_features=frozenset(status.declared_features or ()),
    )


def _allocatable(quantities: wire.Quantities | None) -> dict[str, int]:
    readable: dict[str, int] = {}
    for resource, text in (quantities or {}).items():
        try:
            readable |= integers(amounts({resource: text}, "status.allocatable"))
        except UnreadableError:
            continue
    return readable
