"""Open streams that cost next to nothing, so that what is measured is the server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import cast
from urllib.parse import urlsplit

Hear = Callable[[bytes], None]

OPENED_AT_ONCE = 50


class Listener(asyncio.Protocol):
    """Asks for a stream and hands on what comes; the greeting says that it is open."""

    def __init__(self, request: bytes, hear: Hear, is_open: asyncio.Future[None]) -> None:
        self._request, self._hear, self._is_open = request, hear, is_open

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asks for the stream."""
        cast("asyncio.Transport", transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        """Hands on what came."""
        if not self._is_open.done() and b"hello" in data:
            self._is_open.set_result(None)
        self._hear(data)


@asynccontextmanager
async def listening(base_url: str, requests: list[bytes], hear: Callable[[int, bytes], None]) -> AsyncIterator[None]:
    """Has a stream open for each request; `hear` is given its number and what it was told."""
    (host, port), loop = urlsplit(base_url).netloc.split(":"), asyncio.get_running_loop()
    transports: list[asyncio.Transport] = []
    try:
        for first in range(0, len(requests), OPENED_AT_ONCE):
            batch = [loop.create_future() for _ in requests[first : first + OPENED_AT_ONCE]]
            for number, is_open in enumerate(batch, first):
                listener = partial(Listener, requests[number], partial(hear, number), is_open)
                transport, _ = await loop.create_connection(listener, host, int(port))
                transports.append(transport)
            await asyncio.gather(*batch)
        yield
    finally:
        for opened in transports:
            opened.close()


def my_stream_request(token: str) -> bytes:
    """Writes the request for the stream of all of a player's games, from now on."""
    return f"GET /v1/me/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


def stream_request(game_id: str, token: str, after: str) -> bytes:
    """Writes the request for a game's stream from a version on."""
    return (
        f"GET /v1/games/{game_id}/stream HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {token}\r\nLast-Event-ID: {after}\r\n\r\n"
    ).encode()
