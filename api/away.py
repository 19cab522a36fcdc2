"""Who is away, as a viewer is told."""

from collections.abc import Sequence

from api.house import House
from domain.state import Game
from services.listings import ListedGame
from services.ports import Principal
from services.rendering import NOBODY, Away
from services.seeing import sees_late


async def away_from(house: House, caller: Principal, game: Game | ListedGame) -> Away:
    """Tells who is away from a table; one who sees it late is not told, as it would tell of the present.

    Who asks is there, from this very answer on.
    """
    house.at_tables.sign(game.game_id, caller.player_id)
    return (await all_away(house, caller, [game])).get(game.game_id, NOBODY)


async def all_away(house: House, caller: Principal, games: Sequence[Game | ListedGame]) -> dict[str, Away]:
    """Tells who is away from these tables."""
    return {**await house.at_tables.away([game for game in games if not sees_late(game, caller)])}
