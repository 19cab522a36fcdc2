"""A way to the server on which every connection is cut off after a while, in the middle of whatever was being sent."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random
from urllib.parse import urlsplit

from tests.beside import listening_beside


class CutWay:
    """`url` leads through it; `cuts` is how often it was cut."""

    def __init__(self, base_url: str, seed: int, least: int, most: int) -> None:
        self.url = ""
        self.cuts = 0
        self._server = urlsplit(base_url)
        self._random = Random(seed)
        self._bounds = least, most

    async def open(self) -> asyncio.Server:
        """Begins to take connections on a free port."""
        listener = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self.url = "http://{}:{}".format(*listener.sockets[0].getsockname())
        return listener

    async def _join(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_connection(self._server.hostname, self._server.port)
        forth = asyncio.create_task(_pass_on(client, to_server, None))
        back = asyncio.create_task(_pass_on(server, to_client, self._random.randint(*self._bounds)))
        try:
            await asyncio.wait((forth, back), return_when=asyncio.FIRST_COMPLETED)
            self.cuts += back.done() and back.result()
        finally:
            for task in (forth, back):
                task.cancel()
            for writer in (to_client, to_server):
                writer.transport.abort()


async def _pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter, at_most: int | None) -> bool:
    """Passes bytes on; tells whether there were more than may pass."""
    with suppress(OSError):
        while chunk := await source.read(65_536):
            sink.write(chunk if at_most is None else chunk[:at_most])
            await sink.drain()
            if at_most is not None:
                at_most -= len(chunk)
                if at_most < 0:
                    return True
    return False


@contextmanager
def cut_way(base_url: str, *, seed: int, least: int, most: int) -> Iterator[CutWay]:
    """Opens a way to a server; each connection is cut after `least` to `most` bytes of answers."""
    way = CutWay(base_url, seed, least, most)
    with listening_beside(way.open):
        yield way
