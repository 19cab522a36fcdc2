"""Tickets of quick match, on Postgres."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from uuid import UUID

import asyncpg
import msgspec

from domain.commands import Pace
from domain.ruleset import Players
from infra.postgres.database import Database
from infra.sql import statements
from services.ids import public_id, public_id_if_any, uuid_of
from services.tickets import PACES, NewTicket, SeatedTable, Ticket

_SQL = statements("tickets")


class PostgresTickets:
    """Tickets over the table match_ticket."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, ticket_id: UUID, new: NewTicket) -> Ticket | None:
        who = (uuid_of("ply", new.player_id), uuid_of("tok", new.token_id))
        what = (new.ruleset, new.players.min, new.players.max, _written(new.pace), new.bots_after_s, new.rating)
        await self._database.write(_SQL["keep"], ticket_id, *who, *what)
        rows = await self._database.fetch(_SQL["kept"], ticket_id)
        return _ticket(rows[0]) if rows else None

    async def find(self, ticket_id: str, player_id: str) -> Ticket | None:
        rows = await self._database.write(
            _SQL["find"], uuid_of("tkt", ticket_id), uuid_of("ply", player_id), again=True
        )
        return _ticket(rows[0]) if rows else None

    async def of_player(self, player_id: str, limit: int) -> list[Ticket]:
        return [
            _ticket(row)
            for row in await self._database.write(_SQL["of_player"], uuid_of("ply", player_id), limit, again=True)
        ]

    async def cancel(self, ticket_id: str, player_id: str) -> Ticket | None:
        await self._database.write(_SQL["cancel"], uuid_of("tkt", ticket_id), uuid_of("ply", player_id), again=True)
        return await self.find(ticket_id, player_id)

    async def waiting(self, limit: int) -> list[Ticket]:
        return [_ticket(row) for row in await self._database.fetch(_SQL["waiting"], limit, _CLASSES)]

    async def expire(self, ticket_ids: Sequence[str]) -> None:
        await self._database.write(_SQL["expire"], [uuid_of("tkt", each) for each in ticket_ids], again=True)

    async def seat(self, game_id: str, ticket_ids: Sequence[str], seats: int) -> bool:
        tickets = [uuid_of("tkt", each) for each in ticket_ids]
        return bool(await self._database.write(_SQL["seat"], uuid_of("gam", game_id), tickets, seats))

    async def seated(self) -> list[SeatedTable]:
        rows = await self._database.fetch(_SQL["seated"])
        tables = [(game_id, list(those)) for game_id, those in groupby(rows, lambda row: row["game_id"])]
        return [
            SeatedTable(public_id("gam", game_id), tuple(map(_ticket, those)), those[0]["seats"])
            for game_id, those in tables
        ]

    async def tell(self, game_id: str) -> None:
        await self._database.write(_SQL["tell"], uuid_of("gam", game_id), again=True)

    async def release(self, game_id: str, after_s: float) -> None:
        with suppress(asyncpg.UniqueViolationError):  # somebody asks for another one at this moment: the next time
            await self._database.write(_SQL["release"], uuid_of("gam", game_id), after_s)

    async def forget_old(self) -> None:
        await self._database.write(_SQL["forget_old"], again=True)


def _written(pace: Pace) -> str:
    return msgspec.json.encode(pace).decode()


_CLASSES = list(map(_written, PACES.values()))


def _ticket(row: asyncpg.Record) -> Ticket:
    wanted = NewTicket(
        player_id=public_id("ply", row["player_id"]),
        token_id=public_id("tok", row["token_id"]),
        ruleset=row["ruleset"],
        players=Players(row["min_players"], row["max_players"]),
        pace=msgspec.json.decode(row["pace"], type=Pace),
        bots_after_s=row["bots_after_s"],
        rating=row["rating"],
    )
    return Ticket(
        ticket_id=public_id("tkt", row["ticket_id"]),
        wanted=wanted,
        state=row["state"],
        created_at=row["created_at"],
        waited_s=((row["ended_at"] or row["now"]) - row["created_at"]).total_seconds(),
        unseen_s=(row["now"] - row["seen_at"]).total_seconds(),
        game_id=public_id_if_any("gam", row["game_id"]),
    )
