"""Listeners between a client and a server: one in a thread of its own, beside a test that blocks; passing bytes on."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread


@contextmanager
def listening_beside(opened: Callable[[], Awaitable[asyncio.Server]]) -> Iterator[None]:
    """Opens a listener and serves it until the block ends; then every connection is ended."""
    loop = asyncio.new_event_loop()
    listener = loop.run_until_complete(opened())
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        listener.close()
        loop.run_until_complete(_end_all())
        loop.close()


async def pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Passes bytes on until there are no more, or one of the two is lost."""
    with suppress(OSError):
        while chunk := await source.read(65_536):
            sink.write(chunk)
            await sink.drain()


async def _end_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0.01)  # the sockets are closed by the loop, a round later
