"""The log in the order of commits, on Postgres."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from infra.postgres.database import Database
from infra.sql import statements
from services.codec import TYPE_NUMBERS, decode_event
from services.ids import public_id, uuids_of
from services.order import SEATING, Mark, Place
from services.relay import Position

_SQL = statements("order")
_SEATING = [TYPE_NUMBERS[type_] for type_ in SEATING]
_LAST_GSEQ = (1 << 63) - 1


class PostgresOrder:
    """A LogOrder over the table of events. generation: names what positions belong to now."""

    def __init__(self, database: Database, generation: Callable[[], Awaitable[str]]) -> None:
        self._database = database
        self._generation = generation

    async def end(self) -> Place:
        [[barrier]] = await self._database.fetch(_SQL["end"])
        return Place(await self._generation(), (barrier - 1, _LAST_GSEQ))

    async def after(self, position: Position, limit: int) -> list[Mark]:
        return [_mark(*row) for row in await self._database.fetch(_SQL["after"], *position, limit, _SEATING)]

    async def missed(self, game_ids: Sequence[str], position: Position, limit: int) -> list[Mark]:
        rows = await self._database.fetch(_SQL["missed"], uuids_of("gam", game_ids), *position, limit)
        return [_mark(*row) for row in rows]

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        rows = await self._database.fetch(_SQL["heads"], uuids_of("gam", game_ids))
        return {public_id("gam", game): version for game, version in rows}


def _mark(xid: int, gseq: int, game: Any, version: int, type_: int = 0, schema: int = 0, payload: Any = None) -> Mark:
    event = None
    if payload is not None:
        with suppress(KeyError, msgspec.DecodeError):  # written by a newer version of the server
            event = decode_event(type_, schema, payload)
    return Mark((xid, gseq), public_id("gam", game), version, event)
