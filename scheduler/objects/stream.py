"""Lists and watch events of any kind, decoded in one pass."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from scheduler.objects import wire

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApiStatus:
    """What the server says of a failed call or a broken watch (metav1.Status)."""

    code: int
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class WatchEvent(Generic[T]):
    """One line of a watch: ADDED, MODIFIED or DELETED with an object, BOOKMARK with a version, ERROR with a status."""

    type: str
    object: T | None
    resource_version: str
    status: ApiStatus | None


class EventHead(wire.Wire):
    """A watch line with its object left as it is."""

    type: str
    object: msgspec.Raw


class ListHead(wire.Wire):
    """A page of a list with its objects left as they are."""

    metadata: wire.ListMeta
    items: list[msgspec.Raw] = msgspec.field(default_factory=list)


class Versioned(wire.Wire):
    """A bookmark's object."""

    metadata: wire.ObjectMeta


_HEAD = msgspec.json.Decoder(EventHead)
_LIST = msgspec.json.Decoder(ListHead)
_STATUS = msgspec.json.Decoder(wire.Status)
_VERSIONED = msgspec.json.Decoder(Versioned)


def decode_status(body: bytes) -> ApiStatus:
    """A metav1.Status; one that is not JSON at all is shown as it is."""
    try:
        status = _STATUS.decode(body)
    except msgspec.DecodeError:
        return ApiStatus(0, "", body[:200].decode(errors="replace"))
    return ApiStatus(status.code, status.reason, status.message)


def split_event(line: bytes) -> tuple[str, msgspec.Raw]:
    """Type and undecoded object of a watch line. Raises msgspec.DecodeError for a line that is cut or no event."""
    head = _HEAD.decode(line)
    return head.type, head.object


def split_list(page: bytes) -> tuple[list[msgspec.Raw], wire.ListMeta]:
    """Undecoded objects and metadata of a page. Raises msgspec.DecodeError for one that is cut or no list."""
    head = _LIST.decode(page)
    return head.items, head.metadata


def bookmark_version(obj: msgspec.Raw) -> str:
    """The version a bookmark carries."""
    return _VERSIONED.decode(obj).metadata.resource_version
