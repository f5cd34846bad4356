"""HTTP to the API server: three methods over one aiohttp session. What is sent and what an answer means is others' business."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import aiohttp

from scheduler.live.credentials import Connection
from scheduler.live.errors import NoAnswerError, RefusedError, SetupError, UntrustedServerError
from scheduler.objects.stream import decode_status

_HEADERS = {"User-Agent": "berth", "Accept": "application/json", "Accept-Encoding": "identity"}
_CONNECT_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer, of whatever status."""

    status: int
    body: bytes
    retry_after: float | None


class Transport(Protocol):
    """The way to the API server."""

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = "application/json",
        limit: float = 30.0,
    ) -> Response:
        """One request and its answer. Raises NoAnswerError."""

    def stream(self, path: str, *, read_timeout: float) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """A streamed answer, piece by piece. Raises RefusedError for an answer that is no success, and NoAnswerError."""

    async def close(self) -> None:
        """Give up all connections."""


class ConnectionSource(Protocol):
    """Where connections come from; asked again after a 401."""

    async def load(self) -> Connection:
        """The connection as it is now. Raises SetupError."""


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    body: bytes | None
    content_type: str
    limit: float


class HttpTransport:
    """A session of its own for each purpose, so that one that is busy does not hold up another."""

    def __init__(self, credentials: ConnectionSource, connections: int) -> None:
        self._credentials = credentials
        self._connections = connections
        self._connection: Connection | None = None
        self._session: aiohttp.ClientSession | None = None
        self._loading = asyncio.Lock()

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = "application/json",
        limit: float = 30.0,
    ) -> Response:
        """One request; after a 401 the credentials are read again and the request is sent once more."""
        request = _Request(method, path, body, content_type if body is not None else "", limit)
        connection = await self._ready()
        response = await self._once(request, connection)
        if response.status == 401:
            self._forget(connection)
            response = await self._once(request, await self._ready())
        return response

    @asynccontextmanager
    async def stream(self, path: str, *, read_timeout: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """A streamed answer; silence for longer than `read_timeout` ends it."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT, sock_read=read_timeout)
        connection = await self._ready()
        try:
            async with self._open_session().get(
                connection.server + path,
                headers=_headers(connection, ""),
                timeout=timeout,
                ssl=connection.ssl,
                server_hostname=connection.server_name,
                proxy=connection.proxy,
            ) as answer:
                if answer.status != 200:
                    if answer.status == 401:
                        self._forget(connection)
                    raise _refused(answer.status, await answer.read(), answer.headers)
                yield answer.content.iter_any()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _no_answer(connection.server, error) from error

    async def close(self) -> None:
        """Give up all connections."""
        if self._session is not None:
            await self._session.close()

    async def _once(self, request: _Request, connection: Connection) -> Response:
        timeout = aiohttp.ClientTimeout(total=request.limit, sock_connect=min(request.limit, _CONNECT_TIMEOUT))
        try:
            async with self._open_session().request(
                request.method,
                connection.server + request.path,
                data=request.body,
                headers=_headers(connection, request.content_type),
                timeout=timeout,
                ssl=connection.ssl,
                server_hostname=connection.server_name,
                proxy=connection.proxy,
            ) as answer:
                return Response(answer.status, await answer.read(), _retry_after(answer.headers))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _no_answer(connection.server, error) from error

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=self._connections)
            self._session = aiohttp.ClientSession(connector=connector, headers=_HEADERS)
        return self._session

    async def _ready(self) -> Connection:
        """The connection to use. Many calls may need a new one at once, but it is read once."""
        async with self._loading:
            if self._connection is None:
                try:
                    self._connection = await self._credentials.load()
                except SetupError as error:
                    raise NoAnswerError(str(error), sent=False) from error
            return self._connection

    def _forget(self, used: Connection) -> None:
        """These credentials were not accepted; newer ones may be there already."""
        if self._connection is used:
            self._connection = None


def _headers(connection: Connection, content_type: str) -> dict[str, str]:
    headers = {"Content-Type": content_type} if content_type else {}
    if connection.authorization:
        headers["Authorization"] = connection.authorization
    return headers


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = headers.get("Retry-After", "")
    return float(text) if text.isdigit() else None


def _refused(code: int, body: bytes, headers: Mapping[str, str]) -> RefusedError:
    status = decode_status(body)
    if not status.code:
        status = type(status)(code, status.reason, status.message)
    return RefusedError(status, _retry_after(headers))


def _no_answer(server: str, error: Exception) -> NoAnswerError:
    """Whether the request may have reached the server decides whether it must be asked what became of it."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return UntrustedServerError(f"{server}: the server's certificate is not trusted: {error.certificate_error}")
    if isinstance(error, aiohttp.ClientConnectorSSLError | ssl.SSLError):
        return UntrustedServerError(f"{server}: no TLS connection: {error}")
    # Only a connection that never came about proves that nothing was sent.
    connecting = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
    return NoAnswerError(f"{server}: {str(error) or type(error).__name__}", sent=not connecting)
