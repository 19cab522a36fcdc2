"""Numbers that stand in the tables for words; appends as rows, and rows as events."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias
from uuid import UUID

from services.codec import decode_event, encode_event
from services.ids import public_id, uuid_of
from services.ports import Actor, Append, Recorded, WorkKind
from services.projections import Batch
from services.receipts import receipt_of
from services.relay import Position

# Stored for ever: a number never changes its meaning.
ACTORS: dict[int, Actor] = {1: "player", 2: "bot", 3: "timer", 4: "table", 5: "operator"}
WORK_KINDS: dict[int, WorkKind] = {
    1: "bots",
    2: "deal",
    3: "score",
    4: "close_claims",
    5: "turn_timer",
    6: "warn",
    7: "expire",
}
NOTHING = 0  # the kind of a work row that only overtakes the ones before

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)  # Postgres's own; its binary times count from it
LAST_ID = UUID(int=(1 << 128) - 1)  # nothing sorts behind it

Row: TypeAlias = tuple[Any, ...]

_ACTOR_NUMBERS = {actor: number for number, actor in ACTORS.items()}
_KIND_NUMBERS = {kind: number for number, kind in WORK_KINDS.items()}


def append_row(append: Append) -> Row:
    """Writes an append as a `new_append`, which begins with its game. Errors: ValueError for a game id that is none."""
    game = uuid_of("gam", append.game_id)
    if game is None:
        raise ValueError(append.game_id)
    last_version = append.after + len(append.events)
    return (game, append.after, last_version, *_work(append), *_receipt(append), list(_events(append)))


def recorded_row(row: Any) -> Recorded:
    """Reads a row of the log's columns in the order of the statement `batch` of projections.sql."""
    _, _, game, version, type_, schema, actor, round_, command_id, occurred_at, payload = row
    event = decode_event(type_, schema, payload)
    return Recorded(public_id("gam", game), version, event, ACTORS[actor], round_, command_id, occurred_at)


def batch_of(rows: Sequence[Any], after: Position) -> Batch:
    """Reads the rows of that statement, which were asked for after a place."""
    return [recorded_row(row) for row in rows], (rows[-1]["xid"], rows[-1]["gseq"]) if rows else after


def _work(append: Append) -> Row:
    work = append.work
    if work is None:
        return NOTHING, None, None
    return _KIND_NUMBERS[work.kind], work.at, timedelta(milliseconds=work.delay_ms)


def _receipt(append: Append) -> Row:
    request = append.request
    if request is None:
        return (None,) * 6
    receipt = receipt_of(append, request)
    key = (request.principal, request.operation, request.key)
    return *key, request.fingerprint, receipt.command_id, receipt.last_version


def _events(append: Append) -> Iterator[Row]:
    for version, new in enumerate(append.events, append.after + 1):
        type_, schema, payload = encode_event(new.event)
        yield version, type_, schema, _ACTOR_NUMBERS[new.actor], new.round, new.ordinal, new.command_id, payload
