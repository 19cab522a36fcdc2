"""Tables at which time goes by."""

from datetime import timedelta
from typing import Any

from services.memory import MemoryWorkList
from tests.api.world import Clock, Json, Player, World

PACE = {"claim_window_s": 0, "turn_s": 60, "bot_delay_ms": 0}


async def wait(world: World, clock: Clock, game_id: str, seconds: float) -> list[Json]:
    """Lets time go by and the clock process do what is due; gives what a spectator sees of it."""
    before = (await world.house.tables.fresh(game_id)).version
    clock.at += timedelta(seconds=seconds)
    for due in await MemoryWorkList(world.log).due(10):
        await world.tend(due.game_id)
    hot = await world.house.tables.fresh(game_id)
    return [{"kind": type(each.event).__name__, "actor": each.actor} for each in hot.events[before:]]


async def view(player: Player, game_id: str) -> Any:
    """Reads the view of a table."""
    return await player.sent("GET", f"/v1/games/{game_id}/view")
