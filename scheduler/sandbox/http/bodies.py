"""Bodies of requests and answers, and which of several forms a client wants."""

from collections.abc import Sequence
from enum import StrEnum

import msgspec
import yaml
from aiohttp import web

from scheduler.sandbox.errors import ApiError, Status, bad_request
from scheduler.sandbox.fields import Json, JsonObject
from scheduler.sandbox.http.protobuf import decode_protobuf
from scheduler.sandbox.patches import unsupported_media_type

JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"


class Form(StrEnum):
    """How an object or list is to be shown; the value is the `as` parameter of the Accept header."""

    OBJECT = ""
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"
    METADATA_LIST = "PartialObjectMetadataList"


class Accepted(msgspec.Struct, frozen=True):
    """One entry of an Accept header: the media type and its parameters."""

    media_type: str
    parameters: dict[str, str]


def parse_accept(header: str) -> list[Accepted]:
    """The entries of an Accept header, in order; weights are not looked at, clients list what they prefer first."""
    entries = []
    for part in header.split(","):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        pairs = (parameter.partition("=") for parameter in parameters)
        entries.append(Accepted(media_type, {key: value for key, _, value in pairs}))
    return entries


def wanted_form(header: str) -> Form:
    """The first form in an Accept header that can be given. Raises ApiError 406 if there is none, as for protobuf alone."""
    for entry in parse_accept(header or JSON):
        if entry.media_type not in (JSON, "*/*", "application/*", YAML):
            continue
        form = entry.parameters.get("as", "")
        if form in {known.value for known in Form}:
            return Form(form)
    message = f"only the following media types are accepted: {JSON}"
    raise ApiError(406, "NotAcceptable", message)


async def read_json(request: web.Request, accepted: Sequence[str] = (JSON, YAML, PROTOBUF)) -> Json:
    """The body as JSON, or as the YAML or protobuf that it says it is. Raises ApiError 400 or 415."""
    content_type = request.content_type
    if content_type == "application/octet-stream":  # aiohttp's word for no header at all
        content_type = JSON
    if content_type not in accepted:
        raise unsupported_media_type(accepted)
    body = await request.read()
    if content_type == PROTOBUF:
        return decode_protobuf(body)
    decode = msgspec.yaml.decode if content_type.endswith("yaml") and body.lstrip()[:1] != b"{" else msgspec.json.decode
    try:
        decoded: Json = decode(body)
    except (msgspec.MsgspecError, yaml.YAMLError) as problem:
        raise bad_request(f"the object provided is unrecognized: couldn't get version/kind; {problem}") from None
    return decoded


async def read_object(request: web.Request, accepted: Sequence[str] = (JSON, YAML, PROTOBUF)) -> JsonObject:
    """The body as a JSON object. Raises ApiError 400 or 415."""
    body = await read_json(request, accepted)
    if not isinstance(body, dict):
        raise bad_request("the object provided is unrecognized: expected an object")
    return body


def answer(body: object, code: int = 200, content_type: str = JSON) -> web.Response:
    """An answer with a JSON body."""
    return web.Response(body=msgspec.json.encode(body), status=code, headers={"Content-Type": content_type})


def failure(error: ApiError) -> web.Response:
    """The Status of a refusal, with Retry-After where it says when to come again."""
    response = answer(error.status(), error.code)
    if error.details is not None and error.details.retry_after:
        response.headers["Retry-After"] = str(error.details.retry_after)
    return response


def success(code: int) -> web.Response:
    """The Status that says that it was done."""
    return answer(Status(code=code), code)
