"""Numbers that stand in the tables for words, and appends as columns of rows."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeAlias
from uuid import UUID

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


def append_rows(appends: Sequence[Append]) -> list[list[Any]]:
    """Gives the arguments of the statement `append`: the columns of its rows in three tables.

    Errors: ValueError for a game id that is none.
    """
    games = [(_game(append), append) for append in appends]
    return [
        *_columns(9, (row for game, append in games for row in _event_rows(game, append))),
        *_columns(8, (row for game, append in games for row in _receipt_rows(game, append))),
        *_columns(5, (_work_row(game, append) for game, append in games)),
    ]


def _game(append: Append) -> UUID:
    game = uuid_of("gam", append.game_id)
    if game is None:
        raise ValueError(append.game_id)
    return game


def _event_rows(game: UUID, append: Append) -> Iterator[_Row]:
    for version, new in enumerate(append.events, append.after + 1):
        type_, schema, payload = encode_event(new.event)
        actor = _ACTOR_NUMBERS[new.actor]
        yield game, version, type_, schema, actor, new.round, new.ordinal, new.command_id, payload


def _receipt_rows(game: UUID, append: Append) -> Iterator[_Row]:
    if request := append.request:
        receipt = receipt_of(append, request)
        key = (request.principal, request.operation, request.key)
        versions = (receipt.first_version, receipt.last_version)
        yield game, *key, request.fingerprint, receipt.command_id, *versions


def _work_row(game: UUID, append: Append) -> _Row:
    version = append.after + len(append.events)
    if append.work is None:
        return game, version, NOTHING, None, None
    work = append.work
    return game, version, _KIND_NUMBERS[work.kind], work.at, timedelta(milliseconds=work.delay_ms)


def _columns(width: int, rows: Iterable[_Row]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
