"""`python -m tests.openapi.furnished`: a server with people and games; prints its URL, and these as JSON."""

import asyncio
import json

from tests.api.scopes import allow
from tests.api.serve import serve
from tests.api.world import DAVIS, Player, World, new_world, players

SHORT = {"contracts": [[{"kind": "set", "size": 3}]], "max_rounds": 1}
BOTS = {"controller": "bot", "level": "easy"}


async def furnish() -> None:
    """Opens a game that waits, one in which Anna is asked something, and one that is over; then serves."""
    world = new_world()
    async with players(world, "Anna", "Olga") as (anna, olga):
        games = [
            (await anna.open_game())["game_id"],
            await _played(world, anna, {"seats": [{"controller": "you"}, BOTS]}),
            await _played(world, anna, {"seats": [BOTS, BOTS], "overrides": SHORT}),
        ]
        await allow(world, olga, ("operate",))
        tokens = (await anna.sent("GET", "/v1/me/tokens"))["items"]
        asking = [anna.player_id, olga.player_id, tokens[0]["token_id"]]
        said = {"guest": _token(anna), "operator": _token(olga), "asking": asking, "games": games}
    await serve(world, json.dumps(said))


async def _played(world: World, anna: Player, changes: dict[str, object]) -> str:
    game_id: str = (await anna.sent("POST", "/v1/games", {**DAVIS, **changes}))["game_id"]
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    await world.tend(game_id)
    return game_id


def _token(player: Player) -> str:
    return str(player.http.headers["authorization"])


if __name__ == "__main__":
    asyncio.run(furnish())
