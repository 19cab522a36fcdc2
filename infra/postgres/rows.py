"""Numbers that stand in the tables for words, and appends as columns of rows."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeAlias
from uuid import UUID

from msgspec import Struct

from services.codec import encode_event
from services.ids import uuid_of
from services.ports import Actor, Append, WorkKind
from services.receipts import receipt_of

# Stored for ever: a number never changes its meaning.
ACTORS: dict[int, Actor] = {1: "player", 2: "bot", 3: "timer", 4: "table", 5: "operator"}
WORK_KINDS: dict[int, WorkKind] = {1: "bots", 2: "deal", 3: "score", 4: "close_claims", 5: "turn_timer"}
NOTHING = 0  # the kind of a work row that only overtakes the ones before

_ACTOR_NUMBERS = {actor: number for number, actor in ACTORS.items()}
_KIND_NUMBERS = {kind: number for number, kind in WORK_KINDS.items()}
_Row: TypeAlias = tuple[Any, ...]


class AppendRows(Struct, frozen=True):
    """One append, ready to be sent. row: what is said of it once; events: a row of each."""

    game: UUID
    row: _Row
    events: list[_Row]


def rows_of(append: Append) -> AppendRows:
    """Writes an append as rows. Errors: ValueError for a game id that is none."""
    game = uuid_of("gam", append.game_id)
    if game is None:
        raise ValueError(append.game_id)
    row = (game, append.after, append.after + len(append.events), *_work(append), *_receipt(append))
    return AppendRows(game, row, list(_event_rows(game, append)))


def arguments(appends: Sequence[AppendRows]) -> list[_Row]:
    """Gives the arguments of the statement `append`, for at least one append: the columns of all rows."""
    return [*_columns(append.row for append in appends), *_columns(row for append in appends for row in append.events)]


def _work(append: Append) -> _Row:
    work = append.work
    if work is None:
        return NOTHING, None, None
    return _KIND_NUMBERS[work.kind], work.at, timedelta(milliseconds=work.delay_ms)


def _receipt(append: Append) -> _Row:
    request = append.request
    if request is None:
        return (None,) * 6
    receipt = receipt_of(append, request)
    key = (request.principal, request.operation, request.key)
    return *key, request.fingerprint, receipt.command_id, receipt.last_version


def _event_rows(game: UUID, append: Append) -> Iterator[_Row]:
    for version, new in enumerate(append.events, append.after + 1):
        type_, schema, payload = encode_event(new.event)
        actor = _ACTOR_NUMBERS[new.actor]
        yield game, version, type_, schema, actor, new.round, new.ordinal, new.command_id, payload


def _columns(rows: Iterable[_Row]) -> list[_Row]:
    return list(zip(*rows, strict=True))
