"""Telling streams of people that something happened in their games, in the order of commits.

The bus wakes, the log tells: one reader for the process follows the log in its order as long as somebody has such a
stream, so what the bus lost or mixed up changes nothing. A stream holds marks only, and a bounded number of them.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from services.order import LogOrder, Mark, Place
from services.ports import Unavailable
from services.relay import Position

MARKS_AT_MOST = 2_000  # that wait for one stream; a client that is further behind reads its games anew
RECHECK_S = 1.0  # how late an event may be that the bus has lost
_BATCH = 1_000
_PAUSE_S = 0.005  # marks that come meanwhile are read together
_RETRY_S = 0.5

_log = logging.getLogger(__name__)


class Subscription:
    """What happened in a player's games and was not told yet. is_lost: there was more than can be kept."""

    __slots__ = ("_following", "game_ids", "is_lost", "news", "pending", "player_id")

    def __init__(self, following: "Following", player_id: str) -> None:
        self.player_id = player_id
        self.game_ids: set[str] = set()
        self.news = asyncio.Event()
        self.pending: deque[Mark] = deque()
        self.is_lost = False
        self._following = following

    def add(self, game_ids: Iterable[str]) -> None:
        """Has these games told from now on."""
        for game_id in game_ids:
            self.game_ids.add(game_id)
            self._following.by_game.setdefault(game_id, set()).add(self)

    def drop(self, game_id: str) -> None:
        """Has a game told no more, unless it becomes the player's own again by something that waits to be told."""
        if any((mark.game_id, mark.player_id) == (game_id, self.player_id) for mark in self.pending):
            return
        self.game_ids.discard(game_id)
        _take_out(self._following.by_game, game_id, self)

    def tell(self, mark: Mark) -> None:
        """Takes a mark, and wakes whoever waits."""
        if len(self.pending) >= MARKS_AT_MOST:
            self.is_lost = True
            self.pending.clear()
        if not self.is_lost:
            self.pending.append(mark)
        self.news.set()


class Following:
    """The streams of people in one process, and the one reader of the log behind them."""

    def __init__(self, order: LogOrder) -> None:
        self.order = order
        self.by_game: dict[str, set[Subscription]] = {}
        self._by_player: dict[str, set[Subscription]] = {}
        self._wanted = asyncio.Event()
        self._poked = asyncio.Event()
        self._place: Place | None = None

    def poke(self) -> None:
        """Says that something may have happened."""
        self._poked.set()

    @property
    def position(self) -> Position | None:
        """Gives the place up to which every subscription was told; None while nobody reads."""
        return None if self._place is None else self._place.position

    @asynccontextmanager
    async def subscribed(self, player_id: str) -> AsyncIterator[Subscription]:
        """Is a subscription to the games that become this player's from now on, and to those that are added.

        Errors: Unavailable.
        """
        own = Subscription(self, player_id)
        self._by_player.setdefault(player_id, set()).add(own)
        try:
            if self._place is None:
                await self._begin()
            self._wanted.set()
            yield own
        finally:
            _take_out(self._by_player, player_id, own)
            for game_id in own.game_ids:
                _take_out(self.by_game, game_id, own)

    async def _begin(self) -> None:
        place = await self.order.end()
        if self._place is None:  # else somebody else was faster
            self._place = place

    async def run(self) -> None:
        """Follows the log until cancelled, while somebody wants it."""
        while True:
            await self._wanted.wait()
            if not self._by_player:
                self._place = None
                self._wanted.clear()
                continue
            self._poked.clear()
            try:
                is_all = await self._read_on()
            except Unavailable:
                await asyncio.sleep(_RETRY_S)
                await self._refuse_other_generation()
                continue
            await asyncio.sleep(_PAUSE_S)
            if is_all:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(RECHECK_S):
                        await self._poked.wait()

    async def _read_on(self) -> bool:
        """Tells what is new; false where there may be more."""
        assert self._place is not None
        marks = await self.order.after(self._place.position, _BATCH)
        for mark in marks:
            if mark.player_id is not None:
                for own in self._by_player.get(mark.player_id, ()):
                    own.add([mark.game_id])
            for own in self.by_game.get(mark.game_id, ()):
                own.tell(mark)
            for player_id in mark.invited:
                for own in self._by_player.get(player_id, ()):
                    own.tell(mark)
        if marks:
            self._place = Place(self._place.generation, marks[-1].position)
        return len(marks) < _BATCH

    async def _refuse_other_generation(self) -> None:
        """Lets every stream end where the log is another one than before, as after a failover: its places differ."""
        with contextlib.suppress(Unavailable):
            place = await self.order.end()
            if self._place is not None and place.generation != self._place.generation:
                _log.warning("the log is of another generation; streams of people begin anew")
                self._place = place
                for own in [own for those in self._by_player.values() for own in those]:
                    own.is_lost = True
                    own.news.set()


def _take_out(table: dict[str, set[Subscription]], key: str, own: Subscription) -> None:
    those = table.get(key, set())
    those.discard(own)
    if not those:
        table.pop(key, None)
