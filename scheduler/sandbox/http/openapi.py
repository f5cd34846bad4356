"""OpenAPI v3 documents, just enough for kubectl: which kinds there are, and that patches take `fieldValidation`.

With these, kubectl leaves validation to the server. Schemas of built-in kinds are open objects; those of custom resources are
what their definition says. There is no OpenAPI v2.
"""

import hashlib

import msgspec

from scheduler.sandbox.crds import schemas
from scheduler.sandbox.fields import Json, JsonObject
from scheduler.sandbox.kinds import Resource, ResourceTable
from scheduler.sandbox.patches import APPLY_PATCH, JSON_PATCH, MERGE_PATCH
from scheduler.sandbox.strategy import Lookup

_QUERY = ("dryRun", "fieldManager", "fieldValidation", "force")
_PATCHES = (APPLY_PATCH, JSON_PATCH, MERGE_PATCH)  # without strategic merge, kubectl uses the rules it has built in


def index(table: ResourceTable, lookup: Lookup) -> JsonObject:
    """/openapi/v3: the documents there are, each with a hash by which clients cache it."""
    paths: JsonObject = {}
    for path in dict.fromkeys(_path(resource) for resource in table):
        encoded = msgspec.json.encode(document(path, table, lookup))
        digest = hashlib.sha256(encoded).hexdigest()[:32].upper()
        paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
    return {"paths": paths}


def document(path: str, table: ResourceTable, lookup: Lookup) -> JsonObject | None:
    """/openapi/v3/PATH: one API version; None if nothing is served there."""
    served = [resource for resource in table if _path(resource) == path]
    if not served:
        return None
    custom = schemas(lookup)
    return {
        "openapi": "3.0.0",
        "info": {"title": "berth sandbox", "version": "v1.36.5"},
        "paths": {_item_path(resource): _operations(resource) for resource in served},
        "components": {"schemas": {_schema_name(r): _schema(r, custom.get(str(r.group_resource))) for r in served}},
    }


def _path(resource: Resource) -> str:
    return f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"


def _item_path(resource: Resource) -> str:
    namespace = "namespaces/{namespace}/" if resource.namespaced else ""
    return f"/{_path(resource)}/{namespace}{resource.plural}/{{name}}"


def _operations(resource: Resource) -> JsonObject:
    reference: JsonObject = {"$ref": f"#/components/schemas/{_schema_name(resource)}"}
    content: JsonObject = {"application/json": {"schema": reference}}
    answers: JsonObject = {"200": {"description": "OK", "content": content}}
    kind = _kind(resource)
    query: list[Json] = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in _QUERY]
    return {
        "get": {"x-kubernetes-action": "get", "x-kubernetes-group-version-kind": kind, "responses": answers},
        "patch": {
            "x-kubernetes-action": "patch",
            "x-kubernetes-group-version-kind": kind,
            "parameters": query,
            "requestBody": {"content": {patch: {"schema": {"type": "object"}} for patch in _PATCHES}},
            "responses": answers,
        },
    }


def _schema(resource: Resource, custom: JsonObject | None) -> JsonObject:
    schema: JsonObject = custom or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {**schema, "x-kubernetes-group-version-kind": [_kind(resource)]}


def _schema_name(resource: Resource) -> str:
    group = ".".join(reversed(resource.group.split("."))) if resource.group else "io.k8s.api.core"
    return f"{group}.{resource.version}.{resource.kind}"


def _kind(resource: Resource) -> JsonObject:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}
