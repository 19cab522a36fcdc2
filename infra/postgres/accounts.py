"""Players and their tokens, and the ids reserved for keyed requests, on Postgres."""

from collections.abc import Sequence
from uuid import UUID

from infra.postgres.database import Database
from infra.sql import statements
from services.ids import public_id, uuid_of
from services.ports import KeyedRequest, Principal

_SQL = statements("accounts")


class PostgresAccounts:
    """Accounts over the tables player and token."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_guest(self, player_id: str, name: str, token_hash: bytes, scopes: Sequence[str]) -> None:
        await self._database.run(_SQL["add_guest"], uuid_of("ply", player_id), name, token_hash, list(scopes))

    async def principal(self, token_hash: bytes) -> Principal | None:
        rows = await self._database.fetch(_SQL["principal"], token_hash)
        return (
            Principal(public_id("ply", rows[0]["player_id"]), rows[0]["name"], tuple(rows[0]["scopes"]))
            if rows
            else None
        )

    async def names(self, player_ids: Sequence[str]) -> dict[str, str]:
        players = [uuid for player_id in player_ids if (uuid := uuid_of("ply", player_id))]
        rows = await self._database.fetch(_SQL["names"], players)
        return {public_id("ply", row["player_id"]): row["name"] for row in rows}

    async def forget(self, player_id: str) -> None:
        await self._database.fetch(_SQL["forget"], uuid_of("ply", player_id))


class PostgresReservations:
    """Reservations over the table of that name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(self, request: KeyedRequest, new_id: UUID) -> tuple[UUID, bytes]:
        place = (request.principal, request.operation, request.key)
        rows = await self._database.fetch(_SQL["reserve"], *place, request.fingerprint, new_id)
        [kept] = rows or await self._database.fetch(_SQL["reserved"], *place)
        return kept["new_id"], kept["fingerprint"]
