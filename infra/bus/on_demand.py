"""Redis asked now and then, for as long as a process lives: a connection is opened when somebody asks."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from redis.exceptions import ResponseError

from infra.bus.wire import Wire, words
from services.ports import Unavailable

T = TypeVar("T")

_PATIENCE_S = 0.25  # no move and no view waits longer for a Redis that does not answer
_REST_S = 1.0  # so long nobody tries again to reach a Redis that is away


class _OnDemand:
    def __init__(self, url: str) -> None:
        self._url = url
        self._wire: Wire | None = None
        self._turn = asyncio.Lock()  # one caller at a time

    async def _opened(self) -> Wire:
        if self._wire is None:
            self._wire = await Wire.open(self._url)
        return self._wire

    async def close(self) -> None:
        """Closes the connection."""
        if self._wire is not None:
            wire, self._wire = self._wire, None
            await wire.close()


class LastingWire(_OnDemand):
    """For what somebody waits for: asked again where the connection has died."""

    async def use(self, ask: Callable[[Wire], Awaitable[T]]) -> T:
        """Gives what is answered. A dead connection is found out by using it: then it is asked once more on a new one.

        Errors: Unavailable; those of `ask`.
        """
        async with self._turn:
            if self._wire is not None:
                with suppress(Unavailable):
                    return await ask(self._wire)
                await self.close()
            return await ask(await self._opened())


class ImpatientWire(_OnDemand):
    """For what nobody waits long for: limits, and who is at which table. lost: is told why one was given up."""

    def __init__(self, url: str, *, lost: Callable[[Exception], None] = lambda _: None) -> None:
        super().__init__(url)
        self._lost = lost
        self._away_until = 0.0

    async def use(self, ask: Callable[[Wire], Awaitable[T]]) -> T:
        """Gives what is answered, within a quarter of a second.

        Errors: Unavailable, also for what Redis refuses and while it was away within the last second.
        """
        async with self._turn:
            if time.monotonic() < self._away_until:
                raise Unavailable("Redis was away a moment ago")
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    return await ask(await self._opened())
            except asyncio.CancelledError:
                await self.close()  # its answer would be taken for that of the next call
                raise
            except (Unavailable, TimeoutError, ResponseError) as error:
                self._lost(error)
                self._away_until = time.monotonic() + _REST_S
                await self.close()
                raise Unavailable(words(error)) from error
