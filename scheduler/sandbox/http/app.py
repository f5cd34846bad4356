"""The aiohttp application, and a server for it on loopback. Plain HTTP; a bearer token is asked for when tokens are given."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

from aiohttp import web

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.errors import ApiError, no_such_resource
from scheduler.sandbox.fields import JsonObject
from scheduler.sandbox.http import discovery, openapi
from scheduler.sandbox.http.bodies import answer, failure, parse_accept
from scheduler.sandbox.http.handlers import CLUSTER, serve_objects
from scheduler.sandbox.http.watching import STREAMS, Streams

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_MAX_BODY_BYTES = 3 * 1024 * 1024  # the server's own limit
_PROBES = ("/healthz", "/livez", "/readyz")


def make_app(cluster: Cluster, tokens: Collection[str] = ()) -> web.Application:
    """An application that serves a cluster. With tokens, a request without one of them gets 401."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Authentication, and refusals as Status bodies."""
        try:
            if tokens and request.path not in _PROBES:
                _authenticate(request, tokens)
            return await handler(request)
        except ApiError as error:
            return failure(error)

    app = web.Application(middlewares=[guard], client_max_size=_MAX_BODY_BYTES)
    app[CLUSTER] = cluster
    app[STREAMS] = Streams()
    app.on_shutdown.append(_close_watches)
    for path in _PROBES:
        app.router.add_get(path, _serve_probe)
    app.router.add_get("/version", _serve_version)
    app.router.add_get("/api", _serve_core_discovery)
    app.router.add_get("/apis", _serve_groups)
    app.router.add_get("/apis/{group}", _serve_group)
    app.router.add_get("/api/{version}", _serve_resources)
    app.router.add_get("/apis/{group}/{version}", _serve_resources)
    app.router.add_get("/openapi/v3", _serve_openapi_index)
    app.router.add_get("/openapi/v3/{path:.+}", _serve_openapi)
    app.router.add_route("*", "/{path:.*}", serve_objects)
    return app


@asynccontextmanager
async def serve(
    cluster: Cluster, host: str = "127.0.0.1", port: int = 0, tokens: Collection[str] = ()
) -> AsyncIterator[str]:
    """Serve a cluster while the context is open; yields the URL. Port 0 takes a free one."""
    runner = web.AppRunner(make_app(cluster, tokens), handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    try:
        yield f"http://{host}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def _authenticate(request: web.Request, tokens: Collection[str]) -> None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or token not in tokens:
        raise ApiError(401, "Unauthorized", "Unauthorized")


async def _close_watches(app: web.Application) -> None:
    app[STREAMS].close()


async def _serve_probe(_: web.Request) -> web.Response:
    return web.Response(text="ok")


async def _serve_version(_: web.Request) -> web.Response:
    return answer(discovery.VERSION)


async def _serve_core_discovery(request: web.Request) -> web.Response:
    return _discovery(request, discovery.core_versions(), core=True)


async def _serve_groups(request: web.Request) -> web.Response:
    return _discovery(request, discovery.group_list(request.app[CLUSTER].resources), core=False)


def _discovery(request: web.Request, old_form: JsonObject, *, core: bool) -> web.Response:
    if discovery.wants_aggregated(parse_accept(request.headers.get("Accept", ""))):
        body = discovery.aggregated(request.app[CLUSTER].resources, core=core)
        return answer(body, content_type=discovery.AGGREGATED)
    return answer(old_form)


async def _serve_group(request: web.Request) -> web.Response:
    return _or_not_found(discovery.group(request.match_info["group"], request.app[CLUSTER].resources))


async def _serve_resources(request: web.Request) -> web.Response:
    group, version = request.match_info.get("group", ""), request.match_info["version"]
    return _or_not_found(discovery.resource_list(group, version, request.app[CLUSTER].resources))


async def _serve_openapi_index(request: web.Request) -> web.Response:
    cluster = request.app[CLUSTER]
    return answer(openapi.index(cluster.resources, cluster.registry))


async def _serve_openapi(request: web.Request) -> web.Response:
    cluster = request.app[CLUSTER]
    return _or_not_found(openapi.document(request.match_info["path"], cluster.resources, cluster.registry))


def _or_not_found(body: JsonObject | None) -> web.Response:
    if body is None:
        raise no_such_resource()
    return answer(body)
