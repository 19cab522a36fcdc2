"""Who has which games, from the read models on Postgres."""

import msgspec

from infra.postgres.database import Database
from infra.postgres.lobby import decode_shown, unprojected
from infra.sql import statements
from services.ids import public_id, uuid_of
from services.own_games import LOOKED_AT, OwnGame, Projected

_SQL = statements("own_games")


class PostgresOwnGames:
    """OwnGames over the tables that the projector keeps."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, player_id: str) -> Projected:
        fresh = await unprojected(self._database)
        rows = await self._database.fetch(_SQL["of"], uuid_of("ply", player_id), LOOKED_AT)
        games: list[OwnGame] = []
        for game, is_over, shown in rows:
            game_id = public_id("gam", game)
            try:
                games.append(OwnGame(game_id, is_over=is_over, seats=decode_shown(shown).seats if shown else ()))
            except msgspec.ValidationError:  # written in another shape by another version of this program
                fresh.append(game_id)
        return Projected(tuple(games), tuple(fresh))
