"""Redis asked now and then, for as long as a process lives."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from infra.bus.wire import Wire
from services.ports import Unavailable

T = TypeVar("T")


class LastingWire:
    """A connection that is opened when it is needed; one caller at a time."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._wire: Wire | None = None
        self._turn = asyncio.Lock()

    async def use(self, ask: Callable[[Wire], Awaitable[T]]) -> T:
        """Gives what is answered. A dead connection is found out by using it: then it is asked once more on a new one.

        Errors: Unavailable; those of `ask`.
        """
        async with self._turn:
            if self._wire is not None:
                with suppress(Unavailable):
                    return await ask(self._wire)
                await self.close()
            self._wire = await Wire.open(self._url)
            return await ask(self._wire)

    async def close(self) -> None:
        """Closes the connection."""
        if self._wire is not None:
            await self._wire.close()
            self._wire = None
