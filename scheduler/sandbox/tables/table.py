"""A metav1.Table of objects: columns by kind, or those a CustomResourceDefinition names."""

from collections.abc import Sequence
from datetime import datetime

from scheduler.sandbox.fields import Json, JsonObject, name_of
from scheduler.sandbox.kinds import Column, Resource
from scheduler.sandbox.tables.ages import age
from scheduler.sandbox.tables.jsonpath import find
from scheduler.sandbox.tables.kinds import PLAIN, ROWS

_NAME = Column("Name", format="name")


def table(
    resource: Resource, objects: Sequence[JsonObject], metadata: JsonObject, now: datetime, *, include: str = "Metadata"
) -> JsonObject:
    """The table of some objects, as the resource shows them. `include` says what each row carries: Metadata, Object or None."""
    rows: list[Json] = []
    for obj in objects:
        row: JsonObject = {"cells": _cells(resource, resource.take(obj), now)}
        if include == "Object":
            row["object"] = obj
        elif include != "None":
            row["object"] = partial_metadata(obj)
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [_definition(column) for column in _columns(resource)],
        "rows": rows,
    }


def partial_metadata(obj: JsonObject) -> JsonObject:
    """A metav1.PartialObjectMetadata."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj.get("metadata", {})}


def _columns(resource: Resource) -> tuple[Column, ...]:
    if resource.custom:
        return (_NAME, *(column for column, _ in resource.columns))
    return ROWS.get(resource.kind, PLAIN)[0]


def _cells(resource: Resource, obj: JsonObject, now: datetime) -> list[Json]:
    if resource.custom:
        return [name_of(obj), *(_custom_cell(column, find(obj, path), now) for column, path in resource.columns)]
    return ROWS.get(resource.kind, PLAIN)[1](obj, now)


def _custom_cell(column: Column, value: Json, now: datetime) -> Json:
    if column.type == "date":
        return age(value, now)
    if column.type == "string" and value is not None and not isinstance(value, str):
        return str(value)
    return value


def _definition(column: Column) -> JsonObject:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": column.description,
        "priority": column.priority,
    }
