"""Who is at which table: a person is away when their open streams are closed and they have asked nothing for a while.

Every API process says whom it has seen and asks about the tables that it shows; what they say together is kept for some
seconds and forgets by itself. Where nobody keeps it, nobody is said to be away.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol, TypeAlias

from domain.state import Game, is_over
from services.listings import ListedGame, people_on
from services.ports import Unavailable
from services.tables import Tables

AWAY_S = 30.0  # after the last sign; some seconds more, as a sign is passed on every REFRESH_S only
REFRESH_S = 10.0
LOOK_S = 1.0
_TOGETHER_S = 0.05  # new signs are passed on together
_ASKED_KEPT = 10_000

Sign: TypeAlias = tuple[str, str]
"""A game and a player; the game EVERYWHERE for who follows all their games at once."""

EVERYWHERE = ""
People: TypeAlias = tuple[tuple[int, str], ...]
"""Seats that people hold, and who they are."""


class Attendance(Protocol):
    """What all processes have seen, for AWAY_S. Any call may raise Unavailable."""

    async def attend(self, signs: Collection[Sign]) -> None:
        """Keeps that these players were seen at these games."""
        ...

    async def absent(self, asked: Sequence[Sign]) -> set[Sign]:
        """Gives those who were not seen; nobody while it was not kept for so long."""
        ...


class Audience:
    """A stream that is told who comes and goes. changed: games of which it was not told everything."""

    __slots__ = ("changed", "news", "told")

    def __init__(self, news: asyncio.Event) -> None:
        self.news = news
        self.changed: set[str] = set()
        self.told: dict[str, frozenset[int]] = {}


class _Watched:
    """A game with an audience. away: the seats whose people are."""

    __slots__ = ("audiences", "away", "people")

    def __init__(self, people: People) -> None:
        self.people = people
        self.away: frozenset[int] = frozenset()
        self.audiences: set[Audience] = set()


class AtTables:
    """Whom one process has seen, and what it knows of those at the tables that it shows."""

    def __init__(self, attendance: Attendance, tables: Tables, clock: Callable[[], float] = time.monotonic) -> None:
        self._attendance = attendance
        self._tables = tables
        self._clock = clock
        self._seen: dict[Sign, float] = {}
        self._passed_on: dict[Sign, float] = {}
        self._open: Counter[Sign] = Counter()
        self._watched: dict[str, _Watched] = {}
        self._asked: dict[str, tuple[float, frozenset[str]]] = {}
        self._is_news = asyncio.Event()

    def sign(self, game_id: str, player_id: str) -> None:
        """Has seen a player at a game. Cost: an entry in a table."""
        sign, now = (game_id, player_id), self._clock()
        if now - self._seen.get(sign, -AWAY_S) >= REFRESH_S:
            self._is_news.set()
        self._seen[sign] = now

    @contextmanager
    def attending(self, game_id: str, player_id: str, news: asyncio.Event) -> Iterator[Audience]:
        """Sees a player as long as their stream is open. The audience is told of the games that it watches."""
        sign, audience = (game_id, player_id), Audience(news)
        self.sign(*sign)
        self._open[sign] += 1
        try:
            yield audience
        finally:
            self._open[sign] -= 1
            if not self._open[sign]:
                del self._open[sign]
            self.sign(*sign)
            for watched in list(audience.told):
                self.leave(audience, watched)

    def watch(self, audience: Audience, game_id: str, people: People) -> None:
        """Has an audience told of a game."""
        watched = self._watched.setdefault(game_id, _Watched(people))
        watched.audiences.add(audience)
        audience.told.setdefault(game_id, frozenset())
        if watched.away:
            audience.changed.add(game_id)

    def leave(self, audience: Audience, game_id: str) -> None:
        """Has an audience told no more of a game."""
        audience.told.pop(game_id, None)
        audience.changed.discard(game_id)
        if (watched := self._watched.get(game_id)) is not None:
            watched.audiences.discard(audience)
            if not watched.audiences:
                del self._watched[game_id]

    def changes(self, audience: Audience) -> list[tuple[str, int, bool]]:
        """Gives games, seats and whether their people are away, as far as the audience was not told."""
        changes: list[tuple[str, int, bool]] = []
        while audience.changed:
            game_id = audience.changed.pop()
            away, told = self._watched[game_id].away, audience.told[game_id]
            changes += [(game_id, seat, seat in away) for seat in sorted(away ^ told)]
            audience.told[game_id] = away
        return changes

    def away_now(self, game_id: str) -> frozenset[str]:
        """Tells who is away from a table that has an audience."""
        watched = self._watched.get(game_id)
        if watched is None:
            return frozenset()
        return frozenset(
            player for seat, player in watched.people if seat in watched.away and not self._is_here(game_id, player)
        )

    async def away(self, games: Sequence[Game | ListedGame]) -> dict[str, frozenset[str]]:
        """Tells who is away from these games' tables. Cost: at most one question a second for a game."""
        now = self._clock()
        unknown: dict[str, People] = {}
        told: dict[str, frozenset[str]] = {}
        for game in games:
            game_id, people = game.game_id, people_of(game)
            asked = self._asked.get(game_id)
            if game_id in self._watched:
                told[game_id] = self.away_now(game_id)
            elif asked is not None and now - asked[0] < LOOK_S:
                told[game_id] = frozenset(player for player in asked[1] if not self._is_here(game_id, player))
            else:
                unknown[game_id] = people
        if unknown:
            absent = await self._absent(unknown)
            if len(self._asked) > _ASKED_KEPT:
                self._asked.clear()
            for game_id, people in unknown.items():
                told[game_id] = frozenset(player for _, player in people if (game_id, player) in absent)
                self._asked[game_id] = now, told[game_id]
        return told

    async def run(self) -> None:
        """Passes on who was seen and looks who is away, until cancelled."""
        look_at = 0.0
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, look_at - self._clock())):
                    await self._is_news.wait()
            await asyncio.sleep(_TOGETHER_S)
            self._is_news.clear()
            with suppress(Unavailable):
                await self.pass_on()
            if self._clock() >= look_at:
                await self.look()
                look_at = self._clock() + LOOK_S

    async def pass_on(self) -> None:
        """Says who was seen since it was said last. Errors: Unavailable."""
        now = self._clock()
        self._seen |= dict.fromkeys(self._open, now)
        self._seen = {sign: at for sign, at in self._seen.items() if now - at < AWAY_S}
        self._passed_on = {sign: at for sign, at in self._passed_on.items() if now - at < AWAY_S}
        due = [
            sign
            for sign, at in self._seen.items()
            if (before := self._passed_on.get(sign)) is None or (at > before and now - before >= REFRESH_S)
        ]
        if due:
            await self._attendance.attend(due)
            self._passed_on |= dict.fromkeys(due, now)

    async def look(self) -> None:
        """Looks who is away from the watched tables, and tells their audiences what has changed."""
        for game_id, watched in self._watched.items():
            if (hot := self._tables.known(game_id)) is not None:
                watched.people = people_of(hot.game)
        people = {game_id: watched.people for game_id, watched in self._watched.items()}
        absent = await self._absent(people) if people else set()
        for game_id, those in people.items():
            away = frozenset(seat for seat, player in those if (game_id, player) in absent)
            if (watching := self._watched.get(game_id)) is not None and watching.away != away:
                watching.away = away
                for audience in watching.audiences:
                    audience.changed.add(game_id)
                    audience.news.set()

    async def _absent(self, people: dict[str, People]) -> set[Sign]:
        """Gives those whom nobody has seen; nobody where nobody can be asked."""
        asked = [
            (game_id, player)
            for game_id, those in people.items()
            for _, player in those
            if not self._is_here(game_id, player)
        ]
        try:
            return await self._attendance.absent(asked) if asked else set()
        except Unavailable:
            return set()

    def _is_here(self, game_id: str, player_id: str) -> bool:
        """Tells whether this process itself has seen somebody lately; it need ask nobody then."""
        sign, since = (game_id, player_id), self._clock() - AWAY_S
        return self._seen.get(sign, since) > since or sign in self._open or (EVERYWHERE, player_id) in self._open


def people_of(game: Game | ListedGame) -> People:
    """Gives the people of a game that is not over."""
    return () if is_over(game.status) else tuple(people_on(game.seats))
