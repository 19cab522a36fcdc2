"""The log of a game: page by page, or as a stream."""

from collections.abc import Sequence

import msgspec

from api.aside import aside
from api.calls import Answer, Call, Text
from api.house import House
from api.paths import game_id_of
from api.problems import Failed, Place
from api.readers import Reader
from api.requests import beyond_head, header, invalid
from api.shapes import EventPage, EventsQuery, ExportQuery, StreamQuery
from api.streams import EventStream, story
from domain.state import is_over
from services.chronicle import chronicle
from services.hot import Hot
from services.rendering import EventBody, Names, names_at, render_event, render_openly
from services.seeing import watched_game


async def get_events(house: House, call: Call[EventsQuery, None]) -> Answer[EventPage]:
    """Lists a game's events in order, as the caller sees them. They start with version 1 and have no holes."""
    after, limit = call.query.after, call.query.limit
    hot, seat = await watched_game(house.tables, call.caller, game_id_of(call.path))
    events = hot.events[after : after + limit]
    names = await names_at(house.accounts, [hot.game], events)
    return Answer(event_page([render_event(recorded, seat, names) for recorded in events], after, hot.version))


def event_page(events: Sequence[EventBody], after: int, head: int) -> EventPage:
    """Shows events that come after a version, and where the next page begins."""
    return EventPage(tuple(events), events[-1].version if events else after, head)


async def export_game(house: House, call: Call[ExportQuery, None]) -> Answer[Text]:
    """Gives everything that happened so far as a file, as the caller sees it.

    `ndjson` is one Event a line: all that `shanghai verify` needs to check every deal whose secret is revealed.
    `text` is an account for people, a line for each turn; when the game is over, with open hands.
    """
    hot, seat = await watched_game(house.tables, call.caller, game_id_of(call.path))
    names = await names_at(house.accounts, [hot.game], hot.events)
    ending = {"ndjson": "ndjson", "text": "txt"}[call.query.format]
    headers = {"content-disposition": f'attachment; filename="{hot.game.game_id}.{ending}"'}
    still = hot.still()
    if call.query.format == "ndjson":
        lines = await aside(lambda: _as_lines(still, seat, names))
        return Answer(Text(lines, "application/x-ndjson"), headers)
    told = await aside(lambda: _as_text(still, seat, names))
    return Answer(Text(told, "text/plain; charset=utf-8"), headers)


def _as_lines(hot: Hot, seat: int | None, names: Names) -> bytes:
    return msgspec.json.Encoder().encode_lines(render_event(recorded, seat, names) for recorded in hot.events)


def _as_text(hot: Hot, seat: int | None, names: Names) -> bytes:
    if is_over(hot.game.status):
        return chronicle(render_openly(recorded, names) for recorded in hot.events).encode()
    return chronicle(render_event(recorded, seat, names) for recorded in hot.events).encode()


async def stream_events(house: House, call: Call[StreamQuery, None]) -> Answer[EventStream | None]:
    """Tells a game as it happens, by server-sent events: `id` is the version, `event` the kind, `data` the Event.

    A stream starts after `Last-Event-ID`, or else after `after`, or else with the first event. Extra events without
    an id are `hello`, `view`, `presence` (somebody has gone away, or come back), `heartbeat` (after 15 quiet seconds),
    `resync` (the client was too slow) and `bye`. When the game is over the stream ends; one that has nothing left to
    tell is answered with 204, which tells an EventSource not to come back.
    """
    if house.streams.is_draining:
        raise Failed("shutting_down")
    game_id = game_id_of(call.path)
    hot, _ = await watched_game(house.tables, call.caller, game_id)
    after = _resume_at(header(call.headers, b"last-event-id"), call.query.after, hot.version)
    if is_over(hot.game.status) and after >= hot.version:
        return Answer(None, status=204)
    reader = Reader(house, call.caller, game_id, after)
    chunks = story(reader, with_view=call.query.view, address=call.address)
    return Answer(EventStream(chunks, await anext(chunks), reader), {"x-accel-buffering": "no"})


def _resume_at(last_event_id: str | None, after: int, head: int) -> int:
    """Gives the version to go on after; one that the game has not reached was never told, and is no place to wait."""
    if last_event_id is None or last_event_id == "":
        return _reached(after, head, "query", "after")
    if not last_event_id.isascii() or not last_event_id.isdigit() or len(last_event_id) > 9:
        raise invalid("header", "Last-Event-ID", "invalid_value", "The id of an event of this stream is its version.")
    return _reached(int(last_event_id), head, "header", "Last-Event-ID")


def _reached(after: int, head: int, place: Place, pointer: str) -> int:
    if after > head:
        raise beyond_head(place, pointer, head)
    return after
