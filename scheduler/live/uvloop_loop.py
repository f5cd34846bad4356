"""uvloop, made safe for connections that break while they are opened. Imported only where uvloop is installed."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, TypeVar

import uvloop

P = TypeVar("P", bound=asyncio.BaseProtocol)


class UvloopLoop(uvloop.Loop):
    """uvloop's loop, except that a socket it is given has one owner.

    aiohttp opens sockets in Python and gives them to the loop. libuv closes the descriptor itself when the connection breaks or
    is cancelled during its first moments, and the Python object may close the same number again when it is freed: by then it is
    another connection's. Watching a descriptor that was closed so makes libuv abort the process, without a word.
    """

    # The many options are passed on as they are; uvloop's stub promises less than it returns.
    async def create_connection(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], P],
        *args: Any,
        sock: socket.socket | None = None,
        **options: Any,
    ) -> tuple[asyncio.BaseTransport, P]:
        """As in asyncio; `sock` is the loop's from here on, whatever comes of the connection."""
        try:
            return await super().create_connection(protocol_factory, *args, sock=sock, **options)  # type: ignore[return-value]
        finally:
            if sock is not None:
                sock.detach()
