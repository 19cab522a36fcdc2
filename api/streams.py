"""Server-sent events: a game told to one viewer as it happens, from any version on.

A stream is woken by the feed and sends from the game in memory; where that is less than the feed has told of, the log
is read first. So what the bus lost or repeated is sent once and in order. Nothing but one batch is held for a client:
what is not sent yet stays in the game. A client that is too slow even so is cut off with `resync`.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import closing, suppress
from typing import Any

import msgspec
from msgspec import Struct

from api.alarms import Alarm
from api.readers import BATCH, Reader
from api.stream_shapes import Heartbeat, Hello, Resync, bye_piece, extra, presence_pieces, resync_piece
from domain.state import is_over
from services.attendance import people_of
from services.hot import Hot
from services.outcomes import GameNotFound
from services.ports import Unavailable
from services.rendering import NOBODY, has_names, names_at, render_view
from services.seeing import NotSeated, known_game, sees_late

LATE_S = 0.5  # how much later still a delayed spectator may see what happened
RECHECK_S = 1.0  # after which the log is asked again that was out of reach
_encode = msgspec.json.Encoder().encode


class EventStream(Struct, frozen=True):
    """A body that is written as its chunks come. first: a chunk that is there already; reader: is told more at once."""

    chunks: AsyncGenerator[bytes, None]
    first: bytes = b""
    reader: Reader | None = None


async def story(reader: Reader, *, with_view: bool, address: str = "") -> AsyncGenerator[bytes, None]:
    """Tells a game from where the reader is, until it is over, the process ends or the reader leaves.

    Errors, with the first chunk: Failed where there are too many streams already.
    """
    house, caller, game_id, news = reader.house, reader.caller, reader.game_id, reader.news
    streams, clock = house.streams, time.monotonic
    with (
        house.feed.watch(game_id, reader),
        streams.opened(news, caller, address),
        closing(Alarm(news)) as alarm,
        house.at_tables.attending(game_id, caller.player_id, news) as audience,
    ):
        game = await known_game(house.tables, caller, game_id)
        hot, seat = reader.seen(game)
        house.at_tables.watch(audience, game_id, people_of(game.game))
        yield extra("hello", Hello(game_id, hot.version, reader.sent))
        known, view_due, patience_s, reader.told_at = game.version, with_view, streams.heartbeat_s, clock()
        while True:
            news.clear()
            try:
                if game.version < max(known, house.feed.head(game_id)):
                    streams.gaps += 1
                    game = await house.tables.fresh(game_id)
                known, (hot, seat) = game.version, reader.seen(game)
                head = hot.version
                if reader.sent < head or view_due:
                    chunk, upto = None if with_view else streams.told_before(game_id, reader.sent, head, seat), head
                    if chunk is None:
                        chunk, upto = await _next_batch(reader, hot, seat, with_view=with_view)
                    view_due, reader.sent, began = False, upto, clock()
                    yield chunk
                    reader.told_at = clock()
                    if reader.told_at - began > streams.slow_s:
                        streams.resynced += 1
                        yield resync_piece(Resync(reader.sent, hot.version))
                        return
                    if reader.sent < head or news.is_set():
                        continue
                patience_s = streams.heartbeat_s if head == known else LATE_S
            except (NotSeated, GameNotFound):
                yield bye_piece("not_seated")
                return
            except Unavailable:
                patience_s = RECHECK_S
            if reader.sent >= hot.version >= known and is_over(hot.game.status):
                yield bye_piece("game_over")
                return
            if audience.changed and not sees_late(game.game, caller):
                yield presence_pieces(house.at_tables, audience)
                reader.told_at = clock()
            if (reason := streams.farewell(news)) is not None:
                yield bye_piece(reason)
                return
            alarm.ring_within(min(patience_s, max(0.0, reader.told_at + streams.heartbeat_s - clock())))
            reader.rests = reader.sent == known and not with_view
            await news.wait()
            reader.rests = False
            if clock() - reader.told_at >= streams.heartbeat_s:
                yield extra("heartbeat", Heartbeat(reader.sent))
                reader.told_at = clock()
            game = house.tables.in_memory(game_id)


async def _next_batch(reader: Reader, hot: Hot, seat: int | None, *, with_view: bool) -> tuple[bytes, int]:
    """Writes the next events and, where wanted and nothing more is waiting, the view after them."""
    house, upto = reader.house, min(hot.version, reader.sent + BATCH)
    events, shows_view = hot.events[reader.sent : upto], with_view and upto == hot.version
    names = await names_at(house.accounts, [hot.game], events) if shows_view or has_names(events) else {}
    piece = reader.piece(events, seat, names)
    if shows_view and upto == hot.version:  # it may have gone on while names were asked for
        is_late = seat is None and hot.game.spectators == "delayed"
        away = NOBODY if is_late else house.at_tables.away_now(reader.game_id)
        piece += b"event: view\ndata: %s\n\n" % _encode(render_view(hot, seat, names, away))
    return piece, max(reader.sent, upto)


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
