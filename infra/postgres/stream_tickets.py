"""Stream tickets on Postgres."""

from collections.abc import Sequence

from infra.postgres.database import Database
from infra.sql import statements
from services.ids import public_id, uuid_of
from services.stream_tickets import FIRST_USE_S, LIFE_S, TICKETS_AT_MOST, Opens, TicketHolder, TicketTimes

_SQL = statements("stream_tickets")


class PostgresStreamTickets:
    """StreamTickets over the table stream_ticket."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def make(self, ticket: bytes, token_id: str, opens: Opens) -> TicketTimes | None:
        what = (uuid_of("tok", token_id), _game(opens), opens.with_view)
        bounds = (float(FIRST_USE_S), float(LIFE_S), TICKETS_AT_MOST)
        rows = await self._database.write(_SQL["make"], ticket, *what, *bounds)
        return TicketTimes(**rows[0]) if rows else None

    async def use(self, ticket: bytes, opens: Opens) -> TicketHolder | None:
        rows = await self._database.write(_SQL["use"], ticket, _game(opens), opens.with_view, float(LIFE_S), again=True)
        for player, name, scopes, token, expires_at, turn in rows:
            player_id, token_id = public_id("ply", player), public_id("tok", token)
            return TicketHolder(player_id, name, tuple(scopes), token_id, expires_at, ticket, turn)
        return None

    async def turns(self, tickets: Sequence[bytes]) -> dict[bytes, int]:
        return dict(await self._database.fetch(_SQL["turns"], list(tickets)))


def _game(opens: Opens) -> object:
    return None if opens.game_id is None else uuid_of("gam", opens.game_id)
