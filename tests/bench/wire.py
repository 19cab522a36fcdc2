"""A client that costs next to nothing, so that what is measured is the server: HTTP/1.1 by hand on one connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit


class Wire:
    """One connection of one caller; a request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self._reader, self._writer, self._host = reader, writer, host

    async def post(self, path: str, token: str, key: str, body: bytes) -> tuple[int, bytes]:
        """Sends a request with a key and gives the status and the body of the answer."""
        self._writer.write(
            f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: Bearer {token}\r\n"
            f"Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        return await self._answer()

    async def get(self, path: str, token: str, known: str) -> tuple[int, bytes]:
        """Reads what has changed since an ETag."""
        self._writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: Bearer {token}\r\n"
            f"If-None-Match: {known}\r\n\r\n".encode()
        )
        return await self._answer()

    async def _answer(self) -> tuple[int, bytes]:
        head = await self._reader.readuntil(b"\r\n\r\n")
        _, _, after = head.lower().partition(b"content-length:")
        length = int(after.split(b"\r\n", 1)[0] or 0)
        return int(head[9:12]), await self._reader.readexactly(length)


@asynccontextmanager
async def wire(base_url: str) -> AsyncIterator[Wire]:
    """Is an open connection to a server."""
    parts = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=1 << 20)
    try:
        yield Wire(reader, writer, parts.netloc)
    finally:
        writer.close()
