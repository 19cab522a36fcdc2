"""Who plays best: leaderboards, and ratings on players' pages."""

import pytest

from tests.api.problems import assert_problem
from tests.api.tables import finish
from tests.api.world import Player, World, dealt_game


async def test_a_leaderboard_shows_who_plays_best(world: World, anna: Player, boris: Player, clara: Player) -> None:
    assert (await anna.sent("GET", "/v1/leaderboards/davis"))["items"] == []
    for _ in range(10):
        await finish(world, await dealt_game(world, anna, boris), 10, 20)
    await finish(world, await dealt_game(world, boris, clara), 10, 20)
    board = await clara.sent("GET", "/v1/leaderboards/davis")
    assert (board["ruleset"], board["next_cursor"]) == ("davis", None)
    assert [(each["name"], each["games"], each["provisional"]) for each in board["items"]] == [
        ("Anna", 10, False), ("Clara", 1, True), ("Boris", 11, False),
    ]  # fmt: skip
    ratings = [each["rating"] for each in board["items"]]
    assert ratings == sorted(ratings, reverse=True)
    page = await boris.sent("GET", f"/v1/players/{anna.player_id}")
    shown = {"ruleset": "davis", "rating": ratings[0], "games": 10, "provisional": False}
    assert page["ratings"] == [shown]
    first = await clara.sent("GET", "/v1/leaderboards/davis?limit=2")
    assert first["items"] == board["items"][:2]
    second = await clara.sent("GET", f"/v1/leaderboards/davis?limit=2&cursor={first['next_cursor']}")
    assert (second["items"], second["next_cursor"]) == (board["items"][2:], None)
    await boris.call("DELETE", "/v1/me")
    assert [each["name"] for each in (await clara.sent("GET", "/v1/leaderboards/davis"))["items"]] == ["Anna", "Clara"]
    assert (await clara.sent("GET", "/v1/leaderboards/jokers"))["items"] == []


@pytest.mark.parametrize(
    "cursor", ["", "1", f"nan~ply_{'0' * 26}", f"inf~ply_{'0' * 26}", "1.0~gam_1", f"~ply_{'0' * 26}"]
)
async def test_a_cursor_that_no_leaderboard_gave_is_refused(anna: Player, cursor: str) -> None:
    assert_problem(await anna.call("GET", f"/v1/leaderboards/davis?cursor={cursor}"), 422, "invalid_request")
    assert_problem(await anna.call("GET", "/v1/leaderboards/whist"), 404, "ruleset_not_found")


async def test_the_game_of_a_changed_preset_is_not_rated(world: World, anna: Player, boris: Player) -> None:
    rules = {"contracts": [[{"kind": "set", "size": 3}]]}
    await finish(world, await dealt_game(world, anna, boris, overrides=rules), 10, 20)
    assert (await anna.sent("GET", f"/v1/players/{boris.player_id}"))["ratings"] == []
    assert (await anna.sent("GET", f"/v1/players/{boris.player_id}"))["standings"] != []
