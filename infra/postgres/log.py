"""The event store on Postgres."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from struct import Struct
from uuid import UUID

from infra.postgres.database import Database
from infra.postgres.lane import Beaten, Lane
from infra.postgres.rows import ACTORS, EPOCH, append_row
from infra.sql import statements
from services.codec import decode_event
from services.ids import uuid_of
from services.ports import Append, KeyUsed, Receipt, Recorded, VersionConflict

_SQL = statements("log")
_PACKED = Struct(">hhhh16sq")  # type, schema, actor, round or -1, command, microseconds since EPOCH


class PostgresLog:
    """A GameLog: reads go through the database's pool, appends through the lane."""

    def __init__(self, database: Database, lane: Lane) -> None:
        self._database = database
        self._lane = lane

    async def read(self, game_id: str, after: int = 0) -> list[Recorded]:
        game = uuid_of("gam", game_id)
        if game is None:
            return []
        [[packed, payloads]] = await self._database.fetch(_SQL["read"], game, after)
        return [*_unpacked(game_id, after, packed, payloads)] if packed else []

    async def append(self, append: Append) -> datetime:
        """Is whole or not at all, also where the caller is cancelled."""
        try:
            return await self._lane.write(append_row(append))
        except Beaten as beaten:
            if beaten.is_unknown and (at := await self._time_of(append)):
                return at
            request = append.request
            if request and await self.receipt(append.game_id, request.principal, request.operation, request.key):
                raise KeyUsed from None
            raise VersionConflict from None

    async def receipt(self, game_id: str, principal: str, operation: str, key: str) -> Receipt | None:
        game = uuid_of("gam", game_id)
        rows = await self._database.fetch(_SQL["receipt"], game, principal, operation, key)
        return Receipt(*rows[0]) if rows else None

    async def command_range(self, game_id: str, command_id: UUID) -> tuple[int, int] | None:
        rows = await self._database.fetch(_SQL["command_range"], uuid_of("gam", game_id), command_id)
        return (rows[0]["first_version"], rows[0]["last_version"]) if rows else None

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        games = [(game_id, uuid) for game_id in game_ids if (uuid := uuid_of("gam", game_id))]
        [row] = await self._database.fetch_often(_SQL["heads"], [uuid for _, uuid in games])
        return {game_id: version for (game_id, _), version in zip(games, row["versions"], strict=True) if version}

    async def _time_of(self, append: Append) -> datetime | None:
        """Gives the time of this very append, or None where its command was never carried out here."""
        rows = await self._database.fetch(
            _SQL["command_range"], uuid_of("gam", append.game_id), append.events[0].command_id
        )
        if rows and rows[0]["first_version"] == append.after + 1:
            return rows[0]["occurred_at"]  # type: ignore[no-any-return]
        return None


def _unpacked(game_id: str, after: int, packed: bytes, payloads: Sequence[bytes]) -> Iterator[Recorded]:
    """Reads events; those of one command were appended together, so they share its id and its time."""
    of_command, command, at = b"", UUID(int=0), EPOCH
    for version, (fields, payload) in enumerate(zip(_PACKED.iter_unpack(packed), payloads, strict=True), after + 1):
        type_, schema, actor, round_, command_id, microseconds = fields
        if command_id != of_command:
            of_command, command, at = command_id, UUID(bytes=command_id), EPOCH + timedelta(microseconds=microseconds)
        event, round_ = decode_event(type_, schema, payload), None if round_ < 0 else round_
        yield Recorded(game_id, version, event, ACTORS[actor], round_, command, at)
