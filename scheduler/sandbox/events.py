"""Events in their two forms: core/v1, in which they are stored, and events.k8s.io/v1, which is stricter with new ones."""

from scheduler.sandbox.errors import Cause, field_invalid, field_required
from scheduler.sandbox.fields import JsonObject, integer_at, name_of, namespace_of, text_at, value_at
from scheduler.sandbox.kinds import Face
from scheduler.sandbox.names import dns_subdomain, qualified_name
from scheduler.sandbox.selectors import FieldReader, reader
from scheduler.sandbox.strategy import Strategy

# Name in events.k8s.io/v1: name in core/v1. Fields with the same name in both are not listed.
_RENAMED = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedCount": "count",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedSource": "source",
}
_STORED = {core: new for new, core in _RENAMED.items()}
_NULLABLE = ("eventTime", "firstTimestamp", "lastTimestamp")
_TEXTS = ("reportingComponent", "reportingInstance")
_NAME_LIMIT = 128
_NOTE_LIMIT = 1024
_IMMUTABLE = ("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type")
_IMMUTABLE_TOO = ("eventTime", "action", "related", "reportingComponent", "reportingInstance")


class EventStrategy(Strategy):
    """Rules of events created through core/v1."""

    create_on_update = True
    reporter = "reportingComponent"

    def default(self, obj: JsonObject) -> None:
        for field in _NULLABLE:
            obj.setdefault(field, None)
        for field in _TEXTS:
            obj.setdefault(field, "")
        obj.setdefault("source", {})
        obj.setdefault("involvedObject", {})

    def validate(self, obj: JsonObject) -> list[Cause]:
        causes = _validate_common(obj, self.reporter)
        return causes + dns_subdomain("namespace", namespace_of(obj))


class StrictEventStrategy(EventStrategy):
    """Rules of events created through events.k8s.io/v1."""

    reporter = "reportingController"

    def validate(self, obj: JsonObject) -> list[Cause]:
        causes = super().validate(obj) + dns_subdomain("metadata.name", name_of(obj)) + _validate_series(obj)
        if not text_at(obj, "eventTime"):
            causes.append(field_required("eventTime"))
        kind = text_at(obj, "type")
        if kind not in ("Normal", "Warning"):
            causes.append(field_invalid("type", "", f"has invalid value: {kind}"))
        for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
            if value_at(obj, field):
                causes.append(field_invalid(field, "", "needs to be unset"))
        return causes

    def validate_update(self, new: JsonObject, old: JsonObject) -> list[Cause]:
        causes = EventStrategy.validate(self, new)
        if new.get("series") != old.get("series"):
            causes += _validate_series(new)
        for field in (*_IMMUTABLE, *_IMMUTABLE_TOO):
            if (new.get(field) or None) != (old.get(field) or None):
                shown = "reportingController" if field == "reportingComponent" else field
                causes.append(field_invalid(shown, new.get(field), "field is immutable"))
        return causes


def _show(stored: JsonObject) -> JsonObject:
    shown = {_STORED.get(field, field): value for field, value in stored.items() if value or field not in _TEXTS}
    shown["apiVersion"] = "events.k8s.io/v1"
    return shown


def _take(received: JsonObject) -> JsonObject:
    return {_RENAMED.get(field, field): value for field, value in received.items()}


EVENTS_V1 = Face(stored_version="v1", show=_show, take=_take)

_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


def _read_source(event: JsonObject) -> str:
    return text_at(event, "source", "component") or text_at(event, "reportingComponent")


CORE_FIELDS: dict[str, FieldReader] = {
    **{f"involvedObject.{part}": reader("involvedObject", part) for part in _INVOLVED},
    "reason": reader("reason"),
    "reportingComponent": reader("reportingComponent"),
    "source": _read_source,
    "type": reader("type"),
}
NEW_FIELDS: dict[str, FieldReader] = {
    **{f"regarding.{part}": reader("involvedObject", part) for part in _INVOLVED},
    "reason": reader("reason"),
    "reportingController": reader("reportingComponent"),
    "type": reader("type"),
}


def _validate_common(event: JsonObject, reporter: str) -> list[Cause]:
    """What holds for both forms (legacyValidateEvent)."""
    namespace, involved = namespace_of(event), text_at(event, "involvedObject", "namespace")
    mismatch = [field_invalid("involvedObject.namespace", involved, "does not match event.namespace")]
    if not text_at(event, "eventTime"):
        agrees = involved == namespace or (not involved and namespace in ("", "default"))
        return [] if agrees else mismatch
    causes = mismatch if not involved and namespace not in ("default", "kube-system") else []
    controller = text_at(event, "reportingComponent")
    if not controller:
        causes.append(field_required(reporter))
    causes += qualified_name(reporter, controller)
    for field in ("reportingInstance", "action", "reason"):
        if not text_at(event, field):
            causes.append(field_required(field))
        if len(text_at(event, field)) > _NAME_LIMIT:
            causes.append(field_invalid(field, "", f"can have at most {_NAME_LIMIT} characters"))
    if len(text_at(event, "message").encode()) > _NOTE_LIMIT:
        causes.append(field_invalid("message", "", f"can have at most {_NOTE_LIMIT} characters"))
    return causes


def _validate_series(event: JsonObject) -> list[Cause]:
    if event.get("series") is None:
        return []
    causes: list[Cause] = []
    if (integer_at(event, "series", "count") or 0) < 2:
        causes.append(field_invalid("series.count", "", "should be at least 2"))
    if not text_at(event, "series", "lastObservedTime"):
        causes.append(field_required("series.lastObservedTime"))
    return causes
