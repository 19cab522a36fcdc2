"""Which processes are alive: each says so in Redis, and is believed for a few seconds."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from redis.exceptions import ResponseError

from infra.beside import beside
from infra.bus.on_demand import LastingWire
from infra.bus.wire import Wire
from services.ports import Unavailable

PROCESSES = ("worker", "relay", "clock", "projector")
BELIEVED_MS = 10_000
EVERY_S = 1.0


def key_of(process: str) -> str:
    """Names the key that a living process keeps setting."""
    return f"shanghai:alive:{process}"


class Presence:
    """Asks who is alive. One connection, opened when it is needed."""

    def __init__(self, url: str) -> None:
        self._wire = LastingWire(url)
        self._since = time.monotonic()

    async def processes(self) -> dict[str, bool]:
        """Tells of each kind of process whether one is alive; of none while Redis is away."""
        try:
            return await self._wire.use(self._alive)
        except (Unavailable, ResponseError):
            return dict.fromkeys(PROCESSES, False)

    async def close(self) -> None:
        """Closes the connection."""
        await self._wire.close()

    async def _alive(self, wire: Wire) -> dict[str, bool]:
        return {process: await self._is_alive(wire, process) for process in PROCESSES}

    async def _is_alive(self, wire: Wire, process: str) -> bool:
        """Does not believe what was said before this process began: it may be from before a crash of everything."""
        age_ms = (time.monotonic() - self._since) * 1000
        left_ms = await wire.call("PTTL", key_of(process))
        said_ms = BELIEVED_MS - left_ms + 1  # ago, at most: Redis counts whole milliseconds
        return bool(left_ms > 0 and said_ms <= age_ms)


@asynccontextmanager
async def reporting(url: str, process: str) -> AsyncIterator[Callable[[], None]]:
    """Gives a function to call at each sign of life; as long as it is called, the process is reported alive."""
    alive = asyncio.Event()
    async with beside(_report(url, process, alive)):
        yield alive.set


async def _report(url: str, process: str, alive: asyncio.Event) -> None:
    while True:
        with contextlib.suppress(Unavailable, ResponseError):
            wire = await Wire.open(url)
            try:
                while True:
                    await alive.wait()
                    alive.clear()
                    await wire.call("SET", key_of(process), 1, "PX", BELIEVED_MS)
                    await asyncio.sleep(EVERY_S)
            finally:
                await wire.close()
        await asyncio.sleep(EVERY_S)
