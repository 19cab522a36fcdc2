"""Games of very many events: whoever reads one whole holds up nobody else."""

import asyncio

import pytest

from tests.api.world import Player, World, dealt_game

EVENTS = 30_000  # half a second to tell
ENOUGH = 4  # turns of others meanwhile; one where nobody else has a turn


@pytest.mark.parametrize("reading", ["export", "export?format=text", "rounds/1/fairness"])
async def test_others_are_answered_while_a_long_game_is_read(
    world: World, anna: Player, boris: Player, reading: str
) -> None:
    game_id = await dealt_game(world, anna, boris)
    hot = world.house.tables.in_memory(game_id)
    hot.events += [hot.events[-1]] * EVENTS
    turns, told = 0, asyncio.create_task(anna.call("GET", f"/v1/games/{game_id}/{reading}"))
    while not told.done():
        await asyncio.wait({told}, timeout=0.005)
        turns += 1
    assert (await told).status_code == 200
    assert turns > ENOUGH
