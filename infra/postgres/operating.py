"""What operators search, and the book of their deeds, on Postgres."""

from typing import Any

from infra.postgres.database import Database
from infra.postgres.rows import LAST_ID, WORK_KINDS
from infra.sql import statements
from services.ids import public_id, public_id_if_any, uuid_if_any, uuid_of
from services.operating import STALLED_S, Deed, FoundGame, FoundPlayer, GamesSought, KeptWork, NotedDeed

_SQL = statements("operating")
_LAST_NUMBER = (1 << 63) - 1


class PostgresDesk:
    """An OperatorDesk over the log, the read models, players, and the table operator_deed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def games(self, sought: GamesSought, before: str | None, limit: int) -> list[FoundGame]:
        game, player = uuid_if_any("gam", sought.game_id), uuid_if_any("ply", sought.player_id)
        if (game is None) != (sought.game_id is None) or (player is None) != (sought.player_id is None):
            return []
        oldest = uuid_if_any("gam", before) or LAST_ID
        rows = await self._database.fetch(
            _SQL["games"], oldest, game, player, sought.status, sought.is_stalled, STALLED_S, limit
        )
        return [
            FoundGame(public_id("gam", row["game_id"]), row["status"], row["version"], row["occurred_at"], _work(row))
            for row in rows
        ]

    async def work(self, game_id: str) -> KeptWork | None:
        rows = await self._database.fetch(_SQL["work"], uuid_of("gam", game_id))
        return _work(rows[0]) if rows else None

    async def players(self, name: str, before: str | None, limit: int) -> list[FoundPlayer]:
        rows = await self._database.fetch(_SQL["players"], uuid_if_any("ply", before) or LAST_ID, None, name, limit)
        return [_player(row) for row in rows]

    async def player(self, player_id: str) -> FoundPlayer | None:
        player = uuid_of("ply", player_id)
        if player is None:
            return None
        rows = await self._database.fetch(_SQL["players"], LAST_ID, player, "", 1)
        return _player(rows[0]) if rows else None

    async def revoke_all(self, player_id: str) -> None:
        await self._database.write(_SQL["revoke_all"], uuid_of("ply", player_id), again=True)

    async def suspend(self, player_id: str, *, is_suspended: bool) -> None:
        await self._database.write(_SQL["suspend"], uuid_of("ply", player_id), is_suspended, again=True)

    async def note(self, deed: Deed) -> None:
        game, player = uuid_if_any("gam", deed.game_id), uuid_if_any("ply", deed.player_id)
        where = (game, player, deed.reason)
        await self._database.write(_SQL["note"], deed.deed_id, deed.what, deed.operator, *where, again=True)

    async def deeds(self, before: int | None, limit: int) -> list[NotedDeed]:
        rows = await self._database.fetch(_SQL["deeds"], before or _LAST_NUMBER, limit)
        return [
            NotedDeed(
                row["number"],
                row["noted_at"],
                row["what"],
                row["operator"],
                public_id_if_any("gam", row["game_id"]),
                public_id_if_any("ply", row["player_id"]),
                row["reason"],
            )
            for row in rows
        ]


def _work(row: Any) -> KeptWork | None:
    if row["kind"] is None:
        return None
    kind = WORK_KINDS.get(row["kind"])
    is_timed = kind is not None  # else it is due at infinity
    return KeptWork(row["work_version"], kind, row["due_at"] if is_timed else None, row["overdue_s"] if is_timed else 0)


def _player(row: Any) -> FoundPlayer:
    return FoundPlayer(
        public_id("ply", row["player_id"]), row["name"], row["created_at"], row["suspended_at"], row["tokens"]
    )
