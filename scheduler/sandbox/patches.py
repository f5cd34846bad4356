"""The four patch types: what a patch is, by its media type, and how it changes an object.

Server-side apply is accepted as a merge that adds keys; field ownership is not kept, so apply never removes a field.
"""

from collections.abc import Callable, Sequence

import jsonpatch
import msgspec

from scheduler.sandbox.errors import ApiError, bad_request
from scheduler.sandbox.fields import Json, JsonObject, copy_json
from scheduler.sandbox.strategic import strategic_merge

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY_PATCH)


class Patch(msgspec.Struct, frozen=True):
    """A patch that can be applied to an object, which it may change and must not keep; `creates` if it may make one."""

    apply: Callable[[JsonObject], JsonObject]
    creates: bool = False


def parse_patch(body: Json, content_type: str, *, custom: bool = False) -> Patch:
    """The patch in a request's body. Custom resources take no strategic merge patch. Raises ApiError 400 or 415."""
    kinds = tuple(kind for kind in PATCH_TYPES if not (custom and kind == STRATEGIC_MERGE_PATCH))
    if content_type not in kinds:
        raise unsupported_media_type(kinds)
    if content_type == JSON_PATCH:
        return Patch(lambda obj: _json_patch(obj, body))
    if not isinstance(body, dict):
        raise bad_request("error decoding patch: json: cannot unmarshal into an object")
    patch = body
    if content_type == MERGE_PATCH:
        return Patch(lambda obj: merge(obj, patch))
    if content_type == APPLY_PATCH and custom:
        return Patch(lambda obj: merge(obj, patch), creates=True)
    return Patch(lambda obj: strategic_merge(obj, patch), creates=content_type == APPLY_PATCH)


def merge(target: JsonObject, patch: JsonObject) -> JsonObject:
    """RFC 7386: null removes, objects merge, everything else replaces."""
    for field, value in patch.items():
        if value is None:
            target.pop(field, None)
        elif isinstance(value, dict):
            below = target.get(field)
            target[field] = merge(below if isinstance(below, dict) else {}, value)
        else:
            target[field] = copy_json(value)
    return target


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    """415, with what would be taken."""
    message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    return ApiError(415, "UnsupportedMediaType", message)


def _json_patch(obj: JsonObject, body: Json) -> JsonObject:
    """RFC 6902."""
    if not isinstance(body, list) or not all(isinstance(operation, dict) for operation in body):
        raise bad_request("error decoding patch: expected a list of operations")
    operations = [operation for operation in body if isinstance(operation, dict)]
    try:
        changed: JsonObject = jsonpatch.JsonPatch(operations).apply(obj)
    except jsonpatch.JsonPatchException as problem:
        raise ApiError(
            422, "Invalid", f"the server rejected our request due to an error in our request: {problem}"
        ) from None
    except (jsonpatch.JsonPointerException, TypeError) as problem:
        raise bad_request(f"error decoding patch: {problem}") from None
    return changed
