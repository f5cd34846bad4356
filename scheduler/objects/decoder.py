"""One decoder for all kinds whose objects are decoded one by one and share nothing."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import msgspec

from scheduler.objects import wire
from scheduler.objects.stream import WatchEvent, bookmark_version, decode_status, split_event


class Versioned(Protocol):
    """A value that knows its version."""

    @property
    def resource_version(self) -> str:
        """metadata.resourceVersion."""


W = TypeVar("W", bound=wire.Wire)
T = TypeVar("T", bound=Versioned)


class ListOf(wire.Wire, Generic[W]):
    """A page of a list."""

    metadata: wire.ListMeta = msgspec.field(default_factory=wire.ListMeta)
    items: list[W] = msgspec.field(default_factory=list)


class ObjectDecoder(Generic[W, T]):
    """Decodes one kind. `build` makes a value of whatever decodes, and never raises: what it cannot understand it leaves out,
    so that one odd object does not end a watch.
    """

    def __init__(self, shape: type[W], build: Callable[[W], T]) -> None:
        self._object = msgspec.json.Decoder(shape)
        self._list: msgspec.json.Decoder[ListOf[W]] = msgspec.json.Decoder(ListOf[shape])  # type: ignore[valid-type]  # a generic struct is filled in at run time
        self._build = build

    def decode(self, body: bytes | msgspec.Raw) -> T:
        """One object. Raises msgspec.DecodeError if it is cut or malformed."""
        return self._build(self._object.decode(body))

    def decode_list(self, page: bytes) -> tuple[list[T], str, str]:
        """A page of a list: objects, version, and the token for the next page (empty at the end)."""
        decoded = self._list.decode(page)
        return (
            [self._build(item) for item in decoded.items],
            decoded.metadata.resource_version,
            decoded.metadata.continue_,
        )

    def decode_event(self, line: bytes) -> WatchEvent[T]:
        """A line of a watch. Raises msgspec.DecodeError if it is cut or malformed."""
        kind, raw = split_event(line)
        if kind == "BOOKMARK":
            return WatchEvent(kind, None, bookmark_version(raw), None)
        if kind == "ERROR":
            return WatchEvent(kind, None, "", decode_status(bytes(raw)))
        obj = self.decode(raw)
        return WatchEvent(kind, obj, obj.resource_version, None)
