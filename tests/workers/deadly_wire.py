"""A way to Postgres on which a process meets its end at one moment of an append: before it arrives, or after it is
committed and before anybody hears of it.
"""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import parse_qs, urlsplit

Moment: TypeAlias = Literal["sent", "committed"]

_SOCKET = ".s.PGSQL.5432"
_PARSE, _BIND = b"P", b"B"  # how a message begins that prepares a statement, and one that carries it out
_APPEND = b"INSERT INTO event"
_READY = b"Z\x00\x00\x00\x05I"  # the server has finished a statement


class DeadlyWire:
    """Passes bytes both ways; `url` leads through it. kill: called once, at the moment, in the next append."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.moment: Moment = "sent"
        self.kill: Callable[[], None] | None = None
        self.has_struck = asyncio.Event()

    def arm(self, moment: Moment, kill: Callable[[], None]) -> None:
        self.moment, self.kill = moment, kill

    async def join(self, server_socket: Path, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_unix_connection(str(server_socket))
        appends = asyncio.Event()  # one is under way on this connection
        with contextlib.suppress(OSError):
            await asyncio.wait(
                [
                    asyncio.create_task(self._forth(client, to_server, appends)),
                    asyncio.create_task(self._back(server, to_client, appends)),
                ],
                return_when=asyncio.FIRST_COMPLETED,
            )
        to_client.transport.abort()
        to_server.transport.abort()

    async def _forth(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, appends: asyncio.Event) -> None:
        name = b""
        while chunk := await source.read(65_536):
            if chunk.startswith(_PARSE) and _APPEND in chunk:
                name = chunk[5 : chunk.index(0, 5)]
            if name and chunk.startswith(_BIND) and name in chunk:
                appends.set()
                if self.moment == "sent" and self._strikes():
                    return
            sink.write(chunk)

    async def _back(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, appends: asyncio.Event) -> None:
        while chunk := await source.read(65_536):
            is_done = appends.is_set() and chunk.endswith(_READY)
            if is_done and self.moment == "committed" and self._strikes():
                return
            sink.write(chunk)

    def _strikes(self) -> bool:
        if self.kill is None:
            return False
        self.kill()
        self.kill = None
        self.has_struck.set()
        return True


@asynccontextmanager
async def deadly_wire(url: str) -> AsyncIterator[DeadlyWire]:
    """Opens a way that leads to the server at `url`."""
    server_socket = Path(parse_qs(urlsplit(url).query)["host"][0]) / _SOCKET
    with tempfile.TemporaryDirectory(prefix="wire-") as folder:
        wire = DeadlyWire(urlsplit(url)._replace(query=f"host={folder}").geturl())
        listener = await asyncio.start_unix_server(
            lambda reader, writer: wire.join(server_socket, reader, writer), f"{folder}/{_SOCKET}"
        )
        try:
            yield wire
        finally:
            listener.close()
