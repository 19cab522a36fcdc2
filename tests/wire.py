"""A way to Postgres on which a test meddles with what passes."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

READY = b"Z\x00\x00\x00\x05I"  # the server has finished a statement

_SOCKET = ".s.PGSQL.5432"


class Wire:
    """Passes bytes both ways; `url` leads through it.

    A subclass says what is passed on: `sent` and `answered` give False where the connection ends there. `notes` are
    the connection's own.
    """

    def __init__(self) -> None:
        self.url = ""
        self._writers: set[asyncio.StreamWriter] = set()

    def sent(self, chunk: bytes, notes: set[bytes]) -> bool:
        """Sees what goes to the server."""
        return True

    def answered(self, chunk: bytes, notes: set[bytes]) -> bool:
        """Sees what comes from it."""
        return True

    def cut(self) -> None:
        """Cuts all connections now."""
        for writer in self._writers:
            writer.transport.abort()

    async def join(self, server_socket: Path, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_unix_connection(str(server_socket))
        mine = {to_client, to_server}
        self._writers |= mine
        notes: set[bytes] = set()

        async def forth() -> None:
            with contextlib.suppress(OSError):  # who dies may reset the connection
                while (chunk := await client.read(65_536)) and self.sent(chunk, notes):
                    to_server.write(chunk)

        async def back() -> None:
            with contextlib.suppress(OSError):
                while (chunk := await server.read(65_536)) and self.answered(chunk, notes):
                    to_client.write(chunk)

        await asyncio.wait(
            [asyncio.create_task(forth()), asyncio.create_task(back())], return_when=asyncio.FIRST_COMPLETED
        )
        for writer in mine:
            writer.transport.abort()
        self._writers -= mine


W = TypeVar("W", bound=Wire)


@asynccontextmanager
async def opened(wire: W, url: str) -> AsyncIterator[W]:
    """Opens the way to the server at `url`, which listens at a unix socket."""
    server_socket = Path(parse_qs(urlsplit(url).query)["host"][0]) / _SOCKET
    with tempfile.TemporaryDirectory(prefix="wire-") as folder:
        wire.url = urlsplit(url)._replace(query=f"host={folder}").geturl()
        listener = await asyncio.start_unix_server(
            lambda reader, writer: wire.join(server_socket, reader, writer), f"{folder}/{_SOCKET}"
        )
        try:
            yield wire
        finally:
            wire.cut()
            listener.close()
