"""Namespaces: JSON to `Namespace`."""

from scheduler.api import ApiObject, Namespace
from scheduler.objects import wire
from scheduler.objects.decoder import ObjectDecoder


def namespaces() -> ObjectDecoder[wire.Namespace, ApiObject]:
    """A decoder of namespaces."""
    return ObjectDecoder(wire.Namespace, _namespace)


def _namespace(read: wire.Namespace) -> Namespace:
    meta = read.metadata
    return Namespace(meta.uid, "", meta.name, meta.resource_version, meta.labels or {})
