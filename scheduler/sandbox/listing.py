"""Lists in pages that show one moment, and watches that go on from it.

A continue token has the server's form: the version of the first page and the key to go on behind. Pages are rebuilt from the log,
so they end with 410 when it has been compacted.
"""

import base64
from collections.abc import Callable, Mapping

import msgspec

from scheduler.sandbox.errors import ApiError, Cause, Details, bad_request, expired, field_forbidden, internal, invalid
from scheduler.sandbox.fields import JsonObject
from scheduler.sandbox.identity import GroupResource, Key
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.selectors import Selection, parse_fields, parse_labels
from scheduler.sandbox.store import Collection, Store, keys_between
from scheduler.sandbox.watch import Subscription, WatchEvent

_CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the "
    "continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with "
    "the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)
_LIST_OPTIONS = GroupResource("meta.k8s.io", "ListOptions")
_INCONSISTENT = -1  # version in a token that goes on with whatever is there now


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Query parameters of a list or watch, as text; an absent one is empty, and a limit of 0 means all."""

    namespace: str | None = None
    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    resource_version_match: str = ""


class Page(msgspec.Struct, frozen=True):
    """Part of a list: objects, the version they show, the token for the next part, and how many are left if that is known.

    The objects are shared with the store and must not be changed.
    """

    items: list[JsonObject]
    resource_version: int
    continue_token: str = ""
    remaining: int | None = None


class _Token(msgspec.Struct):
    """What a continue token holds; `start` ends with a zero character, as etcd ranges begin behind a key."""

    version: str = msgspec.field(name="v")
    revision: int = msgspec.field(name="rv")
    start: str


def select(resource: Resource, options: ListOptions) -> Selection:
    """The selection that list options describe. Raises ApiError 400."""
    return Selection(
        options.namespace if resource.namespaced else None,
        parse_labels(options.label_selector),
        parse_fields(options.field_selector, resource.selectable, resource.unsupported_field),
    )


def list_page(store: Store, resource: Resource, options: ListOptions) -> Page:
    """One page of a list, oldest name first. Raises ApiError 400, 410, or 504 for a version that is not there yet."""
    selection = select(resource, options)
    collection = store.collection(resource.storage)
    revision, after = _starting_point(store, collection, options)
    objects, keys = collection.objects, collection.keys
    if revision != store.revision:
        objects = collection.at(revision)
        keys = sorted(objects)
    keys = keys_between(keys, selection.namespace, after)
    limit = 0 if options.resource_version == "0" else options.limit
    items: list[JsonObject] = []
    for position, key in enumerate(keys):
        if limit and len(items) == limit:
            token = _encode_token(revision, keys[position - 1], selection.namespace)
            remaining = None if selection.selects else len(keys) - position
            return Page(items, revision, token, remaining)
        if selection.matches(key, objects[key]):
            items.append(resource.show(objects[key]))
    return Page(items, revision)


def open_watch(
    store: Store, resource: Resource, options: ListOptions, wake: Callable[[], None] | None
) -> tuple[list[WatchEvent], Subscription]:
    """A watch and, if it starts from no particular version, the present objects as ADDED events."""
    selection = select(resource, options)
    collection = store.collection(resource.storage)
    initial: list[WatchEvent] = []
    start = _parse_version(options.resource_version)
    if start == 0:
        start = store.revision
        present = ((key, collection.objects[key]) for key in collection.keys_in(selection.namespace))
        initial = [WatchEvent("ADDED", resource.show(obj)) for key, obj in present if selection.matches(key, obj)]
    return initial, Subscription(collection, selection, resource.show, start, wake)


def bookmark(resource: Resource, revision: int, annotations: Mapping[str, str]) -> WatchEvent:
    """A BOOKMARK: everything up to this version has been sent."""
    metadata: JsonObject = {"resourceVersion": str(revision)}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return WatchEvent("BOOKMARK", {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata})


def _starting_point(store: Store, collection: Collection, options: ListOptions) -> tuple[int, Key | None]:
    """The version a list shows and the key it goes on behind."""
    if options.resource_version_match and not options.resource_version:
        why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        raise invalid(_LIST_OPTIONS, "", [field_forbidden("resourceVersionMatch", why)])
    if options.continue_token:
        return _continue(store, collection, options)
    try:
        version = _parse_version(options.resource_version)
    except ApiError as error:
        raise bad_request(f"invalid resource version: {error.message}") from None
    if version > store.revision:
        raise _too_large(version, store.revision)
    if options.resource_version_match == "Exact" and version:
        if version < collection.compacted:
            raise expired("The resourceVersion for the provided list is too old.")
        return version, None
    return store.revision, None


def _continue(store: Store, collection: Collection, options: ListOptions) -> tuple[int, Key | None]:
    if options.resource_version not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")
    token = _decode_token(options.continue_token)
    namespace, _, name = token.start.rstrip("\0").rpartition("/")
    after = Key(namespace if options.namespace is None else options.namespace, name)
    if token.revision == _INCONSISTENT:
        return store.revision, after
    if token.revision < collection.compacted:
        raise expired(_CONTINUE_EXPIRED, _encode_token(_INCONSISTENT, after, options.namespace))
    return token.revision, after


def _encode_token(revision: int, last: Key, namespace: str | None) -> str:
    start = f"{last.namespace}/{last.name}\0" if namespace is None and last.namespace else f"{last.name}\0"
    token = msgspec.json.encode(_Token("meta.k8s.io/v1", revision, start))
    return base64.urlsafe_b64encode(token).decode().rstrip("=")


def _decode_token(text: str) -> _Token:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=_Token)
    except ValueError:
        raise bad_request("continue key is not valid: illegal base64 data") from None


def _parse_version(text: str) -> int:
    if text and not text.isdecimal():
        raise internal(f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax')
    return int(text or 0)


def _too_large(version: int, current: int) -> ApiError:
    """504, as a server answers that has not seen the version yet."""
    cause = Cause("ResourceVersionTooLarge", "Too large resource version")
    message = f"Timeout: Too large resource version: {version}, current: {current}"
    return ApiError(504, "Timeout", message, Details(causes=(cause,), retry_after=1))
