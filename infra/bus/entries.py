"""How an event looks on the bus, and where. Postgres writes the entries (sql/relay.sql); they are read here."""

import struct
from datetime import timedelta
from functools import lru_cache
from uuid import UUID

import msgspec

from infra.postgres.rows import ACTORS, EPOCH
from services.codec import decode_event
from services.ids import public_id
from services.ports import FeedEntry, Recorded

FIELD = b"e"
HEAD = struct.Struct(">16sihhhh16sq")
"""Game, version, type, schema, actor, round (0: none), command, microseconds since EPOCH; then the payload, if any."""


def stream_key(generation: str, shard: int) -> str:
    """Names a stream; only the shard's number decides where in a cluster it lies."""
    return f"es:{generation}:bus:{{{shard:02d}}}"


def shard_of(game: bytes, shards: int) -> int:
    """Gives the stream of a game, named by its id's bytes: its events stay in order."""
    return int.from_bytes(game[-4:]) % shards  # the random end


def decode_entry(told: bytes) -> FeedEntry:
    """Reads an entry's one field."""
    game, version, number, schema, actor, round_, command, at_us = HEAD.unpack_from(told)
    game_id, payload = _game_id(game), told[HEAD.size :]
    if not payload:
        return FeedEntry(game_id, version, None)
    try:
        event = decode_event(number, schema, payload)
    except (KeyError, msgspec.DecodeError):  # written by a newer version of the server
        return FeedEntry(game_id, version, None)
    at = EPOCH + timedelta(microseconds=at_us)
    recorded = Recorded(game_id, version, event, ACTORS[actor], round_ or None, UUID(bytes=command), at)
    return FeedEntry(game_id, version, recorded)


@lru_cache(maxsize=10_000)
def _game_id(raw: bytes) -> str:
    return public_id("gam", UUID(bytes=raw))
