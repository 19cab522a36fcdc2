"""Rules of somebody's own that make a lay-down hard to find: they cost their own table time, not everybody's."""

import time

from domain.bots import choose
from domain.commands import Level, Move
from domain.decisions import open_decisions
from domain.ruleset import Ruleset
from domain.view import View, decisions_of
from services.tending import THINK_S, tend
from tests.api.world import Player, World, dealt_game, in_turn


def slow(view: View, decision_id: str, rules: Ruleset, level: Level) -> Move:
    """Chooses as bots do, after as long as a hard hand may take."""
    until = time.thread_time() + THINK_S
    while time.thread_time() < until:
        pass
    return choose(view, decision_id, rules, level)


async def test_bots_that_think_long_answer_what_is_open_and_let_other_games_go_first(
    world: World, anna: Player
) -> None:
    game = await anna.open_game(seats=[{"controller": "bot"}, {"controller": "bot"}], pace={"bot_delay_ms": 0})
    await anna.sent("POST", f"/v1/games/{game['game_id']}/start")
    await tend(world.house.tables, world.secrets, game["game_id"], now=world.now)  # deals
    for _ in range(2):
        before = await world.house.tables.fresh(game["game_id"])
        version, asked = before.version, len(open_decisions(before.game))
        await tend(world.house.tables, world.secrets, game["game_id"], now=world.now, choose=slow)
        new = (await world.house.tables.fresh(game["game_id"])).events[version:]
        assert 0 < len({each.command_id for each in new if each.actor == "bot"}) <= asked


async def test_what_is_asked_is_worked_out_once_for_each_version(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    hot, seat = world.house.tables.in_memory(game_id), view["you"]["seat"]
    before = hot.asked(seat)
    assert len(before) == 1
    await player.view(game_id)
    assert hot.asked(seat) is before
    await player.answer(game_id)
    assert hot.asked(seat) != before
    assert hot.asked(seat) == decisions_of(hot.game, seat)
