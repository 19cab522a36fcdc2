"""Waking the relay after a commit."""

import asyncio
import contextlib

import asyncpg

from infra.postgres.database import LOST_AT_FIRST, SESSION
from infra.sql import statements

CHANNEL = "shanghai_events"
_PAUSE_S = 0.01  # a woken relay looks every millisecond for longer than this
_POKE = statements("log")["poke"]


class Poke:
    """Tells the relay that something was committed, on a connection of its own: a NOTIFY inside an append would
    make all appends wait for each other.

    Many calls within the pause become one. A poke that cannot be sent is dropped: the relay also looks by itself.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: asyncpg.Connection | None = None
        self._is_wanted = False
        self._sending: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def __call__(self) -> None:
        """Sends a poke soon, without waiting for it."""
        self._is_wanted = True
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_wanted())

    async def settle(self) -> None:
        """Returns when nothing is waiting to be sent: an event loop that stops now forgets no poke."""
        async with self._turn:
            if self._is_wanted:
                await self._send()

    async def close(self) -> None:
        """Sends what is wanted and closes the connection."""
        await self.settle()
        if self._sending is not None:
            self._sending.cancel()
        if self._connection is not None:
            self._connection.terminate()

    async def _send_wanted(self) -> None:
        while self._is_wanted:
            await self.settle()
            await asyncio.sleep(_PAUSE_S)

    async def _send(self) -> None:
        self._is_wanted = False
        for _ in range(2):  # a dead connection is found out by using it
            with contextlib.suppress(*LOST_AT_FIRST):
                if self._connection is None or self._connection.is_closed():
                    self._connection = await self._connect()
                await self._connection.execute(_POKE)
                return

    async def _connect(self) -> asyncpg.Connection:
        settings = {
            **SESSION,
            "application_name": "shanghai poke",
            "synchronous_commit": "off",  # a poke need not survive a crash
        }
        return await asyncpg.connect(self._url, timeout=1, command_timeout=1, server_settings=settings)
