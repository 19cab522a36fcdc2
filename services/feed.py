"""Telling open streams that their games went on.

The bus wakes and brings events into memory; how far a game has come is told by bus and log alike. A stream that finds
less in memory reads the log, so an event that the bus lost, cut off or told twice is sent once and in order. Heads of
watched games are compared with the log as well, so a lost last event is late, never lost.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from msgspec import Struct, field

from services.ports import BusReader, FeedEntry, GameLog, Unavailable

RECHECK_S = 1.0  # how late an event may be that the bus has lost
_RETRY_S = 0.5

_log = logging.getLogger(__name__)


class Listener(Protocol):
    """Who wants to know how a game goes on."""

    def hear(self, head: int) -> None:
        """Is told how far the game has come. It does not wait, does not raise and ends no watch."""
        ...


class _Watched(Struct):
    """A game with open streams. head: the highest version that anybody has told of."""

    head: int = 0
    waiting: set[Listener] = field(default_factory=set)


class Feed:
    """The watched games of one process and who waits for each."""

    def __init__(self, log: GameLog, offer: Callable[[FeedEntry], None]) -> None:
        self._log = log
        self._offer = offer
        self._watched: dict[str, _Watched] = {}

    @contextmanager
    def watch(self, game_id: str, listener: Listener) -> Iterator[None]:
        """Has somebody told of a game as long as the block lasts."""
        watched = self._watched.setdefault(game_id, _Watched())
        watched.waiting.add(listener)
        try:
            yield
        finally:
            watched.waiting.discard(listener)
            if not watched.waiting:
                del self._watched[game_id]

    def head(self, game_id: str) -> int:
        """Gives the highest version of a watched game that anybody has told of; 0 where nobody has yet."""
        return self._watched[game_id].head

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
                    for game_id, head in {entry.game_id: entry.version for entry in batch}.items():
                        self._tell(game_id, head)
            except Unavailable as lost:
                _log.warning("the bus is away; streams read the log every second: %s", lost)
            await asyncio.sleep(_RETRY_S)

    async def _compare_heads(self) -> None:
        while True:
            await asyncio.sleep(RECHECK_S)
            try:
                heads = await self._log.heads(list(self._watched)) if self._watched else {}
            except Unavailable:
                continue
            for game_id, head in heads.items():
                self._tell(game_id, head)

    def _tell(self, game_id: str, head: int) -> None:
        watched = self._watched.get(game_id)
        if watched is not None and head > watched.head:
            watched.head = head
            for listener in watched.waiting:
                listener.hear(head)
