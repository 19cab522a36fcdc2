"""Invites on Postgres."""

from uuid import UUID

import asyncpg

from infra.postgres.database import Database
from infra.sql import statements
from services.ids import public_id, uuid_of
from services.invites import Invite, NewInvite

_SQL = statements("invites")


class PostgresInvites:
    """Invites over the table of that name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, invite_id: UUID, new: NewInvite, at_most: int) -> Invite | None:
        game_id, made_by = uuid_of("gam", new.game_id), uuid_of("ply", new.made_by)
        values = (invite_id, new.code, game_id, new.seat, new.is_hand, made_by, float(new.valid_s))
        await self._database.write(_SQL["keep"], *values, at_most)
        return await self.kept(invite_id)

    async def kept(self, invite_id: UUID) -> Invite | None:
        rows = await self._database.fetch(_SQL["kept"], invite_id)
        return _invite(rows[0]) if rows else None

    async def find(self, code: str) -> Invite | None:
        rows = await self._database.fetch(_SQL["find"], code)
        return _invite(rows[0]) if rows else None

    async def living(self, game_id: str, made_by: str) -> int:
        [[count]] = await self._database.fetch(_SQL["living"], uuid_of("gam", game_id), uuid_of("ply", made_by))
        return int(count)

    async def forget_old(self) -> None:
        await self._database.write(_SQL["forget_old"], again=True)


def _invite(row: asyncpg.Record) -> Invite:
    return Invite(
        code=row["code"],
        game_id=public_id("gam", row["game_id"]),
        seat=row["seat"],
        is_hand=row["is_hand"],
        made_by=public_id("ply", row["made_by"]),
        expires_at=row["expires_at"],
        is_expired=row["is_expired"],
    )
