"""HTTP to the API server: three methods over one aiohttp session. What is sent and what an answer means is others' business."""

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


class HttpTransport:
    """A session of its own for each purpose, so that one that is busy does not hold up another."""

    def __init__(self, credentials: ConnectionSource, connections: int) -> None:
        self._credentials = credentials
        self._connections = connections
        self._connection: Connection | None = None
        self._session: aiohttp.ClientSession | None = None

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
        response = await self._once(method, path, body, content_type, limit)
        if response.status == 401:
            self._connection = None
            response = await self._once(method, path, body, content_type, limit)
        return response

    @asynccontextmanager
    async def stream(self, path: str, *, read_timeout: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """A streamed answer; silence for longer than `read_timeout` ends it."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT, sock_read=read_timeout)
        session, connection = await self._ready()
        try:
            async with session.get(
                connection.server + path,
                headers=_headers(connection, ""),
                timeout=timeout,
                ssl=connection.ssl,
                server_hostname=connection.server_name,
                proxy=connection.proxy,
            ) as answer:
                if answer.status != 200:
                    if answer.status == 401:
                        self._connection = None
                    raise _refused(answer.status, await answer.read(), answer.headers)
                yield answer.content.iter_any()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _no_answer(connection.server, error) from error

    async def close(self) -> None:
        """Give up all connections."""
        if self._session is not None:
            await self._session.close()

    async def _once(self, method: str, path: str, body: bytes | None, content_type: str, limit: float) -> Response:
        session, connection = await self._ready()
        timeout = aiohttp.ClientTimeout(total=limit, sock_connect=min(limit, _CONNECT_TIMEOUT))
        try:
            async with session.request(
                method,
                connection.server + path,
                data=body,
                headers=_headers(connection, content_type if body is not None else ""),
                timeout=timeout,
                ssl=connection.ssl,
                server_hostname=connection.server_name,
                proxy=connection.proxy,
            ) as answer:
                return Response(answer.status, await answer.read(), _retry_after(answer.headers))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _no_answer(connection.server, error) from error

    async def _ready(self) -> tuple[aiohttp.ClientSession, Connection]:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=self._connections)
            self._session = aiohttp.ClientSession(connector=connector, headers=_HEADERS)
        if self._connection is None:
            try:
                self._connection = await self._credentials.load()
            except SetupError as error:
                raise NoAnswerError(str(error), sent=False) from error
        return self._session, self._connection


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
