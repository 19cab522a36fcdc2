"""What a Service is to a client: one address, behind it whoever is ready."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count

from tests.beside import listening_beside, pass_on


class Service:
    """`url` leads to one of the backends, in turn; a connection stays where it is."""

    def __init__(self) -> None:
        self.url = ""
        self.backends: list[tuple[str, int]] = []
        self._turns = count()

    async def open(self) -> asyncio.Server:
        """Begins to take connections on a free port."""
        listener = await asyncio.start_server(self._join, "127.0.0.1", 0)
        self.url = "http://{}:{}".format(*listener.sockets[0].getsockname())
        return listener

    async def _join(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        backends, writers, ways = self.backends, [to_client], set[asyncio.Task[None]]()
        try:
            with suppress(OSError, asyncio.CancelledError):  # nobody asks how it ended
                pod, to_pod = await asyncio.open_connection(*backends[next(self._turns) % len(backends)])
                writers.append(to_pod)
                ways = {asyncio.create_task(pass_on(client, to_pod)), asyncio.create_task(pass_on(pod, to_client))}
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            for writer in writers:
                writer.close()  # what was passed on is sent first


@contextmanager
def service() -> Iterator[Service]:
    """Is a Service without backends."""
    opened = Service()
    with listening_beside(opened.open):
        yield opened
