"""Bots at the table: how much they do in one job, what they do when they fail, and that twice is once."""

from collections.abc import Callable

import pytest

from domain.bots import choose
from domain.commands import Level, Move
from domain.decisions import open_decisions
from domain.ruleset import Ruleset
from domain.view import View
from services import tending
from services.tables import Draft
from services.tending import MOVES_AT_ONCE, _play_bots, tend
from tests.api.world import Player, World

Choose = Callable[[View, str, Ruleset, Level], Move]


async def dealt(world: World, anna: Player, bot_delay_ms: int) -> str:
    """Opens a game of two bots and deals; gives its id."""
    seats = [{"controller": "bot"}] * 2
    game_id: str = (await anna.open_game(seats=seats, pace={"bot_delay_ms": bot_delay_ms}))["game_id"]
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    await tend(world.house.tables, world.secrets, game_id, now=world.now)
    return game_id


async def moves(world: World, game_id: str, choose: Choose = choose) -> tuple[int, int]:
    """Does one job; gives how many bots were asked before, and how many answers were written."""
    before = await world.house.tables.fresh(game_id)
    version, asked = before.version, len(open_decisions(before.game))
    await tend(world.house.tables, world.secrets, game_id, now=world.now, choose=choose)
    new = (await world.house.tables.fresh(game_id)).events[version:]
    return asked, len({each.command_id for each in new if each.actor == "bot"})


async def test_a_polite_bot_answers_what_is_open_and_waits_before_the_next(world: World, anna: Player) -> None:
    game_id = await dealt(world, anna, bot_delay_ms=700)
    for _ in range(3):
        asked, answered = await moves(world, game_id)
        assert 0 < answered <= asked


async def test_bots_among_themselves_play_on_up_to_a_bound(
    world: World, anna: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tending, "THINK_S", 60.0)
    asked, answered = await moves(world, await dealt(world, anna, bot_delay_ms=0))
    assert asked < answered <= asked + MOVES_AT_ONCE


async def test_a_bot_that_fails_makes_the_timers_move_and_the_log_tells_no_card(
    world: World, anna: Player, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> Move:
        raise ValueError("7H")

    _, answered = await moves(world, await dealt(world, anna, bot_delay_ms=700), fail)
    assert answered > 0
    assert "ValueError of a bot" in caplog.text
    assert "7H" not in caplog.text


async def test_whoever_does_a_job_names_its_commands_alike_so_that_the_log_takes_them_once(
    world: World, anna: Player
) -> None:
    hot = await world.house.tables.fresh(await dealt(world, anna, bot_delay_ms=700))
    drafts = [Draft(hot) for _ in range(2)]
    for draft in drafts:
        _play_bots(draft)
    first, second = ([each.command_id for each in draft.events] for draft in drafts)
    assert first == second != []
