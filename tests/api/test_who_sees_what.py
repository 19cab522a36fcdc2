"""Private games, closed tables, hidden cards: nobody gets more than they would see at a table."""

from typing import Any

import pytest

from tests.api.problems import assert_problem
from tests.api.world import Json, Player, World, asked, dealt_game, in_turn

READINGS = ("", "/view", "/decisions", "/events", "/stream")


@pytest.mark.parametrize("reading", READINGS)
async def test_a_private_game_is_unknown_to_others(
    world: World, anna: Player, boris: Player, clara: Player, reading: str
) -> None:
    game_id = (await anna.open_game(visibility="private"))["game_id"]
    refused = await boris.call("GET", f"/v1/games/{game_id}{reading}")
    unknown = await boris.call("GET", f"/v1/games/gam_{'0' * 26}{reading}")
    problem = assert_problem(refused, 404, "game_not_found")
    nothing = assert_problem(unknown, 404, "game_not_found")
    for alike in ("detail", "errors", "current_version"):
        assert problem[alike] == nothing[alike]
    assert (await boris.sent("GET", "/v1/games"))["items"] == []
    assert_problem(await boris.call("PUT", f"/v1/games/{game_id}/seats/1"), 404, "game_not_found")
    assert_problem(await boris.call("POST", f"/v1/games/{game_id}/start", idempotency_key="k"), 404, "game_not_found")
    assert len((await anna.sent("GET", "/v1/games"))["items"]) == 1


@pytest.mark.parametrize("reading", ["/view", "/decisions", "/events", "/stream"])
async def test_a_table_without_spectators_shows_itself_to_its_players_only(
    world: World, anna: Player, boris: Player, clara: Player, reading: str
) -> None:
    game_id = await dealt_game(world, anna, boris, spectators="none")
    assert_problem(await clara.call("GET", f"/v1/games/{game_id}{reading}"), 403, "not_seated")
    assert (await clara.call("GET", f"/v1/games/{game_id}")).status_code == 200
    if reading != "/stream":
        assert (await boris.call("GET", f"/v1/games/{game_id}{reading}")).status_code == 200


async def test_a_spectator_sees_the_table_but_no_hand(world: World, anna: Player, boris: Player, clara: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    view = await clara.view(game_id)
    assert (view["you"], view["decisions"]) == (None, [])
    assert [seat["hand_count"] for seat in view["seats"]] == [11, 11]
    assert_problem(await clara.call("GET", f"/v1/games/{game_id}/decisions"), 403, "not_seated")


async def test_an_opener_without_a_seat_may_start_and_watch(world: World, anna: Player, boris: Player) -> None:
    bots = [{"controller": "bot"}, {"controller": "bot"}]
    game = await anna.open_game(seats=bots, spectators="none", visibility="private")
    await anna.sent("POST", f"/v1/games/{game['game_id']}/start")
    view = await anna.view(game["game_id"])
    assert (game["you"], view["you"], view["status"]) == (None, None, "playing")


async def test_a_hand_is_in_nobody_elses_view_events_or_errors(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    await asked(game_id, "play", anna, boris)
    dealt = {name: await event_of(player, game_id, "round_dealt") for name, player in
             (("anna", anna), ("boris", boris), ("clara", clara))}  # fmt: skip
    assert len(dealt["anna"]["data"]["hand"]) == len(dealt["boris"]["data"]["hand"]) == 11
    assert "hand" not in dealt["clara"]["data"]
    assert dealt["anna"]["data"]["hand"] != dealt["boris"]["data"]["hand"]
    drawn = {name: await event_of(player, game_id, "card_drawn") for name, player in
             (("anna", anna), ("boris", boris), ("clara", clara))}  # fmt: skip
    assert sum("card" in event["data"] for event in drawn.values()) == 1
    assert "card" not in drawn["clara"]["data"]
    without = [{**event, "data": {**event["data"], "card": None}} for event in drawn.values()]
    assert without[0] == without[1] == without[2]


async def test_who_let_a_card_go_is_told_to_nobody_else(
    world: World, anna: Player, boris: Player, clara: Player, stranger: Player
) -> None:
    watching = await stranger.join("Dora")
    seated = [anna, boris, clara]
    game_id = await dealt_game(world, *seated)
    player, _ = await asked(game_id, "claim", *seated)
    [decision] = (await player.view(game_id))["decisions"]
    assert (await player.move(game_id, decision["decision_id"], {"kind": "pass"})).status_code == 201
    own, hidden = await event_of(player, game_id, "passed"), await event_of(watching, game_id, "passed")
    assert own["seat"] == decision["seat"]
    assert own["data"] == {"rest_of_round": False}
    assert (hidden["seat"], hidden["move_id"], hidden["data"]) == (None, None, {})
    for other in (each for each in seated if each is not player):
        assert await event_of(other, game_id, "passed") == hidden


async def test_games_are_listed_page_by_page_and_by_what_is_wanted(anna: Player, boris: Player) -> None:
    opened = [(await anna.open_game(ruleset=name))["game_id"] for name in ("davis", "jokers", "davis", "davis")]
    await boris.sent("PUT", f"/v1/games/{opened[1]}/seats/1")

    async def listed(player: Player, query: str) -> list[str]:
        return [game["game_id"] for game in (await player.sent("GET", f"/v1/games?{query}"))["items"]]

    assert set(await listed(boris, "limit=100")) == set(opened)
    assert await listed(boris, "mine=true") == [opened[1]]
    assert await listed(boris, "ruleset=jokers&status=waiting") == [opened[1]]
    assert await listed(boris, "status=finished") == []
    pages: list[str] = []
    cursor: Any = ""
    while cursor is not None:
        page = await boris.sent("GET", f"/v1/games?limit=3{f'&cursor={cursor}' if cursor else ''}")
        assert len(page["items"]) <= 3
        pages += [game["game_id"] for game in page["items"]]
        cursor = page["next_cursor"]
    assert pages == sorted(opened, reverse=True)
    assert_problem(await boris.call("GET", "/v1/games?cursor=next"), 422, "invalid_request")


async def test_events_are_read_page_by_page(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    whole = await anna.sent("GET", f"/v1/games/{game_id}/events")
    items: list[Json] = []
    after = 0
    while after < whole["head_version"]:
        page = await anna.sent("GET", f"/v1/games/{game_id}/events?after={after}&limit=2")
        assert 1 <= len(page["items"]) <= 2
        items += page["items"]
        after = page["next_after"]
    assert items == whole["items"]
    beyond = await anna.sent("GET", f"/v1/games/{game_id}/events?after=1000")
    assert beyond == {"items": [], "next_after": 1000, "head_version": whole["head_version"]}


@pytest.mark.parametrize("reading", ["", "/view"])
async def test_what_is_known_is_not_sent_again(world: World, anna: Player, boris: Player, reading: str) -> None:
    game_id = await dealt_game(world, anna, boris)
    path = f"/v1/games/{game_id}{reading}"
    tag = (await anna.call("GET", path)).headers["etag"]
    for known in (tag, f"W/{tag}", f'"v1", {tag}', "*"):
        unchanged = await anna.call("GET", path, if_none_match=known)
        assert (unchanged.status_code, unchanged.content, unchanged.headers["etag"]) == (304, b"", tag)
    player, _ = await in_turn(game_id, anna, boris)
    await player.answer(game_id)
    assert (await anna.call("GET", path, if_none_match=tag)).status_code == 200


async def event_of(player: Player, game_id: str, kind: str) -> Json:
    """Finds the first event of a kind as a player sees it."""
    events = (await player.sent("GET", f"/v1/games/{game_id}/events?limit=500"))["items"]
    return next(event for event in events if event["kind"] == kind)
