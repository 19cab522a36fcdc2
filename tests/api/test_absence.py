"""People who are slow, away, or never come: a warning, the timer's move, a bot that sits in, a game given up."""

from datetime import datetime, timedelta
from hashlib import sha256
from itertools import pairwise

from domain.events import CardDiscarded, SeatChanged
from services.due import next_work
from services.tables import Tables
from services.tending import SILENT_ACTS, tend
from tests.api.silence import PACE, view, wait
from tests.api.world import Clock, Json, Player, World, asked, dealt_game


async def test_a_slow_player_is_warned_once_a_quarter_before_the_end(
    world: World, clock: Clock, anna: Player, boris: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, pace=PACE)
    assert await wait(world, clock, game_id, 44) == []
    assert await wait(world, clock, game_id, 2) == [{"kind": "TurnWarned", "actor": "timer"}]
    shown = await anna.sent("GET", f"/v1/games/{game_id}/events?after=0&limit=500")
    assert shown["items"][-1]["kind"] == "turn_warned"
    assert await wait(world, clock, game_id, 10) == []
    acted = await wait(world, clock, game_id, 5)
    assert acted[0]["actor"] == "timer"
    assert "TurnWarned" not in [each["kind"] for each in acted]


async def test_short_turns_have_no_warning(world: World, clock: Clock, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris, pace=PACE | {"turn_s": 10})
    hot = await world.house.tables.fresh(game_id)
    work = next_work(hot.game, hot.when)
    assert work is not None
    assert work.kind == "turn_timer"


async def test_a_bot_sits_in_for_who_is_silent_three_times(
    world: World, clock: Clock, anna: Player, boris: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, pace=PACE | {"turn_s": 10})
    seats: list[Json] = []
    while "bot" not in [seat["controller"] for seat in seats]:
        assert await wait(world, clock, game_id, 11)
        seats = (await view(anna, game_id))["seats"]
    away = next(seat["seat"] for seat in seats if seat["controller"] == "bot")
    player = (anna, boris)[away]
    hot = await world.house.tables.fresh(game_id)
    acts = [
        each.event
        for before, each in pairwise(hot.events)
        if each.actor == "timer"
        and each.command_id != before.command_id
        and getattr(each.event, "seat", None) == away
        and not isinstance(each.event, SeatChanged)
    ]
    assert len(acts) == SILENT_ACTS
    assert seats[away]["player_id"] == player.player_id
    back = await player.sent("POST", f"/v1/games/{game_id}/seats/{away}/reclaim")
    assert back["seats"][away]["controller"] == "human"


async def test_who_answers_in_between_is_not_away(world: World, clock: Clock, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris, pace=PACE | {"turn_s": 10})
    for _ in range(12):
        await wait(world, clock, game_id, 11)
        for player in (anna, boris):
            if (await view(player, game_id))["decisions"]:
                await player.answer(game_id)
    assert {seat["controller"] for seat in (await view(anna, game_id))["seats"]} == {"human"}


async def test_a_game_that_is_not_started_in_a_day_is_given_up(world: World, clock: Clock, anna: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    assert await wait(world, clock, game_id, 23 * 3600) == []
    assert await wait(world, clock, game_id, 3601) == [{"kind": "GameCancelled", "actor": "timer"}]
    assert (await anna.sent("GET", f"/v1/games/{game_id}"))["status"] == "cancelled"
    assert await wait(world, clock, game_id, 24 * 3600) == []


async def test_who_is_away_is_so_whatever_the_others_do(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    """The others answer about a discard after Anna's time was over: the draw that follows is not her own doing."""
    game_id = await dealt_game(world, anna, boris, clara, pace=PACE | {"turn_s": 10, "claim_window_s": 60})
    for _ in range(60):
        for player in (boris, clara):
            for decision in (shown := await view(player, game_id))["decisions"]:
                if decision["kind"] != "claim" or shown["round"]["phase"] == "claims":
                    passing = {"kind": "pass", "rest_of_round": False}
                    move = passing if decision["kind"] == "claim" else decision["options"][-1]
                    assert (await player.move(game_id, decision["decision_id"], move)).status_code == 201
        if (await view(anna, game_id))["seats"][0]["controller"] == "bot":
            break
        await wait(world, clock, game_id, 11)
    hot = await world.house.tables.fresh(game_id)
    assert [each.event.reason for each in hot.events if isinstance(each.event, SeatChanged)][5:] == ["sat_in"]
    assert hot.game.seats[0].controller == "bot"


async def test_a_clock_that_has_begun_anew_is_not_over(world: World, clock: Clock, anna: Player, boris: Player) -> None:
    """Whoever is in turn plays at the very moment when the timer wants to: it must leave the new decision alone."""
    game_id = await dealt_game(world, anna, boris, pace=PACE | {"turn_s": 10})
    player, shown = await asked(game_id, "play", anna, boris)
    decision = shown["decisions"][0]
    discard = next(move for move in decision["options"] if move["kind"] == "discard")
    tables = Tables(world.log)
    clock.at += timedelta(seconds=11)

    async def just_now() -> datetime:
        await player.move(game_id, decision["decision_id"], discard)
        return clock.at

    await tend(tables, world.secrets, game_id, now=just_now)
    events = world.log.games[game_id]
    assert [each.actor for each in events if isinstance(each.event, CardDiscarded)] == ["player"]
    assert "timer" not in {each.actor for each in events}


async def test_a_waiting_game_whose_nonces_never_come_is_given_up_too(world: World, clock: Clock, anna: Player) -> None:
    committed = {"controller": "you", "nonce_commitment": sha256(bytes(16)).hexdigest()}
    game_id = (await anna.open_game(seats=[committed, {"controller": "bot"}]))["game_id"]
    clock.at += timedelta(hours=24, seconds=-5)
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    assert await wait(world, clock, game_id, 9) == []
    assert (await wait(world, clock, game_id, 2))[0]["kind"] == "NoncesDropped"
    await wait(world, clock, game_id, 0)
    assert (await anna.sent("GET", f"/v1/games/{game_id}"))["status"] == "cancelled"
