"""Rows of the other kinds that have columns of their own."""

from collections.abc import Callable
from datetime import datetime

from scheduler.sandbox.fields import (
    Json,
    JsonObject,
    integer_at,
    name_of,
    object_at,
    objects_at,
    string_map_at,
    text_at,
    value_at,
)
from scheduler.sandbox.kinds import Column
from scheduler.sandbox.tables import nodes, pods
from scheduler.sandbox.tables.ages import UNKNOWN, age

Row = Callable[[JsonObject, datetime], list[Json]]
_NAME = Column("Name", format="name")
_AGE = Column("Age")
_NOT_AVAILABLE = "N/A"


def _age(obj: JsonObject, now: datetime) -> str:
    return age(value_at(obj, "metadata", "creationTimestamp"), now)


def _plain(obj: JsonObject, now: datetime) -> list[Json]:
    return [name_of(obj), _age(obj, now)]


def _namespace(obj: JsonObject, now: datetime) -> list[Json]:
    return [name_of(obj), text_at(obj, "status", "phase"), _age(obj, now)]


def _lease(obj: JsonObject, now: datetime) -> list[Json]:
    return [name_of(obj), text_at(obj, "spec", "holderIdentity"), _age(obj, now)]


def _event(obj: JsonObject, now: datetime) -> list[Json]:
    """An event in its core/v1 form."""
    first = age(obj.get("firstTimestamp") or obj.get("eventTime"), now)
    last = age(obj.get("lastTimestamp"), now)
    count = integer_at(obj, "count") or 1
    if obj.get("series") is not None:
        last, count = age(value_at(obj, "series", "lastObservedTime"), now), integer_at(obj, "series", "count") or 0
    involved = object_at(obj, "involvedObject")
    target = "/".join(part for part in (text_at(involved, "kind").lower(), text_at(involved, "name")) if part)
    component = text_at(obj, "source", "component") or text_at(obj, "reportingComponent")
    host = text_at(obj, "source", "host") or text_at(obj, "reportingInstance")
    return [
        first if last == UNKNOWN else last,
        text_at(obj, "type"),
        text_at(obj, "reason"),
        target,
        text_at(involved, "fieldPath"),
        ", ".join(part for part in (component, host) if part),
        text_at(obj, "message").strip(),
        first,
        count,
        name_of(obj),
    ]


def _priority_class(obj: JsonObject, now: datetime) -> list[Json]:
    value, policy = integer_at(obj, "value") or 0, text_at(obj, "preemptionPolicy")
    return [name_of(obj), value, obj.get("globalDefault") is True, _age(obj, now), policy]


def _budget(obj: JsonObject, now: datetime) -> list[Json]:
    bounds = [value_at(obj, "spec", field) for field in ("minAvailable", "maxUnavailable")]
    shown: list[Json] = [_NOT_AVAILABLE if bound is None else str(bound) for bound in bounds]
    return [name_of(obj), *shown, integer_at(obj, "status", "disruptionsAllowed") or 0, _age(obj, now)]


def _config_map(obj: JsonObject, now: datetime) -> list[Json]:
    return [name_of(obj), len(object_at(obj, "data")) + len(object_at(obj, "binaryData")), _age(obj, now)]


def _secret(obj: JsonObject, now: datetime) -> list[Json]:
    return [name_of(obj), text_at(obj, "type"), len(object_at(obj, "data")), _age(obj, now)]


def _count(obj: JsonObject, field: str) -> int:
    return integer_at(obj, "status", field) or 0


def _containers(obj: JsonObject) -> list[Json]:
    containers = objects_at(obj, "spec", "template", "spec", "containers")
    return [",".join(text_at(c, "name") for c in containers), ",".join(text_at(c, "image") for c in containers)]


def _selector(obj: JsonObject) -> str:
    """The labels of spec.selector; expressions are not shown."""
    return ",".join(f"{key}={value}" for key, value in string_map_at(obj, "spec", "selector", "matchLabels").items())


def _deployment(obj: JsonObject, now: datetime) -> list[Json]:
    ready = f"{_count(obj, 'readyReplicas')}/{integer_at(obj, 'spec', 'replicas') or 0}"
    counts: list[Json] = [_count(obj, "updatedReplicas"), _count(obj, "availableReplicas")]
    return [name_of(obj), ready, *counts, _age(obj, now), *_containers(obj), _selector(obj)]


def _replica_set(obj: JsonObject, now: datetime) -> list[Json]:
    counts: list[Json] = [
        integer_at(obj, "spec", "replicas") or 0,
        _count(obj, "replicas"),
        _count(obj, "readyReplicas"),
    ]
    return [name_of(obj), *counts, _age(obj, now), *_containers(obj), _selector(obj)]


def _definition(obj: JsonObject, _: datetime) -> list[Json]:
    return [name_of(obj), value_at(obj, "metadata", "creationTimestamp")]


_WORKLOAD_TAIL = (Column("Containers", priority=1), Column("Images", priority=1), Column("Selector", priority=1))
_WIDE = 1
PLAIN: tuple[tuple[Column, ...], Row] = ((_NAME, _AGE), _plain)
ROWS: dict[str, tuple[tuple[Column, ...], Row]] = {
    "Pod": (pods.COLUMNS, pods.row),
    "Node": (nodes.COLUMNS, nodes.row),
    "Namespace": ((_NAME, Column("Status"), _AGE), _namespace),
    "Lease": ((_NAME, Column("Holder"), _AGE), _lease),
    "Event": (
        (
            Column("Last Seen"),
            Column("Type"),
            Column("Reason"),
            Column("Object"),
            Column("Subobject", priority=_WIDE),
            Column("Source", priority=_WIDE),
            Column("Message"),
            Column("First Seen", priority=_WIDE),
            Column("Count", "integer", priority=_WIDE),
            Column("Name", priority=_WIDE, format="name"),
        ),
        _event,
    ),
    "PriorityClass": (
        (
            _NAME,
            Column("Value", "integer"),
            Column("Global-Default", "boolean"),
            _AGE,
            Column("PreemptionPolicy", priority=_WIDE),
        ),
        _priority_class,
    ),
    "PodDisruptionBudget": (
        (_NAME, Column("Min Available"), Column("Max Unavailable"), Column("Allowed Disruptions", "integer"), _AGE),
        _budget,
    ),
    "ConfigMap": ((_NAME, Column("Data"), _AGE), _config_map),
    "Secret": ((_NAME, Column("Type"), Column("Data"), _AGE), _secret),
    "Deployment": (
        (_NAME, Column("Ready"), Column("Up-to-date"), Column("Available"), _AGE, *_WORKLOAD_TAIL),
        _deployment,
    ),
    "ReplicaSet": (
        (
            _NAME,
            Column("Desired", "integer"),
            Column("Current", "integer"),
            Column("Ready", "integer"),
            _AGE,
            *_WORKLOAD_TAIL,
        ),
        _replica_set,
    ),
    "CustomResourceDefinition": ((_NAME, Column("Created At", "date")), _definition),
}
