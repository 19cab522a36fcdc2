"""Server-sent events: a game told to one viewer as it happens, from any version on.

A stream is woken by the feed and sends from the game in memory; where that is less than the feed has told of, the log
is read first. So what the bus lost or repeated is sent once and in order. Nothing but one batch is held for a client:
what is not sent yet stays in the game. A client that is too slow even so is cut off with `resync`.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from api.alarms import Alarm
from api.limits import neighbourhood
from api.problems import Failed
from domain.events import SeatChanged
from domain.state import Game
from services.attendance import AtTables, Audience, people_of
from services.games import NotSeated, as_seen, known_game, refuse_stranger, sees_late
from services.ports import Accounts, Principal, Recorded, Unavailable
from services.rendering import NOBODY, Names, names_at, render_event, render_view
from services.stream_tickets import StreamTickets, TicketHolder
from services.tables import GameNotFound, Hot

if TYPE_CHECKING:
    from api.house import House

BATCH = 100  # events sent in one piece
RETRY_MS = 1_000  # after which a client that was told goodbye comes back
REPLACED_MS = 60_000  # the same, so that two with one ticket do not take the stream from each other all the time
SLOW_S = 10.0  # a client that takes so long for one batch is asked to come back when it can
LATE_S = 0.5  # how much later still a delayed spectator may see what happened
RECHECK_S = 1.0  # after which the log is asked again that was out of reach
TOLD_KEPT = 2_000  # events written last, by seat; about 0.4 kB each
_encode = msgspec.json.Encoder().encode


Farewell: TypeAlias = Literal["game_over", "shutting_down", "unauthenticated", "not_seated", "replaced"]


class Hello(Struct, frozen=True):
    """The first event of a stream. version: the game's last one; after: the stream tells what came after it."""

    game_id: str
    version: int
    after: int


class Heartbeat(Struct, frozen=True):
    """A sign of life. version: of the last event that was sent."""

    version: int


class Bye(Struct, frozen=True):
    """The last event of a stream. A client comes back after `retry_ms`, unless the game is over.

    unauthenticated: the token was revoked or has expired, or the player was deleted. not_seated: they have left a table
    without spectators, or a private game. replaced: the ticket was used for another connection; who comes back takes
    the stream away from that one.
    """

    reason: Farewell
    retry_ms: int = RETRY_MS


class Presence(Struct, frozen=True):
    """Somebody who holds a seat has gone away, or has come back; until it is told otherwise, nobody is away."""

    game_id: str
    seat: int
    away: bool


class Resync(Struct, frozen=True):
    """The last event of a stream whose client took too long: `version` was sent, `head_version` is the game's.

    A client comes back after `retry_ms`, and is told the rest; or it reads the view anew.
    """

    version: int
    head_version: int
    retry_ms: int = RETRY_MS


class EventStream(Struct, frozen=True):
    """A body that is written as its chunks come. first: a chunk that is there already."""

    chunks: AsyncGenerator[bytes, None]
    first: bytes = b""


class Streams:
    """The open streams of one process, and whether it is about to end."""

    def __init__(
        self,
        heartbeat_s: float = 15.0,
        slow_s: float = SLOW_S,
        *,
        per_token: int = 1_000_000,
        per_address: int = 1_000_000,
    ) -> None:
        self.heartbeat_s = heartbeat_s
        self.slow_s = slow_s
        self._at_most = per_token, per_address
        self._held: Counter[str] = Counter()  # streams by token and by address
        self.is_draining = False
        self.resynced = 0  # streams that were too slow
        self.gaps = 0  # times that the log had to tell what the feed had not brought
        self._open: dict[asyncio.Event, Principal] = {}  # to whoever watches
        self._dismissed: dict[asyncio.Event, Farewell] = {}
        self._by_ticket: dict[bytes, tuple[TicketHolder, asyncio.Event]] = {}
        self._told: dict[tuple[str, int, int | None], bytes] = {}
        self._last: dict[int | None, tuple[tuple[str, int, int], bytes]] = {}

    @contextmanager
    def opened(self, news: asyncio.Event, caller: Principal, address: str = "") -> Iterator[None]:
        """Counts a stream as open; `news` wakes it when it has to say goodbye.

        Errors: Failed where the token or the address has too many.
        """
        holders = [f"token {caller.token_id}", f"address {neighbourhood(address)}"]
        if any(self._held[holder] >= most for holder, most in zip(holders, self._at_most, strict=True)):
            raise Failed("too_many_streams")
        self._held.update(holders)
        self._open[news] = caller
        if isinstance(caller, TicketHolder):
            self._take_over(caller, news)
        try:
            yield
        finally:
            del self._open[news]
            self._dismissed.pop(news, None)
            if isinstance(caller, TicketHolder) and self._by_ticket.get(caller.ticket, (None, None))[1] is news:
                del self._by_ticket[caller.ticket]
            self._held.subtract(holders)
            self._held = +self._held

    def told(self, recorded: Recorded, seat: int | None, names: Names) -> bytes:
        """Writes an event for a seat, once for all streams that are shown the same; present names are not kept."""
        key = recorded.game_id, recorded.version, seat
        piece = self._told.get(key)
        if piece is None:
            event = render_event(recorded, seat, names)
            piece = b"id: %d\nevent: %s\ndata: %s\n\n" % (event.version, event.kind.encode(), _encode(event))
            if not isinstance(recorded.event, SeatChanged):
                if len(self._told) >= TOLD_KEPT:
                    self._told.clear()
                self._told[key] = piece
        return piece

    def told_before(self, game_id: str, after: int, upto: int, seat: int | None) -> bytes | None:
        """Gives the piece that was written last for this seat, where it is the same: a whole audience waits for it."""
        last = self._last.get(seat)
        return last[1] if last is not None and last[0] == (game_id, after, upto) else None

    def keep(self, game_id: str, after: int, upto: int, seat: int | None, piece: bytes) -> None:
        """Keeps a piece without names for the next who want it."""
        self._last[seat] = (game_id, after, upto), piece

    @property
    def count(self) -> int:
        """How many streams are open."""
        return len(self._open)

    def dismiss(self, token_ids: AbstractSet[str]) -> None:
        """Lets the streams of these tokens say goodbye."""
        for news, caller in self._open.items():
            if caller.token_id in token_ids:
                self._dismiss(news, "unauthenticated")

    def farewell(self, news: asyncio.Event) -> Farewell | None:
        """Tells why a stream has to say goodbye, where it has to."""
        return "shutting_down" if self.is_draining else self._dismissed.get(news)

    async def dismiss_replaced(self, tickets: StreamTickets) -> None:
        """Lets the streams say goodbye whose tickets were used again, in whichever process."""
        held = dict(self._by_ticket)
        turns = await tickets.turns(sorted(held)) if held else {}
        for ticket, (holder, news) in held.items():
            if turns.get(ticket, 0) > holder.turn:
                self._dismiss(news, "replaced")

    def _take_over(self, holder: TicketHolder, news: asyncio.Event) -> None:
        """Ends the stream that was opened with the same ticket before; should this one be the older, it ends itself."""
        before, other = self._by_ticket.get(holder.ticket, (holder, news))
        if before.turn > holder.turn:
            self._dismiss(news, "replaced")
            return
        self._by_ticket[holder.ticket] = holder, news
        if other is not news:
            self._dismiss(other, "replaced")

    def _dismiss(self, news: asyncio.Event, why: Farewell) -> None:
        self._dismissed[news] = why
        news.set()

    async def dismiss_revoked(self, accounts: Accounts) -> bool:
        """Looks for tokens that speak for nobody any more, wherever they were ended; tells whether there were some."""
        watching = {caller.token_id for caller in self._open.values()}
        over = watching - await accounts.living(sorted(watching)) if watching else watching
        self.dismiss(over)
        return bool(over)

    def drain(self) -> None:
        """Lets every stream say goodbye; called in the event loop."""
        self.is_draining = True
        for news in self._open:
            news.set()


async def story(
    house: "House", caller: Principal, game_id: str, after: int, *, with_view: bool, address: str = ""
) -> AsyncGenerator[bytes, None]:
    """Tells a game from version `after` + 1 on, until it is over, the process ends or the reader leaves.

    Errors, with the first chunk: Failed where there are too many streams already.
    """
    streams, sent, clock = house.streams, after, time.monotonic
    async with house.feed.watch(game_id) as news:
        with (
            streams.opened(news, caller, address),
            closing(Alarm(news)) as alarm,
            house.at_tables.attending(game_id, caller.player_id, news) as audience,
        ):
            game = await known_game(house.tables, caller, game_id)
            hot, seat = _seen(house, game, caller)
            house.at_tables.watch(audience, game_id, people_of(game.game))
            yield extra("hello", Hello(game_id, hot.version, after))
            known, view_due, patience_s, told_at = game.version, with_view, streams.heartbeat_s, clock()
            while True:
                news.clear()
                try:
                    if game.version < max(known, house.feed.head(game_id)):
                        streams.gaps += 1
                        game = await house.tables.fresh(game_id)
                    known, (hot, seat) = game.version, _seen(house, game, caller)
                    head = hot.version
                    if sent < head or view_due:
                        chunk, upto = None if with_view else streams.told_before(game_id, sent, head, seat), head
                        if chunk is None:
                            chunk, upto = await _next_batch(house, hot, seat, sent, with_view=with_view)
                        view_due, sent, began = False, upto, clock()
                        yield chunk
                        told_at = clock()
                        if told_at - began > streams.slow_s:
                            streams.resynced += 1
                            yield resync_piece(Resync(sent, hot.version))
                            return
                        if sent < head or news.is_set():
                            continue
                    patience_s = streams.heartbeat_s if head == known else LATE_S
                except (NotSeated, GameNotFound):
                    yield bye_piece("not_seated")
                    return
                except Unavailable:
                    patience_s = RECHECK_S
                if sent >= hot.version >= known and is_over(hot.game):
                    yield bye_piece("game_over")
                    return
                if audience.changed and not sees_late(game.game, caller):
                    yield presence_pieces(house.at_tables, audience)
                    told_at = clock()
                if (reason := streams.farewell(news)) is not None:
                    yield bye_piece(reason)
                    return
                alarm.ring_within(min(patience_s, max(0.0, told_at + streams.heartbeat_s - clock())))
                await news.wait()
                if clock() - told_at >= streams.heartbeat_s:
                    yield extra("heartbeat", Heartbeat(sent))
                    told_at = clock()
                game = house.tables.in_memory(game_id)


def _seen(house: "House", game: Hot, caller: Principal) -> tuple[Hot, int | None]:
    """Gives what the caller may see of a game by now, and their seat. Errors: GameNotFound, NotSeated."""
    refuse_stranger(game, caller)
    return as_seen(house.tables, game, caller)


def is_over(game: Game) -> bool:
    """Tells whether nothing more can happen in a game."""
    return game.status in ("finished", "cancelled")


async def _next_batch(house: "House", hot: Hot, seat: int | None, sent: int, *, with_view: bool) -> tuple[bytes, int]:
    """Writes the next events and, where wanted and nothing more is waiting, the view after them."""
    game_id, upto = hot.game.game_id, min(hot.version, sent + BATCH)
    events, shows_view = hot.events[sent:upto], with_view and upto == hot.version
    has_names = any(isinstance(recorded.event, SeatChanged) for recorded in events)
    names = await names_at(house.accounts, [hot.game], events) if shows_view or has_names else {}
    piece = b"".join([house.streams.told(recorded, seat, names) for recorded in events])
    if not has_names:
        house.streams.keep(game_id, sent, upto, seat, piece)
    if shows_view and upto == hot.version:  # it may have gone on while names were asked for
        is_late = seat is None and hot.game.spectators == "delayed"
        away = NOBODY if is_late else house.at_tables.away_now(game_id)
        piece += b"event: view\ndata: %s\n\n" % _encode(render_view(hot, seat, names, away))
    return piece, max(sent, upto)


def bye_piece(reason: Farewell) -> bytes:
    """Writes a goodbye, and when to come back."""
    bye = Bye(reason, REPLACED_MS if reason == "replaced" else RETRY_MS)
    return b"retry: %d\n" % bye.retry_ms + extra("bye", bye)


def resync_piece(resync: Struct, retry_ms: int = RETRY_MS) -> bytes:
    """Writes the end of a stream whose client was too slow, and when to come back."""
    return b"retry: %d\n" % retry_ms + extra("resync", resync)


def presence_pieces(at_tables: AtTables, audience: Audience) -> bytes:
    """Writes who has gone or come since the audience was told last; empty where it has changed back."""
    return b"".join([extra("presence", Presence(*change)) for change in at_tables.changes(audience)])


def extra(kind: str, data: Struct) -> bytes:
    """Writes an event without an id: it is no part of the game."""
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), _encode(data))


async def send_story(stream: EventStream, receive: Any, send: Any) -> None:
    """Sends the chunks as a response body until they end or the client is gone; either way nothing stays behind."""
    writing = asyncio.create_task(_write(stream, send))
    leaving = asyncio.create_task(_client_is_gone(receive))
    try:
        await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (writing, leaving):
            task.cancel()
        await asyncio.gather(writing, leaving, return_exceptions=True)
    if writing.done() and not writing.cancelled() and (error := writing.exception()):
        raise error


async def _write(stream: EventStream, send: Any) -> None:
    """Sends until the end, or until the connection turns out to be closed: a client's leaving may be told later."""
    piece: bytes | None = stream.first
    try:
        while piece is not None:
            try:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            except (OSError, RuntimeError):
                return
            piece = await anext(stream.chunks, None)
        with suppress(OSError, RuntimeError):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        await stream.chunks.aclose()


async def _client_is_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
