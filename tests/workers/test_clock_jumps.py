"""The machine's clock is put forward or back in the middle of a game. Work is due by the database's clock alone."""

from datetime import timedelta

import pytest

from services.handouts import HandOuts
from services.memory import MemoryJobs, MemoryWorkList
from services.sweep import Sweep
from services.tending import tend
from tests.api.conftest import clock, world
from tests.api.world import Clock, Player, World, asked, dealt_game, players
from tests.engines import anyio_backend

__all__ = ["anyio_backend", "clock", "world"]

WINDOW = timedelta(seconds=5)
HOUR = timedelta(hours=1)


async def open_window(world: World, anna: Player, boris: Player) -> str:
    """Deals, and lets the player in turn draw while the other one may still claim."""
    game_id = await dealt_game(world, anna, boris, pace={"claim_window_s": 5, "turn_s": 600, "bot_delay_ms": 0})
    player, view = await asked(game_id, "draw", anna, boris)
    decision = next(decision for decision in view["decisions"] if decision["kind"] == "draw")
    answer = await player.move(game_id, decision["decision_id"], {"kind": "draw_stock"})
    assert [event["kind"] for event in answer.json()["events"]] == ["draw_declined"]
    return game_id


async def closed(world: World, game_id: str) -> int:
    """Sweeps and does what is handed out; gives how often a window was closed so far."""
    jobs = MemoryJobs()
    sweep = Sweep(MemoryWorkList(world.log), hand_outs := HandOuts(jobs), upkeep=_nothing, watch=_nothing)
    await sweep.step(0.0)
    if hand_outs._waiting:
        for _ in range(2):  # a job done twice does nothing twice
            await tend(world.house.tables, world.secrets, game_id, now=world.now)
    return sum(type(recorded.event).__name__ == "ClaimsClosed" for recorded in world.log.games[game_id])


@pytest.mark.parametrize("jump", [HOUR, -HOUR, timedelta(0)])
async def test_a_window_is_closed_once_when_its_time_is_over_by_the_database(
    world: World, clock: Clock, jump: timedelta
) -> None:
    async with players(world, "Anna", "Boris") as (anna, boris):
        game_id = await open_window(world, anna, boris)
        clock.at += WINDOW / 2 + jump
        assert await closed(world, game_id) == (1 if jump > WINDOW else 0)
        clock.at += WINDOW
        assert await closed(world, game_id) == (0 if jump < timedelta(0) else 1)
        clock.at += HOUR  # put back by an hour, a timer is late by an hour and no more
        assert await closed(world, game_id) == 1
        assert [recorded.version for recorded in world.log.games[game_id]] == [
            *range(1, len(world.log.games[game_id]) + 1)
        ]


async def _nothing() -> None:
    """Keeps nothing up."""
