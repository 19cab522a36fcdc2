"""How an event looks on the bus, and where."""

from datetime import datetime
from functools import lru_cache
from uuid import UUID

import msgspec
from msgspec import Struct

from domain.events import RoundDealt, StockRenewed
from infra.postgres.rows import ACTORS
from services.codec import TYPE_NUMBERS, decode_event
from services.ids import public_id
from services.ports import FeedEntry, Recorded
from services.relay import LogEntry

POINTERS = frozenset({TYPE_NUMBERS[RoundDealt], TYPE_NUMBERS[StockRenewed]})
"""Whole decks do not travel: whoever may see of them reads the log."""

FIELD = b"e"


class _Told(Struct, frozen=True, array_like=True, gc=False):
    game_id: bytes
    version: int
    type: int
    schema: int
    actor: int
    round: int | None
    command_id: bytes
    occurred_at: datetime
    payload: bytes | None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Told).decode


def stream_key(generation: str, shard: int) -> str:
    """Names a stream; only the shard's number decides where in a cluster it lies."""
    return f"es:{generation}:bus:{{{shard:02d}}}"


def shard_of(game_id: UUID, shards: int) -> int:
    """Gives the stream of a game: its events stay in order."""
    return game_id.int % shards


def entry_id(entry: LogEntry) -> bytes:
    """Is the position in the log: it rises strictly, so a repeated entry is refused."""
    return b"%d-%d" % (entry.xid, entry.gseq)


def encode_entry(entry: LogEntry) -> bytes:
    """Writes an entry's one field."""
    payload = None if entry.type in POINTERS else entry.payload
    return _encode(
        _Told(
            entry.game_id.bytes,
            entry.version,
            entry.type,
            entry.schema,
            entry.actor,
            entry.round,
            entry.command_id.bytes,
            entry.occurred_at,
            payload,
        )
    )


def decode_entry(field: bytes) -> FeedEntry:
    """Reads an entry's one field."""
    told = _decode(field)
    game_id = _game_id(told.game_id)
    if told.payload is None:
        return FeedEntry(game_id, told.version, None)
    try:
        event = decode_event(told.type, told.schema, told.payload)
    except (KeyError, msgspec.DecodeError):  # written by a newer version of the server
        return FeedEntry(game_id, told.version, None)
    command_id = UUID(bytes=told.command_id)
    recorded = Recorded(game_id, told.version, event, ACTORS[told.actor], told.round, command_id, told.occurred_at)
    return FeedEntry(game_id, told.version, recorded)


@lru_cache(maxsize=10_000)
def _game_id(raw: bytes) -> str:
    return public_id("gam", UUID(bytes=raw))
