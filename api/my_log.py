"""The stream of all games of a player."""

from api.calls import Answer, Call
from api.house import House
from api.my_stream import MyStream, my_story
from api.problems import Failed
from api.requests import header, invalid
from api.shapes import MyStreamQuery
from services.cursors import Cursor, read_cursor


async def stream_mine(house: House, call: Call[MyStreamQuery, None]) -> Answer[MyStream]:
    """Tells all games of the caller as they happen, by server-sent events, in one connection.

    These are the games that they sit at or have opened, also those that become theirs meanwhile (`joined`); of one
    that is theirs no more nothing further is told (`left`). That somebody has opened a rematch is told too
    (`invited`). Each event is that of the game's own stream. Its `id` is an opaque cursor: with `Last-Event-ID`
    everything after it comes, each event once and those of each game in order; without it, what happens from now
    on. `hello` and `heartbeat` have such an id too. Where too much was missed, or the cursor is of another time of
    the server, `resync` tells how far each game is, and the stream goes on from there.
    """
    if house.streams.is_draining:
        raise Failed("shutting_down")
    chunks = my_story(house, call.caller, _cursor(header(call.headers, b"last-event-id")), address=call.address)
    return Answer(MyStream(chunks, await anext(chunks)), {"x-accel-buffering": "no"})


def _cursor(text: str | None) -> Cursor | None:
    if not text:
        return None
    cursor = read_cursor(text)
    if cursor is None:
        raise invalid("header", "Last-Event-ID", "unknown_cursor", "This id was not given by this stream.")
    return cursor
