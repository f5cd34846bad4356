"""CustomResourceDefinitions: what creating one makes the server serve, and the rules of custom resources.

Schemas are kept for those who read them; objects are neither pruned, defaulted nor validated by them. Versions differ by their
apiVersion only (conversion strategy None).
"""

from scheduler.sandbox.errors import Cause, field_invalid, field_required
from scheduler.sandbox.fields import (
    Json,
    JsonObject,
    ensure_object,
    name_of,
    object_at,
    objects_at,
    strings_at,
    text_at,
    value_at,
)
from scheduler.sandbox.identity import timestamp
from scheduler.sandbox.kinds import Column, Face, Resource
from scheduler.sandbox.metadata import keep_metadata_of
from scheduler.sandbox.selectors import FieldReader, reader
from scheduler.sandbox.strategy import Lookup, Strategy, bump_generation, carry_over, keep_only


class DefinitionStrategy(Strategy):
    """Rules of CustomResourceDefinitions; a valid one is established at once."""

    def default(self, obj: JsonObject) -> None:
        names = ensure_object(obj, "spec", "names")
        kind = text_at(names, "kind")
        names.setdefault("singular", kind.lower())
        names.setdefault("listKind", f"{kind}List")
        ensure_object(obj, "spec").setdefault("conversion", {"strategy": "None"})

    def prepare_create(self, obj: JsonObject, lookup: Lookup) -> None:
        ensure_object(obj, "metadata")["generation"] = 1
        now = timestamp(lookup.now())
        conditions: list[Json] = [
            _condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
            _condition("Established", "InitialNamesAccepted", "the initial names have been accepted", now),
        ]
        stored = [v["name"] for v in objects_at(obj, "spec", "versions") if v.get("storage") is True]
        names = object_at(obj, "spec", "names")
        obj["status"] = {"acceptedNames": {**names}, "conditions": conditions, "storedVersions": stored}

    def validate(self, obj: JsonObject) -> list[Cause]:
        causes = [
            field_required(f"spec.{'.'.join(path)}")
            for path in (("group",), ("scope",), ("names", "plural"), ("names", "kind"))
            if not text_at(obj, "spec", *path)
        ]
        expected = f"{text_at(obj, 'spec', 'names', 'plural')}.{text_at(obj, 'spec', 'group')}"
        if name_of(obj) != expected:
            causes.append(field_invalid("metadata.name", name_of(obj), 'must be spec.names.plural+"."+spec.group'))
        if len([v for v in objects_at(obj, "spec", "versions") if v.get("storage") is True]) != 1:
            why = "must have exactly one version marked as storage version"
            causes.append(field_invalid("spec.versions", value_at(obj, "spec", "versions"), why))
        return causes

    def prepare_update(self, new: JsonObject, old: JsonObject) -> None:
        carry_over(new, old, "status")
        if new.get("spec") != old.get("spec"):
            bump_generation(new)


class CustomStrategy(Strategy):
    """Rules of a custom resource, with or without a status of its own."""

    unconditional_update = False

    def __init__(self, *, has_status: bool) -> None:
        self._has_status = has_status

    def prepare_create(self, obj: JsonObject, lookup: Lookup) -> None:
        ensure_object(obj, "metadata")["generation"] = 1
        if self._has_status:
            obj.pop("status", None)

    def prepare_update(self, new: JsonObject, old: JsonObject) -> None:
        if self._has_status:
            carry_over(new, old, "status")
        if _content(new) != _content(old):
            bump_generation(new)

    def prepare_status_update(self, new: JsonObject, old: JsonObject) -> None:
        keep_only(new, old, "status")
        keep_metadata_of(new, old)


def custom_resources(definition: JsonObject) -> list[Resource]:
    """One resource for each served version of a definition."""
    spec = object_at(definition, "spec")
    versions = objects_at(spec, "versions")
    stored = next(text_at(v, "name") for v in versions if v.get("storage") is True)
    return [_resource(spec, version, stored) for version in versions if version.get("served") is True]


def _resource(spec: JsonObject, version: JsonObject, stored: str) -> Resource:
    names, group = object_at(spec, "names"), text_at(spec, "group")
    has_status = value_at(version, "subresources", "status") is not None
    return Resource(
        group=group,
        version=text_at(version, "name"),
        plural=text_at(names, "plural"),
        kind=text_at(names, "kind"),
        namespaced=text_at(spec, "scope") == "Namespaced",
        strategy=CustomStrategy(has_status=has_status),
        short_names=tuple(strings_at(names, "shortNames")),
        categories=tuple(strings_at(names, "categories")),
        subresources=("status",) if has_status else (),
        fields=_selectable(version),
        face=_face(group, text_at(version, "name"), stored),
        custom=True,
        singular_name=text_at(names, "singular"),
        list_kind_name=text_at(names, "listKind"),
        columns=_columns(version),
    )


def _face(group: str, version: str, stored: str) -> Face | None:
    if version == stored:
        return None
    shown = f"{group}/{version}"
    kept = f"{group}/{stored}"
    return Face(kept, lambda obj: {**obj, "apiVersion": shown}, lambda obj: {**obj, "apiVersion": kept})


def _selectable(version: JsonObject) -> dict[str, FieldReader]:
    paths = [text_at(field, "jsonPath").lstrip(".") for field in objects_at(version, "selectableFields")]
    return {path: reader(*path.split(".")) for path in paths}


def _columns(version: JsonObject) -> tuple[tuple[Column, str], ...]:
    columns = objects_at(version, "additionalPrinterColumns") or [
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    ]
    return tuple(
        (
            Column(
                text_at(column, "name"),
                text_at(column, "type"),
                1 if column.get("priority") else 0,
                text_at(column, "format"),
                text_at(column, "description"),
            ),
            text_at(column, "jsonPath"),
        )
        for column in columns
    )


def _content(obj: JsonObject) -> JsonObject:
    return {field: value for field, value in obj.items() if field not in ("metadata", "status")}


def _condition(kind: str, reason: str, message: str, now: str) -> JsonObject:
    return {"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message}


def schemas(lookup: Lookup) -> dict[str, JsonObject]:
    """The structural schema of the stored version of each definition, by `plural.group`."""
    return {
        name_of(definition): object_at(version, "schema", "openAPIV3Schema")
        for definition in lookup.all("customresourcedefinitions.apiextensions.k8s.io")
        for version in objects_at(definition, "spec", "versions")
        if version.get("storage") is True
    }
