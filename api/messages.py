"""What streams send besides the events of games: a table for each kind of stream, for both documents."""

from typing import Any

from api.my_stream import MyStream
from api.stream_shapes import (
    Bye,
    Heartbeat,
    Hello,
    Invited,
    Joined,
    Left,
    MyHeartbeat,
    MyHello,
    MyResync,
    Presence,
    Resync,
)  # fmt: skip
from api.streams import EventStream
from domain.view import View

EXTRAS: dict[type[EventStream], dict[str, tuple[type, str]]] = {
    EventStream: {
        "hello": (Hello, "The first message of each connection."),
        "view": (View, "With `?view=1`, after each batch of events: the caller's whole view with its decisions."),
        "heartbeat": (Heartbeat, "After 15 seconds in which nothing was sent."),
        "presence": (Presence, "Somebody at the table has gone away, or come back."),
        "resync": (Resync, "The last message to a client that took too long; it comes back for the rest."),
        "bye": (Bye, "The last message of a connection."),
    },
    MyStream: {
        "hello": (MyHello, "The first message of each connection: the caller's games. It has an id."),
        "joined": (Joined, "A game has become the caller's own."),
        "invited": (Invited, "A game was opened to which the caller is invited: a rematch."),
        "left": (Left, "A game is the caller's own no more."),
        "heartbeat": (MyHeartbeat, "After 15 seconds in which nothing was sent. It has an id."),
        "presence": (Presence, "Somebody at the table has gone away, or come back."),
        "resync": (MyResync, "Events are left out, or wait for a client that took too long: how far each game is."),
        "bye": (Bye, "The last message of a connection."),
    },
}


def is_stream(shown: Any) -> bool:
    """Tells whether an operation answers with server-sent events."""
    return shown in EXTRAS
