"""Reading and writing JSON objects by path, with one clear error when a value has the wrong type."""

from typing import TypeAlias, cast

from scheduler.sandbox.errors import bad_request

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
JsonObject: TypeAlias = dict[str, Json]


def copy_json(value: Json) -> Json:
    """A deep copy of a JSON value."""
    if isinstance(value, dict):
        return {key: copy_json(item) if isinstance(item, dict | list) else item for key, item in value.items()}
    if isinstance(value, list):
        return [copy_json(item) if isinstance(item, dict | list) else item for item in value]
    return value


def copy_object(obj: JsonObject) -> JsonObject:
    """A deep copy of a JSON object."""
    return cast("JsonObject", copy_json(obj))


# Fields that are maps in the API's Go types: an empty one is not written.
_MAPS = frozenset(
    {
        "allocatable",
        "annotations",
        "binaryData",
        "capacity",
        "data",
        "labels",
        "limits",
        "matchLabels",
        "nodeSelector",
        "overhead",
        "requests",
        "stringData",
    }
)


def typed_copy(obj: JsonObject) -> JsonObject:
    """A deep copy as an object comes back from the server's typed decoding: without nulls, empty lists and empty maps."""
    copied: JsonObject = {}
    for field, value in obj.items():
        if isinstance(value, dict):
            if value or field not in _MAPS:
                copied[field] = typed_copy(value)
        elif isinstance(value, list):
            if value:
                copied[field] = [typed_copy(item) if isinstance(item, dict) else copy_json(item) for item in value]
        elif value is not None:
            copied[field] = value
    return copied


def value_at(obj: JsonObject, *path: str) -> Json:
    """The value at a path; None where any part of the path is absent or null."""
    found: Json = obj
    for depth, part in enumerate(path):
        if found is None:
            return None
        if not isinstance(found, dict):
            raise _wrong_type(path[:depth], "an object", found)
        found = found.get(part)
    return found


def object_at(obj: JsonObject, *path: str) -> JsonObject:
    """The object at a path; an empty one, not attached, where it is absent."""
    found = value_at(obj, *path)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _wrong_type(path, "an object", found)
    return found


def ensure_object(obj: JsonObject, *path: str) -> JsonObject:
    """The object at a path, made and attached where it is absent."""
    for depth, part in enumerate(path):
        found = obj.get(part)
        if found is None:
            found = obj[part] = {}
        if not isinstance(found, dict):
            raise _wrong_type(path[: depth + 1], "an object", found)
        obj = found
    return obj


def list_at(obj: JsonObject, *path: str) -> list[Json]:
    """The list at a path; an empty one, not attached, where it is absent."""
    found = value_at(obj, *path)
    if found is None:
        return []
    if not isinstance(found, list):
        raise _wrong_type(path, "a list", found)
    return found


def objects_at(obj: JsonObject, *path: str) -> list[JsonObject]:
    """The list of objects at a path; the objects themselves, in a new list."""
    found: list[JsonObject] = []
    for item in list_at(obj, *path):
        if not isinstance(item, dict):
            raise _wrong_type(path, "a list of objects", item)
        found.append(item)
    return found


def strings_at(obj: JsonObject, *path: str) -> list[str]:
    """The list of strings at a path, as a new list."""
    found: list[str] = []
    for item in list_at(obj, *path):
        if not isinstance(item, str):
            raise _wrong_type(path, "a list of strings", item)
        found.append(item)
    return found


def text_at(obj: JsonObject, *path: str) -> str:
    """The string at a path; empty where it is absent."""
    found = value_at(obj, *path)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise _wrong_type(path, "a string", found)
    return found


def integer_at(obj: JsonObject, *path: str) -> int | None:
    """The integer at a path; None where it is absent."""
    found = value_at(obj, *path)
    if found is None:
        return None
    if not isinstance(found, int) or isinstance(found, bool):
        raise _wrong_type(path, "an integer", found)
    return found


def string_map_at(obj: JsonObject, *path: str) -> dict[str, str]:
    """The map of strings (labels, annotations, a node selector) at a path, as a new dict."""
    found: dict[str, str] = {}
    for key, value in object_at(obj, *path).items():
        if value is not None and not isinstance(value, str):
            raise _wrong_type((*path, key), "a string", value)
        found[key] = value or ""
    return found


def labels_of(obj: JsonObject) -> dict[str, str]:
    """metadata.labels."""
    return string_map_at(obj, "metadata", "labels")


def name_of(obj: JsonObject) -> str:
    """metadata.name."""
    return text_at(obj, "metadata", "name")


def namespace_of(obj: JsonObject) -> str:
    """metadata.namespace; empty for objects of the cluster."""
    return text_at(obj, "metadata", "namespace")


def uid_of(obj: JsonObject) -> str:
    """metadata.uid."""
    return text_at(obj, "metadata", "uid")


def version_of(obj: JsonObject) -> str:
    """metadata.resourceVersion."""
    return text_at(obj, "metadata", "resourceVersion")


def is_deleting(obj: JsonObject) -> bool:
    """Whether metadata.deletionTimestamp is set."""
    return value_at(obj, "metadata", "deletionTimestamp") is not None


def _wrong_type(path: tuple[str, ...], expected: str, found: Json) -> Exception:
    return bad_request(f"{'.'.join(path)}: expected {expected}, found {type(found).__name__}")
