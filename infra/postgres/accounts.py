"""Players and their tokens, and the ids reserved for keyed requests, on Postgres."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from infra.postgres.database import Database
from infra.sql import statements
from services.identity import Guest, Scope, create_guest
from services.ids import public_id, uuid_if_any, uuid_of, uuids_of
from services.ports import KeyedRequest, NewToken, Principal, Token

_SQL = statements("accounts")


class PostgresAccounts:
    """Accounts over the tables player and token."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_guest(self, player_id: str, name: str, token_hash: bytes, scopes: Sequence[str]) -> None:
        await self._database.write(_SQL["add_guest"], uuid_of("ply", player_id), name, token_hash, list(scopes))

    async def principal(self, token_hash: bytes) -> Principal | None:
        for row in await self._database.fetch(_SQL["principal"], token_hash):
            player_id, token_id = public_id("ply", row["player_id"]), public_id("tok", row["token_id"])
            return Principal(player_id, row["name"], tuple(row["scopes"]), token_id, row["expires_at"])
        return None

    async def names(self, player_ids: Sequence[str]) -> dict[str, str]:
        players = uuids_of("ply", player_ids)
        rows = await self._database.fetch(_SQL["names"], players)
        return {public_id("ply", row["player_id"]): row["name"] for row in rows}

    async def forget(self, player_id: str) -> None:
        await self._database.write(_SQL["forget"], uuid_of("ply", player_id), again=True)

    async def rename(self, player_id: str, name: str) -> bool:
        return bool(await self._database.write(_SQL["rename"], uuid_of("ply", player_id), name, again=True))

    async def add_token(self, player_id: str, token_hash: bytes, new: NewToken, at_most: int) -> Token | None:
        token_id, scopes = uuid_of("tok", new.token_id), list(new.scopes)
        asked_by = uuid_if_any("tok", new.asked_by)
        what = (token_hash, token_id, new.label, scopes, new.valid_s, new.expires_at, at_most, asked_by)
        rows = await self._database.write(_SQL["add_token"], uuid_of("ply", player_id), *what)
        return _token(rows[0]) if rows else None

    async def tokens(self, player_id: str) -> list[Token]:
        return [_token(row) for row in await self._database.fetch(_SQL["tokens"], uuid_of("ply", player_id))]

    async def revoke(self, player_id: str, token_id: str, asked_by: str | None = None) -> set[str]:
        asking = None if asked_by is None else uuid_of("tok", asked_by)
        ids = uuid_of("ply", player_id), uuid_of("tok", token_id), asking
        return {
            public_id("tok", row["token_id"]) for row in await self._database.write(_SQL["revoke"], *ids, again=True)
        }

    async def living(self, token_ids: Sequence[str]) -> set[str]:
        tokens = uuids_of("tok", token_ids)
        rows = await self._database.fetch(_SQL["living"], tokens)
        return {public_id("tok", row["token_id"]) for row in rows}


class PostgresReservations:
    """Reservations over the table of that name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reserve(self, request: KeyedRequest, new_id: UUID) -> tuple[UUID, bytes]:
        place = (request.principal, request.operation, request.key)
        rows = await self._database.write(_SQL["reserve"], *place, request.fingerprint, new_id, again=True)
        [kept] = rows or await self._database.fetch(_SQL["reserved"], *place)
        return kept["new_id"], kept["fingerprint"]

    async def reserve_game(self, request: KeyedRequest, new_id: UUID, at_most: int) -> tuple[UUID, bytes] | None:
        place = (request.principal, request.operation, request.key)
        what = (request.fingerprint, new_id, at_most)
        rows = await self._database.write(_SQL["reserve_game"], *place, *what, again=True)
        rows = rows or await self._database.fetch(_SQL["reserved"], *place)
        return (rows[0]["new_id"], rows[0]["fingerprint"]) if rows else None

    async def is_kept(self, request: KeyedRequest) -> bool:
        place = (request.principal, request.operation, request.key)
        return bool(await self._database.fetch(_SQL["reserved"], *place))

    async def unfinished(self, player_id: str, limit: int) -> list[UUID]:
        return [row["new_id"] for row in await self._database.fetch(_SQL["unfinished"], player_id, limit)]

    async def finish(self, new_ids: Sequence[UUID]) -> None:
        await self._database.write(_SQL["finish"], new_ids, again=True)


async def new_player(url: str, name: str, scopes: Sequence[Scope]) -> Guest:
    """Adds a player with a token of these scopes. Errors: Unavailable."""
    database = Database(url, size=1, name="shanghai token")
    try:
        return await create_guest(PostgresAccounts(database), name, scopes)
    finally:
        await database.close()


def _token(row: Any) -> Token:
    return Token(
        public_id("tok", row["token_id"]), row["label"], tuple(row["scopes"]), row["created_at"], row["expires_at"]
    )
