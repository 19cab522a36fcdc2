"""Telling open streams that their games went on.

The bus only wakes: a stream always reads the game itself, so an event that the bus lost or told twice is sent once
and in order. Heads of watched games are compared with the log as well, so a lost last event is late, never lost.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.ports import BusReader, FeedEntry, GameLog, Unavailable

RECHECK_S = 1.0  # how late an event may be that the bus has lost
_RETRY_S = 0.5

_log = logging.getLogger(__name__)


class Feed:
    """The watched games of one process and who waits for each."""

    def __init__(self, log: GameLog, offer: Callable[[FeedEntry], None]) -> None:
        self._log = log
        self._offer = offer
        self._watchers: dict[str, set[asyncio.Event]] = defaultdict(set)

    @asynccontextmanager
    async def watch(self, game_id: str) -> AsyncIterator[asyncio.Event]:
        """Gives an event that is set whenever the game may have gone on; its holder clears it before reading."""
        news = asyncio.Event()
        self._watchers[game_id].add(news)
        try:
            yield news
        finally:
            self._watchers[game_id].discard(news)
            if not self._watchers[game_id]:
                del self._watchers[game_id]

    async def run(self, bus: BusReader) -> None:
        """Follows bus and log until cancelled; while one of them is away the other carries on."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._follow_bus(bus))
            both.create_task(self._compare_heads())

    async def _follow_bus(self, bus: BusReader) -> None:
        while True:
            try:
                async for batch in bus.entries():
                    for entry in batch:
                        self._offer(entry)
                    for game_id in {entry.game_id for entry in batch}:
                        self._wake(game_id)
            except Unavailable:
                _log.warning("the bus is away; streams read the log every second")
            await asyncio.sleep(_RETRY_S)

    async def _compare_heads(self) -> None:
        heads: dict[str, int] = {}
        while True:
            await asyncio.sleep(RECHECK_S)
            try:
                now = await self._log.heads(list(self._watchers)) if self._watchers else {}
            except Unavailable:
                continue
            for game_id, head in now.items():
                if heads.get(game_id) != head:
                    self._wake(game_id)
            heads = now

    def _wake(self, game_id: str) -> None:
        for news in self._watchers.get(game_id, ()):
            news.set()
