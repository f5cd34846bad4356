"""The protobuf that kubectl sends with `create namespace`, `create configmap`, `auth can-i`, `drain` and the like.

Only requests are read, and only of these few kinds; answers are always JSON. A field that is not known here is refused, not lost.
Field numbers are those of the API's generated.proto files.
"""

import base64
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from scheduler.sandbox.errors import bad_request
from scheduler.sandbox.fields import JsonObject, ensure_object, list_at, object_at, text_at

_MAGIC = b"k8s\0"
_VARINT, _LENGTH_DELIMITED = 0, 2


class Field(NamedTuple):
    """A field of a message: its JSON name, and how its bytes are read."""

    name: str
    kind: str = "text"
    message: "Message | None" = None
    many: bool = False


Message: TypeAlias = dict[int, Field]

_NOTHING: Message = {}
_METADATA: Message = {
    1: Field("name"),
    2: Field("generateName"),
    3: Field("namespace"),
    4: Field("selfLink"),
    5: Field("uid"),
    6: Field("resourceVersion"),
    7: Field("generation", "integer"),
    8: Field("creationTimestamp", "message", _NOTHING),
    11: Field("labels", "map"),
    12: Field("annotations", "map"),
    14: Field("finalizers", many=True),
}
_PRECONDITIONS: Message = {1: Field("uid"), 2: Field("resourceVersion")}
_DELETE_OPTIONS: Message = {
    1: Field("gracePeriodSeconds", "integer"),
    2: Field("preconditions", "message", _PRECONDITIONS),
    3: Field("orphanDependents", "boolean"),
    4: Field("propagationPolicy"),
    5: Field("dryRun", many=True),
}
_RESOURCE_ATTRIBUTES: Message = {
    number: Field(name)
    for number, name in enumerate(("namespace", "verb", "group", "version", "resource", "subresource", "name"), 1)
}
_STATUS = Field("status", "message", {1: Field("phase")})
_KINDS: dict[str, Message] = {
    "ConfigMap": {2: Field("data", "map"), 3: Field("binaryData", "bytes map"), 4: Field("immutable", "boolean")},
    "DeleteOptions": _DELETE_OPTIONS,
    "Eviction": {2: Field("deleteOptions", "message", _DELETE_OPTIONS)},
    "Namespace": {2: Field("spec", "message", {1: Field("finalizers", many=True)}), 3: _STATUS},
    "Secret": {
        2: Field("data", "bytes map"),
        3: Field("type"),
        4: Field("stringData", "map"),
        5: Field("immutable", "boolean"),
    },
    "SelfSubjectAccessReview": {
        2: Field("spec", "message", {1: Field("resourceAttributes", "message", _RESOURCE_ATTRIBUTES)}),
        3: Field(
            "status", "message", {1: Field("allowed", "boolean"), 2: Field("reason"), 3: Field("evaluationError")}
        ),
    },
    "SelfSubjectReview": {
        2: Field("status", "message", {1: Field("userInfo", "message", {1: Field("username"), 2: Field("uid")})})
    },
    "ServiceAccount": {4: Field("automountServiceAccountToken", "boolean")},
}
_TYPE: Message = {1: Field("apiVersion"), 2: Field("kind")}
_ENVELOPE: Message = {
    1: Field("type", "message", _TYPE),
    2: Field("raw", "bytes"),
    3: Field("contentEncoding"),
    4: Field("contentType"),
}


def decode_protobuf(body: bytes) -> JsonObject:
    """The object in a request's body. Raises ApiError 400 for kinds and fields that are not known here."""
    if not body.startswith(_MAGIC):
        raise bad_request("the object provided is unrecognized: not in the API's protobuf envelope")
    envelope = _decode(body[len(_MAGIC) :], _ENVELOPE, "envelope")
    about = object_at(envelope, "type")
    kind = text_at(about, "kind")
    if kind not in _KINDS:
        raise bad_request(f"the sandbox reads protobuf of {', '.join(sorted(_KINDS))}, not of {kind}; use a manifest")
    message = _KINDS[kind] if kind == "DeleteOptions" else {1: Field("metadata", "message", _METADATA), **_KINDS[kind]}
    return {**about, **_decode(base64.b64decode(text_at(envelope, "raw")), message, kind)}


def _decode(data: bytes, message: Message, where: str) -> JsonObject:
    """A message's fields by JSON name. Zero values stand for absent ones, as Go writes them for fields without a pointer."""
    decoded: JsonObject = {}
    for number, value in _fields(data):
        field = message.get(number)
        if field is None:
            if value:
                raise bad_request(f"the sandbox does not know field {number} of {where} in protobuf; use a manifest")
            continue
        _store(decoded, field, value, f"{where}.{field.name}")
    return decoded


def _store(decoded: JsonObject, field: Field, value: int | bytes, where: str) -> None:
    if isinstance(value, int):
        decoded[field.name] = bool(value) if field.kind == "boolean" else value
        return
    match field.kind:
        case "map" | "bytes map":
            entry = _decode(
                value, {1: Field("key"), 2: Field("value", "bytes" if field.kind != "map" else "text")}, where
            )
            ensure_object(decoded, field.name)[text_at(entry, "key")] = text_at(entry, "value")
        case "message":
            found = _decode(value, field.message or {}, where)
            if found:
                decoded[field.name] = found
        case _:
            text = base64.b64encode(value).decode() if field.kind == "bytes" else value.decode()
            if field.many:
                decoded[field.name] = [*list_at(decoded, field.name), text]
            elif text:
                decoded[field.name] = text


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and raw values of a message on the wire."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        value, position = _varint(data, position)
        if tag & 7 == _LENGTH_DELIMITED:
            yield tag >> 3, data[position : position + value]
            position += value
        elif tag & 7 == _VARINT:
            yield tag >> 3, value
        else:
            raise bad_request(f"unexpected wire type {tag & 7} in protobuf")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(data):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise bad_request("protobuf ends in the middle of a number")
