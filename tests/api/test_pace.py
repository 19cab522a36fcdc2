"""Games of days: their bounds and warnings, a seat's new holder, and tables that everybody has deserted."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from domain.events import SeatChanged
from infra.verify import verify
from services.due import DESERTED_S, next_work, warning_s
from services.tables import Tables
from services.tending import tend
from tests.api.problems import assert_problem
from tests.api.silence import PACE, view, wait
from tests.api.world import DAVIS, Clock, Player, World, dealt_game, in_turn

DAY_S = 24 * 3600
SHORT = {"contracts": [[{"kind": "set", "size": 3}]]}


async def deserted_game(world: World, clock: Clock, anna: Player, boris: Player, **changes: Any) -> str:
    """Plays a game in which nobody answers, until bots sit in for all."""
    game_id = await dealt_game(world, anna, boris, pace=PACE | {"turn_s": 10} | changes)
    while {seat["controller"] for seat in (await view(anna, game_id))["seats"]} != {"bot"}:
        await wait(world, clock, game_id, changes.get("turn_s", 10) + 1)
    return game_id


async def test_bots_do_not_play_on_for_people_who_are_all_away(
    world: World, clock: Clock, anna: Player, boris: Player
) -> None:
    game_id = await deserted_game(world, clock, anna, boris)
    assert await wait(world, clock, game_id, DESERTED_S - 60) == []
    shown = await view(anna, game_id)
    assert (shown["status"], [seat["away"] for seat in shown["seats"]]) == ("playing", [True, True])
    assert await wait(world, clock, game_id, 61) == [{"kind": "GameCancelled", "actor": "timer"}]
    assert (await view(anna, game_id))["status"] == "cancelled"
    assert await wait(world, clock, game_id, 100 * DAY_S) == []
    last = (await anna.sent("GET", f"/v1/games/{game_id}/events?limit=500"))["items"][-1]
    assert (last["kind"], last["data"]["reason"]) == ("game_cancelled", "expired")
    export = await anna.call("GET", f"/v1/games/{game_id}/export")
    assert not verify(export.content)[0].findings


async def test_a_deserted_game_goes_on_with_the_first_who_is_back(
    world: World, clock: Clock, anna: Player, boris: Player
) -> None:
    game_id = await deserted_game(world, clock, anna, boris)
    await wait(world, clock, game_id, 3 * DAY_S)
    before = (await view(anna, game_id))["version"]
    assert not (await anna.sent("POST", f"/v1/games/{game_id}/seats/0/reclaim"))["seats"][0]["away"]
    await world.tend(game_id)
    if (await view(anna, game_id))["round"]["turn"] == 1:
        assert (await view(anna, game_id))["version"] > before + 1, "the bot in Boris's place has not played"
    await anna.answer(game_id)
    while (await view(anna, game_id))["seats"][0]["controller"] == "human":
        await wait(world, clock, game_id, 11)
    assert await wait(world, clock, game_id, DESERTED_S - 60) == []
    assert [each["kind"] for each in await wait(world, clock, game_id, 61)] == ["GameCancelled"]


async def test_a_deserted_game_waits_three_long_turns(world: World, clock: Clock, anna: Player, boris: Player) -> None:
    game_id = await deserted_game(world, clock, anna, boris, turn_s=10 * DAY_S)
    assert await wait(world, clock, game_id, 29 * DAY_S) == []
    assert [each["kind"] for each in await wait(world, clock, game_id, DAY_S + 1)] == ["GameCancelled"]


async def test_a_game_whose_people_have_left_it_to_bots_is_played_to_its_end(
    world: World, clock: Clock, anna: Player, boris: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, overrides=SHORT)
    await anna.sent("POST", f"/v1/games/{game_id}/seats/0/abandon")
    await boris.sent("PUT", f"/v1/games/{game_id}/seats/1/bot", {})
    await world.tend(game_id)
    assert (await view(anna, game_id))["status"] == "finished"


async def test_a_deserted_game_ends_when_the_last_who_may_come_back_gives_it_up(
    world: World, clock: Clock, anna: Player, boris: Player
) -> None:
    game_id = await deserted_game(world, clock, anna, boris)
    for seat, player in enumerate((anna, boris)):
        assert (await view(anna, game_id))["status"] == "playing"
        await player.sent("POST", f"/v1/games/{game_id}/seats/{seat}/reclaim")
        await player.sent("POST", f"/v1/games/{game_id}/seats/{seat}/abandon")
    await world.tend(game_id)
    assert (await view(anna, game_id))["status"] == "finished"


@pytest.mark.parametrize(
    ("pace", "is_fit"),
    [
        ({"claim_window_s": 2 * DAY_S, "turn_s": 14 * DAY_S}, True),
        ({"claim_window_s": 121, "turn_s": 3600}, True),
        ({"claim_window_s": 121, "turn_s": 3599}, False),
        ({"claim_window_s": 120, "turn_s": 5}, True),
        ({"claim_window_s": 2 * DAY_S + 1, "turn_s": 14 * DAY_S}, False),
        ({"turn_s": 14 * DAY_S + 1}, False),
    ],
)
async def test_long_claim_windows_go_with_long_turns(anna: Player, pace: dict[str, int], is_fit: bool) -> None:
    answer = await anna.call("POST", "/v1/games", DAVIS | {"pace": pace}, idempotency_key="k")
    if is_fit:
        assert answer.status_code == 201
    else:
        assert_problem(answer, 422, "invalid_request")


async def test_a_claim_window_may_last_for_days(world: World, clock: Clock, anna: Player, boris: Player) -> None:
    pace = {"claim_window_s": 2 * DAY_S, "turn_s": 14 * DAY_S}
    game_id = await dealt_game(world, anna, boris, pace=pace)
    player, shown = await in_turn(game_id, anna, boris)
    assert shown["round"]["phase"] == "draw"
    [draw] = shown["decisions"]
    await player.move(game_id, draw["decision_id"], {"kind": "draw_stock"})
    assert await wait(world, clock, game_id, 2 * DAY_S - 1) == []
    assert [each["kind"] for each in await wait(world, clock, game_id, 2)][:1] == ["ClaimsClosed"]


def test_a_warning_leaves_time_to_act() -> None:
    assert [warning_s(turn_s) for turn_s in (20, 60, 3600, 4 * 3600, DAY_S, 14 * DAY_S)] == [
        5, 15, 900, 3600, 2 * 3600, 28 * 3600,
    ]  # fmt: skip


async def test_who_takes_a_seat_over_has_its_whole_time_once(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, pace=PACE)
    player, shown = await in_turn(game_id, anna, boris)
    seat, start = shown["round"]["turn"], clock.at
    path = f"/v1/games/{game_id}/seats/{seat}/handover"
    await wait(world, clock, game_id, 50)
    await player.sent("POST", path, {"player_id": clara.player_id})
    assert await deadline(clara, game_id) == start + timedelta(seconds=50 + 60)
    assert [each["kind"] for each in await wait(world, clock, game_id, 46)] == ["TurnWarned"]
    await clara.sent("POST", path, {"player_id": player.player_id})
    assert await deadline(player, game_id) == start + timedelta(seconds=50 + 60)
    assert (await wait(world, clock, game_id, 15))[0]["actor"] == "timer"


async def deadline(player: Player, game_id: str) -> datetime:
    [decision] = (await view(player, game_id))["decisions"]
    return datetime.fromisoformat(decision["deadline_at"])


async def test_the_other_seat_going_over_gives_no_time(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, pace=PACE)
    player, shown = await in_turn(game_id, anna, boris)
    other = boris if player is anna else anna
    before = await deadline(player, game_id)
    clock.at += timedelta(seconds=20)
    path = f"/v1/games/{game_id}/seats/{1 - shown['round']['turn']}/handover"
    await other.sent("POST", path, {"player_id": clara.player_id})
    assert await deadline(player, game_id) == before


async def test_a_timer_that_comes_late_leaves_the_new_holder_alone(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    """The job was handed out for the old holder's clock; the hand goes over while it is on its way."""
    game_id = await dealt_game(world, anna, boris, pace=PACE | {"turn_s": 10})
    player, shown = await in_turn(game_id, anna, boris)
    clock.at += timedelta(seconds=11)
    tables = Tables(world.log)

    async def just_now() -> datetime:
        path = f"/v1/games/{game_id}/seats/{shown['round']['turn']}/handover"
        await player.sent("POST", path, {"player_id": clara.player_id})
        return clock.at

    await tend(tables, world.secrets, game_id, now=just_now)
    assert isinstance(world.log.games[game_id][-1].event, SeatChanged)
    hot = await tables.fresh(game_id)
    work = next_work(hot.game, hot.when)
    assert work is not None
    assert work.at == clock.at
