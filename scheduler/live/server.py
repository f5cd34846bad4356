"""HTTP for people and probes: health, metrics, and why a pod is where it is."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import msgspec
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from scheduler.live.errors import SetupError

DEFAULT_PORT = 10259


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must be well; `problem` says why it is not."""

    name: str
    problem: str | None


class Told(msgspec.Struct, frozen=True):
    """A line of a pod's story with the time of day."""

    at: datetime
    what: str
    detail: str


class Account(msgspec.Struct, frozen=True):
    """What is known of a pod. `node` is empty while it waits."""

    namespace: str
    name: str
    uid: str
    node: str
    story: list[Told]


class Informant(Protocol):
    """Whoever can answer what is asked here."""

    def alive(self) -> Sequence[Check]:
        """Checks of which one failing means that a restart is needed."""

    def ready(self) -> Sequence[Check]:
        """Checks of which one failing means that berth cannot do its work now."""

    def why(self, namespace: str, name: str) -> Account | None:
        """A pod's story; None if the pod is not known."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    @staticmethod
    def parse(text: str) -> "Address":
        """`HOST:PORT`, `HOST`, `:PORT` or `[V6]:PORT`. Raises SetupError."""
        host, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
        if not colon:
            host, port = port or host, str(DEFAULT_PORT)
        if not port.isdecimal() or int(port) > 65535 or (":" in host and not host.startswith("[")):
            raise SetupError(f"--bind-address: found {text!r}, allowed: HOST:PORT, such as 127.0.0.1:{DEFAULT_PORT}")
        return Address(host.strip("[]") or "0.0.0.0", int(port))  # noqa: S104  what an empty host means everywhere


@asynccontextmanager
async def serve(address: Address, informant: Informant, registry: CollectorRegistry) -> AsyncIterator[Address]:
    """Answer while the context is open; gives the address with the port really taken. Raises SetupError."""
    runner = web.AppRunner(make_app(informant, registry), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, address.host, address.port).start()
        except OSError as error:
            raise SetupError(f"--bind-address {address.host}:{address.port}: {error.strerror}") from error
        yield Address(address.host, runner.addresses[0][1])
    finally:
        await runner.cleanup()


def make_app(informant: Informant, registry: CollectorRegistry) -> web.Application:
    """The application."""

    async def livez(_: web.Request) -> web.Response:
        return _verdict("livez", informant.alive())

    async def readyz(_: web.Request) -> web.Response:
        return _verdict("readyz", [*informant.alive(), *informant.ready()])

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def why(request: web.Request) -> web.Response:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        account = informant.why(namespace, name)
        if account is None:
            text = f"pod {namespace}/{name} is not known here: there is none, it has finished, or it was not seen yet\n"
            return web.Response(status=404, text=text)
        if "application/json" in request.headers.get("Accept", ""):
            return web.Response(body=msgspec.json.encode(account), content_type="application/json")
        return web.Response(text=_readable(account))

    app = web.Application()
    app.router.add_get("/livez", livez)
    app.router.add_get("/healthz", livez)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/why/{namespace}/{name}", why)
    return app


def _verdict(name: str, checks: Sequence[Check]) -> web.Response:
    """In the form of kube-apiserver's health endpoints."""
    lines = ["[+]ping ok"]
    for check in checks:
        lines.append(f"[+]{check.name} ok" if check.problem is None else f"[-]{check.name} failed: {check.problem}")
    well = all(check.problem is None for check in checks)
    lines.append(f"{name} check {'passed' if well else 'failed'}\n")
    return web.Response(status=200 if well else 503, text="\n".join(lines))


def _readable(account: Account) -> str:
    head = f"{account.namespace}/{account.name} (uid {account.uid}) on {account.node or 'no node yet'}\n"
    lines = [
        f"{told.at:%Y-%m-%dT%H:%M:%SZ}  {told.what}{': ' if told.detail else ''}{told.detail}" for told in account.story
    ]
    return "\n".join([head, *lines, ""])
