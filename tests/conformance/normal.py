"""Takes out of an answer what differs from run to run: UIDs, versions, times, generated names, the run's own suffix."""

import re
from collections.abc import Mapping

from scheduler.sandbox.fields import Json

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_AGE = re.compile(r"\d+s")
_GENERATED = re.compile(r"\b(made-)[a-z0-9]{5}\b")
_VERSIONS_IN_TEXT = re.compile(
    r"(resource ?version: |current: |ResourceVersion in \w+ \(|object meta: |precondition: |\()(\d+)", re.IGNORECASE
)
_STORAGE_KEY = re.compile(r"Key: \S+?(/default|/conform)")
_DROPPED = ("managedFields", "selfLink")


class Normalizer:
    """Gives the same name to the same thing throughout one story."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def __call__(self, value: Json) -> Json:
        """A normalized copy of an answer."""
        return self._value(value, "")

    def _value(self, value: Json, field: str) -> Json:
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return [self._value(item, "") for item in value]
        return self._text(value, field) if isinstance(value, str) else value

    def _object(self, obj: Mapping[str, Json]) -> Json:
        listed = "items" in obj or obj.get("type") == "BOOKMARK" or obj.get("kind") == "Table"
        if isinstance(causes := obj.get("causes"), list):
            obj = {**obj, "causes": [cause for i, cause in enumerate(causes) if cause not in causes[:i]]}
        if obj.get("type") == "BOOKMARK" and isinstance(bookmark := obj["object"], dict):
            obj = {**obj, "object": {field: bookmark[field] for field in ("kind", "apiVersion", "metadata")}}
        is_column = {"format", "priority", "description"} <= obj.keys()
        shown: dict[str, Json] = {}
        for field, value in sorted(obj.items()):
            if field in _DROPPED or (is_column and field == "description"):
                continue
            if field == "metadata" and listed and isinstance(value, dict):
                shown[field] = self._value({**value, "resourceVersion": "<list>"}, field)
            else:
                shown[field] = self._value(value, field)
        return shown

    def _text(self, text: str, field: str) -> str:
        if field == "resourceVersion":
            return (
                text
                if text in ("", "<list>")
                else self._versions.setdefault(text, f"<version {len(self._versions) + 1}>")
            )
        if field == "continue":
            return "<continue>" if text else text
        text = text.partition("\n")[0].replace(self._suffix, "")
        text = _UID.sub(lambda found: self._uids.setdefault(found[0], f"<uid {len(self._uids) + 1}>"), text)
        text = "<age>" if _AGE.fullmatch(text) else text
        text = _TIME.sub("<time>", text)
        text = _GENERATED.sub(r"\1<generated>", text)
        return _VERSIONS_IN_TEXT.sub(r"\1<version>", text)
