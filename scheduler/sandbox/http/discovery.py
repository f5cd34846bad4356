"""What is served where: /api, /apis and below, in the old form, resource by resource, and in the aggregated one (KEP-3352)."""

from collections.abc import Iterable

from scheduler.sandbox.fields import Json, JsonObject
from scheduler.sandbox.http.bodies import Accepted
from scheduler.sandbox.kinds import REVIEWS, STANDARD_VERBS, Resource, ResourceTable

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
VERSION: JsonObject = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.5",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "berth/sandbox",
}
_SUBRESOURCES: dict[str, tuple[str, tuple[str, ...]]] = {
    "binding": ("Binding", ("create",)),
    "eviction": ("Eviction", ("create",)),
    "finalize": ("Namespace", ("update",)),
    "resize": ("Pod", ("get", "patch", "update")),
    "status": ("", ("get", "patch", "update")),
}


def wants_aggregated(accept: Iterable[Accepted]) -> bool:
    """Whether a client takes the aggregated form in its stable version."""
    return any(e.parameters.get("as") == "APIGroupDiscoveryList" and e.parameters.get("v") == "v2" for e in accept)


def core_versions() -> JsonObject:
    """/api in the old form."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list(table: ResourceTable) -> JsonObject:
    """/apis in the old form."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(g, table) for g in _groups(table) if g]}


def group(name: str, table: ResourceTable) -> JsonObject | None:
    """/apis/GROUP; None if there is no such group."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, table)} if name in _groups(table) else None


def resource_list(name: str, version: str, table: ResourceTable) -> JsonObject | None:
    """/api/v1 or /apis/GROUP/VERSION; None if nothing is served there."""
    if version not in _groups(table).get(name, {}):
        return None
    entries: list[Json] = []
    for resource in _served(name, version, table):
        entries.append(_entry(resource))
        entries += [_subresource_entry(resource, sub) for sub in resource.subresources]
    if name in REVIEWS:
        plural, kind = REVIEWS[name]
        entries.append({"name": plural, "singularName": "", "namespaced": False, "kind": kind, "verbs": ["create"]})
    shown = f"{name}/{version}" if name else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": shown, "resources": entries}


def aggregated(table: ResourceTable, *, core: bool) -> JsonObject:
    """/api or /apis in the aggregated form."""
    items: list[Json] = [
        {
            "metadata": {"name": name} if name else {},
            "versions": [_aggregated_version(name, version, table) for version in versions],
        }
        for name, versions in _groups(table).items()
        if bool(name) != core
    ]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _groups(table: ResourceTable) -> dict[str, dict[str, None]]:
    """Versions by group, both in the order in which they are served."""
    found: dict[str, dict[str, None]] = {}
    for resource in table:
        found.setdefault(resource.group, {})[resource.version] = None
    for name in REVIEWS:
        found.setdefault(name, {})["v1"] = None
    return found


def _served(group_name: str, version: str, table: ResourceTable) -> list[Resource]:
    return [resource for resource in table if (resource.group, resource.version) == (group_name, version)]


def _group(name: str, table: ResourceTable) -> JsonObject:
    versions: list[Json] = [{"groupVersion": f"{name}/{v}", "version": v} for v in _groups(table)[name]]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _entry(resource: Resource) -> JsonObject:
    entry: JsonObject = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": [*STANDARD_VERBS],
    }
    if resource.short_names:
        entry["shortNames"] = [*resource.short_names]
    if resource.categories:
        entry["categories"] = [*resource.categories]
    return entry


def _subresource_entry(resource: Resource, subresource: str) -> JsonObject:
    kind, verbs = _SUBRESOURCES[subresource]
    entry: JsonObject = {
        "name": f"{resource.plural}/{subresource}",
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": kind or resource.kind,
        "verbs": [*verbs],
    }
    if subresource == "eviction":
        entry |= {"group": "policy", "version": "v1"}
    return entry


def _aggregated_version(group_name: str, version: str, table: ResourceTable) -> JsonObject:
    resources: list[Json] = [_aggregated_resource(resource) for resource in _served(group_name, version, table)]
    if group_name in REVIEWS:
        plural, kind = REVIEWS[group_name]
        resources.append(
            {
                "resource": plural,
                "responseKind": {"group": group_name, "version": version, "kind": kind},
                "scope": "Cluster",
                "singularResource": kind.lower(),
                "verbs": ["create"],
            }
        )
    return {"version": version, "freshness": "Current", "resources": resources}


def _aggregated_resource(resource: Resource) -> JsonObject:
    kind: JsonObject = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    entry: JsonObject = {
        "resource": resource.plural,
        "responseKind": kind,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": [*STANDARD_VERBS],
        "subresources": [
            {
                "subresource": name,
                "responseKind": {**kind, "kind": _SUBRESOURCES[name][0] or resource.kind},
                "verbs": [*_SUBRESOURCES[name][1]],
            }
            for name in resource.subresources
        ],
    }
    if resource.short_names:
        entry["shortNames"] = [*resource.short_names]
    if resource.categories:
        entry["categories"] = [*resource.categories]
    return entry
