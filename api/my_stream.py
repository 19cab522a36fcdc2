"""The stream of a person: all their games in one connection, each told as in its own stream, in the order of commits.

A stream holds marks of what happened, and of each game the version that was sent; the events are written from the games
in memory. Its ids are cursors of the log, so any process can go on after one.
"""

import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import closing

from api.alarms import Alarm
from api.house import House
from api.readers import BATCH
from api.stream_shapes import (
    RETRY_MS,
    GamePlace,
    Invited,
    Joined,
    Left,
    MyHeartbeat,
    MyHello,
    MyResync,
    bye_piece,
    extra,
    presence_pieces,
    resync_piece,
)
from api.streams import LATE_S, RECHECK_S, EventStream
from domain.events import GameOpened
from domain.state import is_over
from services.attendance import EVERYWHERE, Audience, people_of
from services.cursors import LATE_AT_MOST, Cursor, digest_of, write_cursor
from services.following import MARKS_AT_MOST, Subscription
from services.hot import Hot
from services.order import Mark
from services.outcomes import GameNotFound
from services.own_games import OwnGame, is_own, own_games
from services.ports import Principal, Recorded, Unavailable
from services.relay import Position
from services.rendering import has_names, names_at, seat_held_by
from services.seeing import as_listed, sees_late

MISSED_AT_MOST = MARKS_AT_MOST // 2  # a client that has missed more reads its games anew


class MyStream(EventStream, frozen=True):
    """The body of such a stream."""


async def my_story(
    house: House, caller: Principal, cursor: Cursor | None, *, address: str = ""
) -> AsyncGenerator[bytes, None]:
    """Tells a person's games from a cursor on, or from now on, until the process ends or the reader leaves.

    Errors, with the first chunk: Failed where there are too many streams already; Unavailable.
    """
    streams, clock = house.streams, time.monotonic
    async with house.following.subscribed(caller.player_id) as own:
        with (
            streams.opened(own.news, caller, address),
            closing(Alarm(own.news)) as alarm,
            house.at_tables.attending(EVERYWHERE, caller.player_id, own.news) as audience,
        ):
            telling = _Telling(house, caller, own, audience)
            yield await telling.begin(cursor)
            told_at = clock()
            while True:
                own.news.clear()
                patience_s = streams.heartbeat_s
                try:
                    while not own.is_lost and (chunk := await telling.next_chunk()):
                        began = clock()
                        yield chunk
                        told_at = clock()
                        if told_at - began > streams.slow_s:
                            own.is_lost = True
                    if telling.is_behind:
                        patience_s = LATE_S
                except Unavailable:
                    patience_s = RECHECK_S
                if own.is_lost:
                    yield resync_piece(MyResync(telling.places(), RETRY_MS))
                    return
                if (reason := streams.farewell(own.news)) is not None:
                    yield bye_piece(reason)
                    return
                alarm.ring_within(min(patience_s, max(0.0, told_at + streams.heartbeat_s - clock())))
                await own.news.wait()
                if clock() - told_at >= streams.heartbeat_s:
                    yield telling.heartbeat()
                    told_at = clock()


class _Telling:
    """What was told of which game. told: its last version that was sent; late: that of games told after the others.

    heads: how far late games are known to have come.
    """

    __slots__ = ("_audience", "_caller", "_generation", "_heads", "_house", "_late", "_own", "_position", "_told")

    def __init__(self, house: House, caller: Principal, own: Subscription, audience: Audience) -> None:
        self._house = house
        self._caller = caller
        self._own = own
        self._audience = audience
        self._told: dict[str, int] = {}
        self._late: dict[str, int] = {}
        self._heads: dict[str, int] = {}
        self._position: Position = (0, 0)
        self._generation = b""

    async def begin(self, cursor: Cursor | None) -> bytes:
        """Finds the games, and what of them was missed since the cursor."""
        games = await own_games(self._house.own_games, self._house.tables, self._caller)
        self._own.add(game_id for game_id, game in games.items() if not game.is_over)
        place = await self._house.following.order.end()
        self._generation, self._position = digest_of(place.generation), place.position
        heads = await self._house.following.order.heads(list(games))
        missed, is_known = [], False
        if cursor is not None and cursor.generation == self._generation and cursor.position <= place.position:
            missed = await self._house.following.order.missed(list(games), cursor.position, MISSED_AT_MOST + 1)
            is_known = len(missed) <= MISSED_AT_MOST
        known = cursor if is_known else None
        if known is not None:
            self._position = known.position
            self._own.pending.extendleft(reversed(missed))
        await self._begin_games(games, heads, missed if known else [], known)
        pieces = [self._with_id(extra("hello", MyHello(self.places(heads))))]
        if cursor is not None and known is None:
            pieces.append(extra("resync", MyResync(self.places(heads), None)))
        return b"".join(pieces)

    async def _begin_games(
        self, games: dict[str, OwnGame], heads: dict[str, int], missed: Iterable[Mark], cursor: Cursor | None
    ) -> None:
        first: dict[str, int] = {}
        for mark in missed:
            first.setdefault(mark.game_id, mark.version)
        told_late = {} if cursor is None else cursor.late
        for game_id, game in sorted(games.items(), reverse=True):
            head = heads.get(game_id, 0)
            told = told_late.get(game_id, first.get(game_id, head + 1) - 1)
            if head == 0 or (game.is_over and told >= head):
                continue
            hot = None
            if not game.is_over and not game.is_seated(self._caller.player_id):
                hot = await self._game(game_id, head)
                if hot is None:  # they are only invited, or a bot sits in for them
                    self._own.drop(game_id)
                    continue
            self._told[game_id] = told
            self._house.at_tables.watch(self._audience, game_id, game.people)
            if game_id in told_late:
                self._be_late(game_id, told, head)
            elif hot is not None and sees_late(hot.game, self._caller):
                seen = as_listed(self._house.tables, hot, self._caller).version
                self._be_late(game_id, seen if cursor is None else told, head)

    def _be_late(self, game_id: str, told: int, head: int) -> None:
        """Has a game told after the others; of too many of them the rest is not told at all."""
        if len(self._late) >= LATE_AT_MOST:
            self._forget(game_id)
            return
        self._told[game_id] = self._late[game_id] = told
        self._heads[game_id] = head
        self._house.at_tables.leave(self._audience, game_id)  # who comes and goes would tell of the present

    def places(self, heads: dict[str, int] | None = None) -> tuple[GamePlace, ...]:
        """Tells of each game how far it is; of one that is seen late only what was told."""
        known = heads or {}
        return tuple(
            GamePlace(game_id, told if game_id in self._late else max(told, known.get(game_id, 0)), told)
            for game_id, told in self._told.items()
        )

    @property
    def is_behind(self) -> bool:
        """Tells whether something waits for its time to be shown."""
        return any(told < self._heads[game_id] for game_id, told in self._late.items())

    async def next_chunk(self) -> bytes:
        """Writes what is next; empty where nothing is. Errors: Unavailable, and the next time it is tried again."""
        pieces: list[bytes] = []
        pending = self._own.pending
        while pending and len(pieces) < BATCH:
            try:
                piece = await self._next_of(pending[0])
            except Unavailable:
                if pieces:
                    break
                raise
            if piece:
                pieces.append(piece)
            if self._own.is_lost:  # nothing is pending any more
                break
            pending.popleft()
        if not pieces:
            pieces = [piece for game_id in list(self._late) if (piece := await self._late_of(game_id))]
        if not pieces and self._audience.changed:
            return presence_pieces(self._house.at_tables, self._audience)
        return b"".join(pieces)

    def heartbeat(self) -> bytes:
        """Writes a sign of life, with the place up to which nothing is left to be told."""
        position = self._house.following.position
        if position is not None and not self._own.pending:
            self._position = max(self._position, position)
        return self._with_id(extra("heartbeat", MyHeartbeat()))

    async def _next_of(self, mark: Mark) -> bytes:
        """Writes what a mark stands for; nothing where it was told already, or is not to be told yet."""
        game_id, known = mark.game_id, self._told.get(mark.game_id)
        if isinstance(mark.event, GameOpened) and self._caller.player_id in mark.invited:
            return extra("invited", Invited(game_id, mark.event.rematch_of))
        if game_id in self._late:
            self._heads[game_id] = max(self._heads[game_id], mark.version)
            self._position = max(self._position, mark.position)
            return b""
        if known is not None and mark.version <= known:
            return b""
        hot = await self._game(game_id, mark.version)
        if hot is None:
            return self._left(game_id)
        joined = b""
        if known is None:
            known = mark.version - 1
            self._house.at_tables.watch(self._audience, game_id, people_of(hot.game))
            joined = extra(
                "joined", Joined(game_id, known if sees_late(hot.game, self._caller) else hot.version, known)
            )
        self._own.add([game_id])
        if sees_late(hot.game, self._caller):
            self._be_late(game_id, known, mark.version)
            return joined
        events = await self._written(hot, hot.events[known : mark.version])
        self._told[game_id] = mark.version
        self._position = max(self._position, mark.position)
        if is_over(hot.game.status) and mark.version >= hot.version:
            self._forget(game_id)
        return joined + b"".join(events[:-1]) + self._with_id(events[-1])

    async def _late_of(self, game_id: str) -> bytes:
        """Writes what may be seen by now of a game that was told less of than of the others."""
        told, head = self._late[game_id], self._heads[game_id]
        if told >= head:
            return b""
        hot = await self._game(game_id, head)
        if hot is None:
            return self._left(game_id)
        seen = as_listed(self._house.tables, hot, self._caller)
        pieces = []
        for piece in await self._written(hot, seen.events[told : min(told + BATCH, head)]):
            self._told[game_id] = self._late[game_id] = self._late[game_id] + 1
            pieces.append(self._with_id(piece))
        if self._late[game_id] >= head:
            if is_over(hot.game.status) and hot.version <= head:
                self._forget(game_id)
            elif not sees_late(hot.game, self._caller):
                del self._late[game_id]
                self._house.at_tables.watch(self._audience, game_id, people_of(hot.game))
        return b"".join(pieces)

    async def _game(self, game_id: str, version: int) -> Hot | None:
        """Gives a game that has come so far, or None where it is not the caller's own any more."""
        try:
            hot = self._house.tables.in_memory(game_id)
            if hot.version < version:
                hot = await self._house.tables.fresh(game_id)
        except GameNotFound:
            return None
        return hot if is_own(hot.game, self._caller.player_id) else None

    async def _written(self, hot: Hot, events: list[Recorded]) -> list[bytes]:
        """Writes events as the game's own stream does, without ids."""
        names = await names_at(self._house.accounts, (), events) if has_names(events) else {}
        seat = seat_held_by(hot.game, self._caller.player_id)
        return [self._house.streams.told(recorded, seat, names).partition(b"\n")[2] for recorded in events]

    def _left(self, game_id: str) -> bytes:
        is_told = game_id in self._told
        self._forget(game_id)
        return extra("left", Left(game_id)) if is_told else b""

    def _forget(self, game_id: str) -> None:
        self._own.drop(game_id)
        self._house.at_tables.leave(self._audience, game_id)
        for table in (self._told, self._late, self._heads):
            table.pop(game_id, None)

    def _with_id(self, piece: bytes) -> bytes:
        return b"id: %s\n%s" % (write_cursor(self._generation, self._position, self._late), piece)
