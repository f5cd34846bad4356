"""What extenders answer. As Go reads it: keys in any case, null for nothing, unknown fields skipped."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from scheduler.config import Extender

# extender/v1 counts to 10, plugins count to 100.
_SCALE = 10
# Beyond this, scores could not be added up any more.
_LARGEST_TOTAL = 2**53
# Large answers are not copied to see whether they are null.
_LONGEST_NULL = 64

T = TypeVar("T")


class AnswerError(ValueError):
    """An answer that cannot be used; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """ExtenderFilterResult: the nodes that are left, and why others are not; of those that are unresolvable preemption would not
    make anything better.
    """

    node_names: list[str]
    failed: Mapping[str, str]
    unresolvable: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NamedVictims:
    """Victims on a node by UID."""

    uids: tuple[str, ...]
    violations: int


def filtered(extender: Extender, body: bytes) -> Filtered:
    """The answer of filter. Raises AnswerError, also for what the extender calls an error itself."""
    fields = _checked_fields(body)
    names = _read(fields.get("nodenames"), list[str]) if extender.node_cache_capable else None
    if names is None:
        items = _read(_fields(fields.get("nodes")).get("items"), list[msgspec.Raw])
        names = [_name(item) for item in items or ()]
    failed = _read(fields.get("failednodes"), dict[str, str])
    unresolvable = _read(fields.get("failedandunresolvablenodes"), dict[str, str])
    return Filtered(names, failed or {}, unresolvable or {})


def scores(extender: Extender, body: bytes) -> dict[str, int]:
    """The answer of prioritize: what is added to the total of each node, in the units of plugins. Raises AnswerError."""
    totals: dict[str, int] = {}
    for entry in _read(msgspec.Raw(body), list[dict[str, object]]) or ():
        fields = {key.lower(): value for key, value in entry.items()}
        name, score = fields.get("host") or "", fields.get("score") or 0
        if not isinstance(name, str) or not isinstance(score, int) or isinstance(score, bool):
            raise AnswerError(f"found host {name!r} with score {score!r}, allowed: a name and an integer")
        totals[name] = totals.get(name, 0) + score * extender.weight * _SCALE
        if abs(totals[name]) > _LARGEST_TOTAL:
            raise AnswerError(f"score of node {name}: found {score}, allowed: 0 to 10")
    return totals


def check_bound(body: bytes) -> None:
    """The answer of bind. Raises AnswerError if the pod was not bound."""
    _checked_fields(body)


def candidates(body: bytes) -> dict[str, NamedVictims]:
    """The answer of preempt: victims by node. Raises AnswerError."""
    nodes = _read(_fields(msgspec.Raw(body)).get("nodenametometavictims"), dict[str, msgspec.Raw])
    return {name: _victims(raw) for name, raw in (nodes or {}).items()}


def _victims(raw: msgspec.Raw) -> NamedVictims:
    fields = _fields(raw)
    pods = _read(fields.get("pods"), list[msgspec.Raw]) or ()
    uids = tuple(_read(_fields(pod).get("uid"), str) or "" for pod in pods)
    return NamedVictims(uids, _read(fields.get("numpdbviolations"), int) or 0)


def _name(node: msgspec.Raw) -> str:
    return _read(_fields(_fields(node).get("metadata")).get("name"), str) or ""


def _checked_fields(body: bytes) -> dict[str, msgspec.Raw]:
    fields = _fields(msgspec.Raw(body))
    error = _read(fields.get("error"), str)
    if error:
        raise AnswerError(error)
    return fields


def _fields(raw: msgspec.Raw | None) -> dict[str, msgspec.Raw]:
    """The fields of an object by their names in lower case, undecoded."""
    return {key.lower(): value for key, value in (_read(raw, dict[str, msgspec.Raw]) or {}).items()}


def _read(raw: msgspec.Raw | None, kind: type[T]) -> T | None:
    """A JSON value of this type; None if it is absent or null."""
    if raw is None or (memoryview(raw).nbytes < _LONGEST_NULL and bytes(raw).strip() == b"null"):
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise AnswerError(f"the answer cannot be read: {error}") from error
