"""A client that sends whatever bytes it likes to a real server, and reads no more than it wants to."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from tests.api.world import Player

GET = "GET /v1/meta HTTP/1.1", "Host: x"


PATIENCE_S = 10.0


class RawClient:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, *lines: str | bytes, body: bytes = b"") -> None:
        """Sends a request's lines as they are, then a body."""
        head = b"".join((line.encode() if isinstance(line, str) else line) + b"\r\n" for line in lines)
        self.writer.write(head + b"\r\n" + body)

    async def answer(self) -> tuple[int, bytes]:
        """Reads one answer of known length: status and body; status 0 where the connection ends before."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                return 0, b""
            length = re.search(rb"content-length: (\d+)", head.lower())
            return int(head[9:12]), await self.reader.readexactly(int(length[1]) if length else 0)

    async def is_closed(self) -> bool:
        """Waits for the end of the connection; what comes before is thrown away."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                while await self.reader.read(65_536):
                    pass
            except ConnectionError:
                pass
        return True


@asynccontextmanager
async def raw_client(base_url: str, *, takes: int = 0, address: str = "127.0.0.1") -> AsyncIterator[RawClient]:
    """Is a connection to a server. takes: bytes that it keeps unread; address: whence it comes."""
    url, connection = urlsplit(base_url), socket.socket()
    if takes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, takes)
    connection.setblocking(False)
    connection.bind((address, 0))
    await asyncio.get_running_loop().sock_connect(connection, (url.hostname, url.port))
    reader, writer = await asyncio.open_connection(sock=connection, limit=takes or 2**16)
    try:
        yield RawClient(reader, writer)
    finally:
        writer.transport.abort()


async def assert_others_are_served(base_url: str) -> None:
    """Asks for something else, as somebody else."""
    async with raw_client(base_url) as other:
        other.send(*GET)
        assert (await other.answer())[0] == 200


def token_of(player: Player) -> str:
    """Gives the line of a request that names the player."""
    return f"Authorization: {player.http.headers['authorization']}"
