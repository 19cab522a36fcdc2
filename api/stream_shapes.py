"""What streams say besides the events of games, and how it is written."""

from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from services.attendance import AtTables, Audience

RETRY_MS = 1_000  # after which a client that was told goodbye comes back
REPLACED_MS = 60_000  # the same, so that two with one ticket do not take the stream from each other all the time
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


class GamePlace(Struct, frozen=True):
    """How far a game is, and after which of its versions the stream tells it."""

    game_id: str
    version: int
    after: int


class MyHello(Struct, frozen=True):
    """The first message: the caller's games that are not over, or went on since the cursor."""

    games: tuple[GamePlace, ...]


class Joined(Struct, frozen=True):
    """From now on the stream tells this game too: the caller has opened it, or sits at it now."""

    game_id: str
    version: int
    after: int


class Invited(Struct, frozen=True):
    """The caller may sit down at this game, which has just been opened; until they do, the stream does not tell it."""

    game_id: str
    rematch_of: str | None


class Left(Struct, frozen=True):
    """The stream tells no more of this game: it is not the caller's any more."""

    game_id: str


class MyHeartbeat(Struct, frozen=True):
    """A sign of life. Its id is a cursor too, so that a quiet client's does not grow old."""


class MyResync(Struct, frozen=True):
    """The cursor was too old, or the client too slow: of each game everything up to `version` may be missing.

    retry_ms: null where the stream goes on, after each game's `after`; else it ends, and a client comes back after
    so long with its last id.
    """

    games: tuple[GamePlace, ...]
    retry_ms: int | None


def bye_piece(reason: Farewell) -> bytes:
    """Writes a goodbye, and when to come back."""
    bye = Bye(reason, REPLACED_MS if reason == "replaced" else RETRY_MS)
    return b"retry: %d\n" % bye.retry_ms + extra("bye", bye)


def resync_piece(resync: Resync | MyResync) -> bytes:
    """Writes the end of a stream whose client was too slow, and when to come back."""
    return b"retry: %d\n" % RETRY_MS + extra("resync", resync)


def presence_pieces(at_tables: AtTables, audience: Audience) -> bytes:
    """Writes who has gone or come since the audience was told last; empty where it has changed back."""
    return b"".join([extra("presence", Presence(*change)) for change in at_tables.changes(audience)])


def extra(kind: str, data: Struct) -> bytes:
    """Writes an event without an id: it is no part of the game."""
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), _encode(data))
