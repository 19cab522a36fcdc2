"""When a game is over: who may see its open hands and check its luck, by the way of its spectators."""

from datetime import timedelta

import pytest

from services.chronicle import face
from tests.api.problems import assert_problem
from tests.api.world import Clock, Player, World, dealt_game

LOOKS = ("/replay", "/rounds/1/fairness", "/view", "/events", "/export", "/scores")
ONE_ROUND = {"max_rounds": 1}


@pytest.fixture
async def dora(everybody: list[Player]) -> Player:
    """Is a stranger to every game."""
    return await everybody[3].join("Dora")


async def finished(world: World, anna: Player, boris: Player, clara: Player, **changes: object) -> str:
    """A game of Anna and Boris; Boris hands his cards over to Clara, and bots play it to its end."""
    game_id = await dealt_game(world, anna, boris, overrides=ONE_ROUND, **changes)
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
    for player, seat in ((anna, 0), (clara, 1)):
        await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}/bot", {"level": "easy"})
    await world.tend(game_id)
    assert (await world.house.tables.fresh(game_id)).game.status == "finished"
    return game_id


async def codes(player: Player, game_id: str) -> dict[str, str]:
    """What a player is answered, by what they look at."""
    found = {}
    for look in LOOKS:
        answer = await player.call("GET", f"/v1/games/{game_id}{look}")
        found[look] = "" if answer.is_success else str(answer.json()["code"])
    return found


ALL = dict.fromkeys(LOOKS, "")


async def test_a_public_game_is_open_to_everybody_when_it_is_over(
    world: World, anna: Player, boris: Player, clara: Player, dora: Player
) -> None:
    game_id = await finished(world, anna, boris, clara, spectators="public")
    for player in (anna, boris, clara, dora):
        assert await codes(player, game_id) == ALL
    page = await dora.sent("GET", f"/v1/games/{game_id}/replay?limit=500")
    [dealt] = [event["data"] for event in page["items"] if event["kind"] == "round_dealt"]
    assert all(dealt["hands"])
    assert dealt["stock"]


@pytest.mark.parametrize("visibility", ["public", "private"])
async def test_a_table_without_spectators_is_open_to_those_who_have_played_there(
    world: World, anna: Player, boris: Player, clara: Player, dora: Player, visibility: str
) -> None:
    if visibility == "private":
        seats = [{"controller": "you"}, {"controller": "open"}]
        game_id = (await anna.open_game(seats=seats, spectators="none", visibility="private", overrides=ONE_ROUND))[
            "game_id"
        ]
        code = (await anna.sent("POST", f"/v1/games/{game_id}/invites", {}))["code"]
        await boris.sent("POST", f"/v1/invites/{code}/accept")
        await anna.sent("POST", f"/v1/games/{game_id}/start")
        await world.tend(game_id)
        await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
        assert set((await codes(boris, game_id)).values()) == {"game_not_found"}
        for player, seat in ((anna, 0), (clara, 1)):
            await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}/bot", {"level": "easy"})
        await world.tend(game_id)
    else:
        game_id = await finished(world, anna, boris, clara, spectators="none")
    for player in (anna, boris, clara):
        assert await codes(player, game_id) == ALL
    refused = "not_seated" if visibility == "public" else "game_not_found"
    assert set((await codes(dora, game_id)).values()) == {refused}


async def test_who_has_left_before_the_start_has_not_played(
    world: World, anna: Player, boris: Player, clara: Player, dora: Player
) -> None:
    seats = [{"controller": "you"}, {"controller": "open"}]
    game_id = (await anna.open_game(seats=seats, spectators="none", overrides=ONE_ROUND))["game_id"]
    await dora.sent("PUT", f"/v1/games/{game_id}/seats/1")
    await dora.sent("DELETE", f"/v1/games/{game_id}/seats/1")
    await anna.sent("PUT", f"/v1/games/{game_id}/seats/1/bot", {})
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    await anna.sent("PUT", f"/v1/games/{game_id}/seats/0/bot", {})
    await world.tend(game_id)
    assert_problem(await dora.call("GET", f"/v1/games/{game_id}/replay"), 403, "not_seated")
    assert (await anna.call("GET", f"/v1/games/{game_id}/replay")).is_success


async def test_delayed_spectators_see_the_open_hands_when_the_end_has_come_to_them(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player, dora: Player
) -> None:
    game_id = await finished(world, anna, boris, clara, spectators="delayed", spectator_delay_s=30)
    late = await codes(dora, game_id)
    assert (late["/replay"], late["/rounds/1/fairness"], late["/view"]) == ("game_not_finished", "round_not_found", "")
    assert (await dora.view(game_id))["status"] == "playing"
    assert (await dora.sent("GET", f"/v1/games/{game_id}"))["status"] == "playing"
    clock.at += timedelta(seconds=31)
    assert await codes(dora, game_id) == ALL
    assert (await dora.view(game_id))["status"] == "finished"


async def test_who_has_left_a_private_table_that_is_seen_late_hears_of_its_end_late_too(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    late = {"spectators": "delayed", "spectator_delay_s": 30, "visibility": "private"}
    seats = [{"controller": "you"}, {"controller": "open"}]
    game_id = (await anna.open_game(seats=seats, overrides=ONE_ROUND, **late))["game_id"]
    code = (await anna.sent("POST", f"/v1/games/{game_id}/invites", {}))["code"]
    await boris.sent("POST", f"/v1/invites/{code}/accept")
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    await world.tend(game_id)
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
    for player, seat in ((anna, 0), (clara, 1)):
        await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}/bot", {"level": "easy"})
    await world.tend(game_id)
    assert (await world.house.tables.fresh(game_id)).game.status == "finished"
    assert set((await codes(boris, game_id)).values()) == {"game_not_found"}
    clock.at += timedelta(seconds=31)
    assert await codes(boris, game_id) == ALL


async def test_a_cancelled_game_is_over_too(world: World, anna: Player, boris: Player, clara: Player) -> None:
    game_id = (await anna.open_game(spectators="none"))["game_id"]
    await anna.sent("POST", f"/v1/games/{game_id}/cancel")
    assert (await anna.call("GET", f"/v1/games/{game_id}/replay")).is_success
    assert_problem(await clara.call("GET", f"/v1/games/{game_id}/replay"), 403, "not_seated")


async def test_an_account_for_people_shows_own_cards_and_when_it_is_over_all(
    world: World, anna: Player, boris: Player, clara: Player, dora: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, overrides=ONE_ROUND)
    running = await anna.call("GET", f"/v1/games/{game_id}/export?format=text")
    assert running.headers["content-type"] == "text/plain; charset=utf-8"
    assert running.headers["content-disposition"] == f'attachment; filename="{game_id}.txt"'
    hands = [" ".join(map(face, (await each.view(game_id))["you"]["hand"])) for each in (anna, boris)]
    assert f"The own hand: {hands[0]}" in running.text
    assert hands[1] not in running.text
    seen_by_dora = (await dora.call("GET", f"/v1/games/{game_id}/export?format=text")).text
    assert "Boris: 11 cards" in seen_by_dora
    assert hands[0] not in seen_by_dora
    for player, seat in ((anna, 0), (boris, 1)):
        await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}/bot", {"level": "easy"})
    await world.tend(game_id)
    over = (await dora.call("GET", f"/v1/games/{game_id}/export?format=text")).text
    assert f"Anna: {hands[0]}" in over
    assert f"Boris: {hands[1]}" in over
    assert " won. Totals: " in over
    assert_problem(await anna.call("GET", f"/v1/games/{game_id}/export?format=pdf"), 422, "invalid_request")
