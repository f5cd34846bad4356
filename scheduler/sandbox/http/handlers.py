"""One HTTP request about objects, turned into one call of the cluster."""

from collections.abc import Mapping

from aiohttp import web

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.deletion import DeleteOptions, parse_delete_options
from scheduler.sandbox.errors import ApiError, Details, Status, method_not_allowed, no_such_resource
from scheduler.sandbox.fields import integer_at, name_of, namespace_of, object_at, uid_of
from scheduler.sandbox.http.bodies import answer, read_json, read_object, success, wanted_form
from scheduler.sandbox.http.presenting import Presenter, ordered
from scheduler.sandbox.http.requests import Target, is_true, number, parse_list_options, parse_target
from scheduler.sandbox.http.reviews import review
from scheduler.sandbox.http.watching import stream_watch
from scheduler.sandbox.kinds import Resource
from scheduler.sandbox.listing import Page
from scheduler.sandbox.patches import PATCH_TYPES
from scheduler.sandbox.pods.eviction import check_eviction

_READABLE = ("resize", "status")  # subresources that can be read and patched
CLUSTER = web.AppKey("cluster", Cluster)


async def serve_objects(request: web.Request) -> web.StreamResponse:
    """Answer a request below /api/v1 or /apis/GROUP/VERSION. Raises ApiError."""
    cluster = request.app[CLUSTER]
    target = parse_target(request.path, cluster)
    if target.resource is None:
        return await _create_only(request, cluster, target)
    match request.method:
        case "GET":
            return await _read(request, cluster, target, target.resource)
        case "POST":
            return await _create(request, cluster, target, target.resource)
        case "PUT" if target.name:
            return await _replace(request, cluster, target, target.resource)
        case "PATCH" if target.name:
            return await _patch(request, cluster, target, target.resource)
        case "DELETE":
            return await _delete(request, cluster, target, target.resource)
    raise method_not_allowed()


async def _create_only(request: web.Request, cluster: Cluster, target: Target) -> web.Response:
    """Reviews, and Bindings posted to their own collection."""
    if request.method != "POST" or target.name:
        raise no_such_resource()
    if (target.group, target.plural) == ("", "bindings") and target.namespace is not None:
        body = await read_object(request)
        cluster.bind(target.namespace, name_of(body), body, dry_run=_dry_run(request.query))
        return success(201)
    if (found := review(target.plural, await read_object(request))) is None:
        raise no_such_resource()
    return answer(found, 201)


async def _read(request: web.Request, cluster: Cluster, target: Target, resource: Resource) -> web.StreamResponse:
    options = parse_list_options(target, request.query)
    if target.subresource and target.subresource not in _READABLE:
        raise method_not_allowed()
    if is_true(request.query, "watch"):
        return await stream_watch(request, cluster, _presenter(request, cluster, resource), options)
    if target.name:
        obj = cluster.get(resource, target.namespace, target.name)
        return answer(_presenter(request, cluster, resource).object(obj))
    return answer(_presenter(request, cluster, resource).page(cluster.list_page(resource, options)))


async def _create(request: web.Request, cluster: Cluster, target: Target, resource: Resource) -> web.Response:
    dry_run = _dry_run(request.query)
    namespace = target.namespace or ""
    body = await read_object(request)
    match target.subresource:
        case "binding":
            cluster.bind(namespace, target.name, body, dry_run=dry_run)
            return success(201)
        case "eviction":
            check_eviction(target.name, body)
            cluster.evict(namespace, target.name, parse_delete_options(object_at(body, "deleteOptions")))
            return success(201)
    if target.name or (resource.namespaced and target.namespace is None):
        raise method_not_allowed()
    created = cluster.create(resource, body, namespace, dry_run=dry_run)
    return answer(_presenter(request, cluster, resource).object(created), 201)


async def _replace(request: web.Request, cluster: Cluster, target: Target, resource: Resource) -> web.Response:
    body = await read_object(request)
    changed, created = cluster.put(
        resource, target.namespace or "", target.name, body, target.subresource, dry_run=_dry_run(request.query)
    )
    return answer(_presenter(request, cluster, resource).object(changed), 201 if created else 200)


async def _patch(request: web.Request, cluster: Cluster, target: Target, resource: Resource) -> web.Response:
    if request.content_type not in PATCH_TYPES:
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", Details())
    body = await read_json(request, PATCH_TYPES)
    changed, created = cluster.apply(
        resource,
        target.namespace,
        target.name,
        body,
        request.content_type,
        subresource=target.subresource,
        dry_run=_dry_run(request.query),
    )
    return answer(_presenter(request, cluster, resource).object(changed), 201 if created else 200)


async def _delete(request: web.Request, cluster: Cluster, target: Target, resource: Resource) -> web.Response:
    if target.subresource:
        raise method_not_allowed()
    options = await _delete_options(request)
    if not target.name:
        return answer(_presenter(request, cluster, resource).page(_delete_all(request, cluster, target, options)))
    obj, gone = cluster.delete_with(resource, target.namespace, target.name, options)
    if gone and not resource.strategy.returns_deleted:
        details = Details(target.name, resource.group, resource.plural, uid=uid_of(obj))
        return answer(Status(details=details))
    return answer(ordered(obj))


def _delete_all(request: web.Request, cluster: Cluster, target: Target, options: DeleteOptions) -> Page:
    """Delete a collection, or what a selector picks of it; answers what there was."""
    resource = target.resource or target.plural
    page = cluster.list_page(resource, parse_list_options(target, request.query))
    for obj in page.items:
        cluster.delete_with(resource, namespace_of(obj), name_of(obj), options)
    return page


async def _delete_options(request: web.Request) -> DeleteOptions:
    """DeleteOptions from the body, or else from the query."""
    body = await read_object(request) if await request.read() else {}
    if "gracePeriodSeconds" in request.query and integer_at(body, "gracePeriodSeconds") is None:
        body = {**body, "gracePeriodSeconds": number(request.query, "gracePeriodSeconds")}
    if _dry_run(request.query):
        body = {**body, "dryRun": ["All"]}
    return parse_delete_options(body)


def _presenter(request: web.Request, cluster: Cluster, resource: Resource) -> Presenter:
    form = wanted_form(request.headers.get("Accept", ""))
    return Presenter(resource, form, request.query.get("includeObject", "Metadata"), cluster.registry.now())


def _dry_run(query: Mapping[str, str]) -> bool:
    return query.get("dryRun") == "All"
