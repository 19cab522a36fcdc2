"""Redis asked for what nobody waits long for: limits, and who is at which table."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from redis.exceptions import ResponseError

from infra.bus.wire import Wire, words
from services.ports import Unavailable

T = TypeVar("T")

_PATIENCE_S = 0.25  # no move and no view waits longer for a Redis that does not answer
_REST_S = 1.0  # so long nobody tries again to reach a Redis that is away


class ImpatientWire:
    """A connection that is opened when it is needed; one caller at a time. lost: is told why it was given up."""

    def __init__(self, url: str, *, lost: Callable[[Exception], None] = lambda _: None) -> None:
        self._url = url
        self._lost = lost
        self._wire: Wire | None = None
        self._turn = asyncio.Lock()
        self._away_until = 0.0

    async def use(self, ask: Callable[[Wire], Awaitable[T]]) -> T:
        """Gives what is answered. Errors: Unavailable, also for what Redis refuses and while it was away just now."""
        async with self._turn:
            if time.monotonic() < self._away_until:
                raise Unavailable("Redis was away a moment ago")
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    if self._wire is None:
                        self._wire = await Wire.open(self._url)
                    return await ask(self._wire)
            except asyncio.CancelledError:
                await self.close()  # its answer would be taken for that of the next call
                raise
            except (Unavailable, TimeoutError, ResponseError) as error:
                self._lost(error)
                self._away_until = time.monotonic() + _REST_S
                await self.close()
                raise Unavailable(words(error)) from error

    async def close(self) -> None:
        """Closes the connection."""
        if self._wire is not None:
            wire, self._wire = self._wire, None
            await wire.close()
