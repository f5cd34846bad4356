"""What a URL asks for (apiserver's request info): API group, namespace, resource, name, subresource, and list options."""

from collections.abc import Mapping

import msgspec
from aiohttp import web

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import bad_request, no_such_resource
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.listing import ListOptions

_BELOW_A_NAMESPACE_ITSELF = ("status", "finalize")


class Target(msgspec.Struct, frozen=True):
    """The part of the API that a path names. `resource` None: a create-only resource without storage, called `plural`."""

    group: str
    version: str
    plural: str
    resource: Resource | None
    namespace: str | None = None
    name: str = ""
    subresource: str = ""


def parse_target(path: str, cluster: Cluster) -> Target:
    """The target of `/api/v1/...` or `/apis/group/version/...`.

    Raises ApiError 404 for a resource, and the plain HTTPNotFound for an API version, that is not served.
    """
    root, *parts = path.strip("/").split("/")
    if root == "api" and len(parts) >= 2:
        group, (version, *parts) = "", parts
    elif root == "apis" and len(parts) >= 3:
        group, version, *parts = parts
    else:
        raise no_such_resource()
    namespace: str | None = None
    if parts[0] == "namespaces" and len(parts) > 2 and parts[2] not in _BELOW_A_NAMESPACE_ITSELF:
        namespace, parts = parts[1], parts[2:]
    plural, name, subresource = (*parts, "", "")[:3]
    resource = cluster.resources.at(group, version, plural)
    if resource is None and not cluster.resources.serves(group, version):
        raise web.HTTPNotFound(text="404 page not found\n")
    if resource is not None and len(parts) > 3:
        raise no_such_resource()
    if resource is not None and (subresource and subresource not in resource.subresources):
        raise no_such_resource()
    return Target(group, version, plural, resource, namespace, name, subresource)


def parse_list_options(target: Target, query: Mapping[str, str]) -> ListOptions:
    """List options of a query string; a name in the path narrows a watch to one object."""
    field_selector = query.get("fieldSelector", "")
    if target.name:
        field_selector = f"metadata.name={target.name}"
    return ListOptions(
        namespace=target.namespace,
        label_selector=query.get("labelSelector", ""),
        field_selector=field_selector,
        limit=number(query, "limit"),
        continue_token=query.get("continue", ""),
        resource_version=query.get("resourceVersion", ""),
        resource_version_match=query.get("resourceVersionMatch", ""),
    )


def is_true(query: Mapping[str, str], name: str) -> bool:
    """A Boolean parameter; `?watch` without a value counts as true, as Go's conversion has it."""
    return name in query and query[name].lower() not in ("false", "0")


def timeout_seconds(query: Mapping[str, str], default: int) -> int:
    """timeoutSeconds, or the default where it is absent or 0."""
    return number(query, "timeoutSeconds") or default


def number(query: Mapping[str, str], name: str) -> int:
    """An integer parameter; 0 where it is absent. Raises ApiError 400."""
    text = query.get(name, "") or "0"
    try:
        return int(text)
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None
