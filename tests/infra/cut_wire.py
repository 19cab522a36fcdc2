"""A way to Postgres that can be cut, before a statement arrives or after its answer was given."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

SOCKET = ".s.PGSQL.5432"
_APPENDED = b"SELECT 1\x00"  # the tag of a statement that gives one row
_READY = b"Z\x00\x00\x00\x05I"  # the server has finished a statement


class CutWire:
    """Passes bytes both ways; `url` leads through it.

    swallow_answers: the next statements are carried out, but their sender loses the connection instead of the answer.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.swallow_answers = 0
        self.swallowed = 0
        self._writers: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """Cuts all connections now."""
        for writer in self._writers:
            writer.transport.abort()

    async def join(self, server_socket: Path, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_unix_connection(str(server_socket))
        mine = {to_client, to_server}
        self._writers |= mine
        with contextlib.suppress(OSError):
            await asyncio.wait(
                [
                    asyncio.create_task(self._forth(client, to_server)),
                    asyncio.create_task(self._back(server, to_client)),
                ],
                return_when=asyncio.FIRST_COMPLETED,
            )
        for writer in mine:
            writer.transport.abort()
        self._writers -= mine

    async def _forth(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while chunk := await source.read(65_536):
            sink.write(chunk)

    async def _back(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while chunk := await source.read(65_536):
            if self.swallow_answers and _APPENDED in chunk and chunk.endswith(_READY):
                self.swallow_answers -= 1
                self.swallowed += 1
                return
            sink.write(chunk)


@asynccontextmanager
async def cut_wire(url: str) -> AsyncIterator[CutWire]:
    """Opens a way that leads to the server at `url`."""
    server_socket = Path(parse_qs(urlsplit(url).query)["host"][0]) / SOCKET
    with tempfile.TemporaryDirectory(prefix="wire-") as folder:
        wire = CutWire(urlsplit(url)._replace(query=f"host={folder}").geturl())
        listener = await asyncio.start_unix_server(
            lambda reader, writer: wire.join(server_socket, reader, writer), f"{folder}/{SOCKET}"
        )
        try:
            yield wire
        finally:
            wire.cut()
            listener.close()
