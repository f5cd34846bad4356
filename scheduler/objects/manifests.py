"""Whole objects beside the lean values, for those who must be shown them (extenders)."""

from dataclasses import dataclass

import msgspec

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_METADATA = "metadata"
_NOT_SHOWN = ("apiVersion", "kind")


@dataclass(frozen=True, slots=True)
class Manifests:
    """What to keep whole: pods that wait for one of these schedulers, pods with a node, nodes."""

    waiting: frozenset[str] = frozenset()
    bound: bool = False
    nodes: bool = False

    @property
    def pods(self) -> bool:
        """Whether any pod is kept."""
        return bool(self.waiting) or self.bound


NO_MANIFESTS = Manifests()


def manifest(body: bytes | msgspec.Raw) -> bytes:
    """An object as kube-scheduler's informers have it: without managedFields, and without apiVersion and kind, which go without
    saying.
    """
    fields = _FIELDS.decode(body)
    metadata = _FIELDS.decode(fields.get(_METADATA, b"{}"))
    metadata.pop("managedFields", None)
    for name in _NOT_SHOWN:
        fields.pop(name, None)
    return msgspec.json.encode({**fields, _METADATA: metadata})
