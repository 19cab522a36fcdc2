"""The event store on Postgres."""

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from infra.postgres.database import Database, NotSent
from infra.postgres.rows import ACTORS, append_rows
from infra.sql import statements
from services.codec import decode_event
from services.ids import public_id, uuid_of
from services.ports import (
    Append,
    KeyUsed,
    Receipt,
    Recorded,
    Unavailable,
    VersionConflict,
)

_SQL = statements("log")
_LAST_ID = UUID(int=(1 << 128) - 1)
_KEY_COLUMNS = re.compile(r"\(([^()]*)\)=\(")
_RESOLVE_S = 5.0  # so long an append with an unknown outcome is asked after
_RETRY_S = 0.1


class PostgresLog:
    """A GameLog; `poke` is called after each append that was committed."""

    def __init__(self, database: Database, poke: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._poke = poke
        self._writing: set[asyncio.Task[datetime]] = set()

    async def read(self, game_id: str, after: int = 0) -> list[Recorded]:
        game = uuid_of("gam", game_id)
        if game is None:
            return []
        [columns] = await self._database.fetch(_SQL["read"], game, after)
        if columns[0] is None:
            return []
        return [
            Recorded(game_id, version, decode_event(type_, schema, payload), ACTORS[actor], round_, command, at)
            for version, (type_, schema, payload, actor, round_, command, at) in enumerate(
                zip(*columns, strict=True), after + 1
            )
        ]

    async def append(self, append: Append) -> datetime:
        """Goes on to its end where the caller is cancelled: such an append is whole or not at all, too."""
        writing = asyncio.create_task(self._write(append))
        self._writing.add(writing)
        writing.add_done_callback(self._has_written)
        return await asyncio.shield(writing)

    async def receipt(self, game_id: str, principal: str, operation: str, key: str) -> Receipt | None:
        game = uuid_of("gam", game_id)
        rows = await self._database.fetch(_SQL["receipt"], game, principal, operation, key)
        return Receipt(*rows[0]) if rows else None

    async def command_range(self, game_id: str, command_id: UUID) -> tuple[int, int] | None:
        rows = await self._database.fetch(_SQL["command_range"], uuid_of("gam", game_id), command_id)
        return (rows[0]["first_version"], rows[0]["last_version"]) if rows else None

    async def games_before(self, game_id: str | None, limit: int) -> list[str]:
        before = _LAST_ID if game_id is None else uuid_of("gam", game_id)
        rows = await self._database.fetch(_SQL["games_before"], before, limit)
        return [public_id("gam", row["game_id"]) for row in rows]

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        games = {uuid: game_id for game_id in game_ids if (uuid := uuid_of("gam", game_id))}
        rows = await self._database.fetch(_SQL["heads"], list(games))
        return {games[row["game_id"]]: row["version"] for row in rows if row["version"] is not None}

    async def settle(self) -> None:
        """Returns when no append is under way any more, those of cancelled callers included."""
        await asyncio.gather(*self._writing, return_exceptions=True)

    async def _write(self, append: Append) -> datetime:
        at = await self._write_once(append)
        self._poke()
        return at

    async def _write_once(self, append: Append) -> datetime:
        """Appends, and where the connection was lost meanwhile sends it again: the unique keys let it in once.

        A refusal of the second sending may be caused by the first one's success.
        """
        rows = append_rows([append])
        deadline = time.monotonic() + _RESOLVE_S
        is_unknown = False
        while True:
            try:
                [[at]] = await self._database.run(_SQL["append"], *rows)
                return at  # type: ignore[no-any-return]
            except asyncpg.UniqueViolationError as violation:
                if is_unknown and (at := await self._time_of(append)):
                    return at
                raise _refusal(violation) from None
            except Unavailable as lost:
                is_unknown = is_unknown or not isinstance(lost, NotSent)
                if not is_unknown or time.monotonic() > deadline:
                    raise
                await self._database.forget_connections()
                await asyncio.sleep(_RETRY_S)

    async def _time_of(self, append: Append) -> datetime | None:
        """Gives the time of this very append, or None where its command was never carried out here."""
        rows = await self._database.fetch(
            _SQL["command_range"], uuid_of("gam", append.game_id), append.events[0].command_id
        )
        if rows and rows[0]["first_version"] == append.after + 1:
            return rows[0]["occurred_at"]  # type: ignore[no-any-return]
        return None

    def _has_written(self, writing: asyncio.Task[datetime]) -> None:
        self._writing.discard(writing)
        if not writing.cancelled():
            writing.exception()  # a cancelled caller does not ask for it


def _refusal(violation: Any) -> Exception:
    """Tells by the key's columns what was there before; a constraint's name would be its partition's own."""
    found = _KEY_COLUMNS.search(violation.detail or "")
    columns = found[1].split(", ") if found else []
    return KeyUsed() if "principal" in columns else VersionConflict()
