"""Who has which games, from the read models on Postgres."""

import msgspec

from infra.postgres.database import Database
from infra.postgres.lobby import Shown
from infra.sql import statements
from services.codec import TYPE_NUMBERS
from services.ids import public_id, uuid_of
from services.listings import LISTED_AT_ONCE
from services.lobby import LISTED_AT_MOST
from services.own_games import LOOKED_AT, OwnGame, Projected

_SQL = statements("own_games")
_UNPROJECTED = statements("projections")["unprojected"]
_TAIL = 5_000  # of the events that are not projected yet the last so many are looked at
_TYPES = [TYPE_NUMBERS[type_] for type_ in LISTED_AT_ONCE]
_decode = msgspec.json.Decoder(Shown).decode


class PostgresOwnGames:
    """OwnGames over the tables that the projector keeps."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, player_id: str) -> Projected:
        """Asks for what is not projected before it reads what is, so that no game is missed in between."""
        tail = await self._database.fetch(_UNPROJECTED, _TYPES, _TAIL, LISTED_AT_MOST)
        rows = await self._database.fetch(_SQL["of"], uuid_of("ply", player_id), LOOKED_AT)
        games: list[OwnGame] = []
        unprojected = [public_id("gam", row["game_id"]) for row in tail]
        for game, is_over, shown in rows:
            game_id = public_id("gam", game)
            try:
                games.append(OwnGame(game_id, is_over=is_over, seats=_decode(shown).seats if shown else ()))
            except msgspec.ValidationError:  # written in another shape by another version of this program
                unprojected.append(game_id)
        return Projected(tuple(games), tuple(unprojected))
