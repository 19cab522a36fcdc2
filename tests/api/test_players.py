"""Who plays: pages of players, and those who want to be forgotten."""

import asyncio
from contextlib import aclosing

import pytest

from domain.events import GameFinished
from services.ids import new_uuid
from services.ports import Append, NewEvent
from tests.api.listening import guests, messages
from tests.api.nonces import ANNAS, events, look_after, reveal, started_game
from tests.api.problems import assert_problem
from tests.api.world import Player, World, dealt_game, in_turn, serving, with_token
from tests.described import TIME


async def test_a_page_shows_a_player(world: World, anna: Player, boris: Player) -> None:
    page = await boris.sent("GET", f"/v1/players/{anna.player_id}")
    assert page == {"player_id": anna.player_id, "name": "Anna", "standings": [], "results": [], "ratings": []}


@pytest.mark.parametrize("player", [f"ply_{'0' * 26}", "ply_", "nobody"])
async def test_nobody_has_no_page(anna: Player, player: str) -> None:
    assert_problem(await anna.call("GET", f"/v1/players/{player}"), 404, "player_not_found")


async def test_a_page_shows_finished_public_games_only(world: World, anna: Player, boris: Player) -> None:
    private = (await anna.open_game(seats=[{"controller": "you"}, {"controller": "bot"}], visibility="private"))[
        "game_id"
    ]
    await anna.sent("POST", f"/v1/games/{private}/start")
    for game_id in (private, await dealt_game(world, anna, boris)):
        over = NewEvent(GameFinished((0,), (10, 25)), "table", None, new_uuid(), 0)
        await world.log.append(Append(game_id, (await anna.view(game_id))["version"], (over,)))
    await dealt_game(world, anna, boris)
    page = await anna.sent("GET", f"/v1/players/{boris.player_id}")
    games = (await anna.sent("GET", "/v1/games?status=finished"))["items"]
    [public] = [game["game_id"] for game in games if game["visibility"] == "public"]
    assert len(games) == 2
    [result] = page["results"]
    assert TIME.fullmatch(result.pop("finished_at"))
    assert result == {"game_id": public, "ruleset": "davis", "seat": 1, "seats": 2, "score": 25, "won": False}
    assert page["standings"] == [{"ruleset": "davis", "games": 1, "wins": 0, "points": 25}]
    won = await boris.sent("GET", f"/v1/players/{anna.player_id}")
    assert won["standings"] == [{"ruleset": "davis", "games": 1, "wins": 1, "points": 10}]


async def test_a_forgotten_player_is_gone_and_their_games_stay(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, _ = await in_turn(game_id, anna, boris)
    await player.answer(game_id)
    before = await clara.sent("GET", f"/v1/games/{game_id}/events?limit=500")
    response = await boris.call("DELETE", "/v1/me")
    assert (response.status_code, response.content) == (204, b"")
    assert_problem(await boris.call("GET", "/v1/me"), 401, "unauthenticated")
    assert_problem(await boris.call("DELETE", "/v1/me"), 401, "unauthenticated")
    assert_problem(await clara.call("GET", f"/v1/players/{boris.player_id}"), 404, "player_not_found")
    readings = ["", "/view", "/events?limit=500", "/export"]
    for shown in [await clara.call("GET", f"/v1/games/{game_id}{reading}") for reading in readings]:
        assert "Boris" not in shown.text
        assert "Former player" in shown.text
    [listed] = (await clara.sent("GET", "/v1/games"))["items"]
    assert [seat["name"] for seat in listed["seats"]] == ["Anna", "Former player"]
    assert [seat["name"] for seat in (await anna.view(game_id))["seats"]] == ["Anna", "Former player"]
    after = await clara.sent("GET", f"/v1/games/{game_id}/events?limit=500")
    assert [event["version"] for event in after["items"]] == [event["version"] for event in before["items"]]


async def test_a_name_is_shown_of_somebody_who_sits_there_no_more(world: World, anna: Player, boris: Player) -> None:
    """Only who is unknown is a former player: whoever has just left the seat is not."""
    game_id = await started_game(anna, boris)
    await reveal(anna, game_id, 0, ANNAS)
    await look_after(world, game_id, seconds=11)
    assert [seat["controller"] for seat in (await anna.view(game_id))["seats"]] == ["human", "open"]
    changes = await events(anna, game_id, "seat_changed")
    assert [event["data"]["name"] for event in changes if event["seat"] == 1] == [None, "Boris"]


async def test_a_watching_token_cannot_delete_its_player(world: World, anna: Player) -> None:
    anna = await with_token(anna, "watch")
    assert_problem(await anna.call("DELETE", "/v1/me"), 403, "insufficient_scope")
    assert (await anna.sent("GET", "/v1/me"))["name"] == "Anna"


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_the_streams_of_a_forgotten_player_end(world: World, is_elsewhere: bool) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        async with (
            aclosing(messages(anna.http, f"/v1/games/{game_id}/stream")) as annas,
            aclosing(messages(boris.http, f"/v1/games/{game_id}/stream")) as borises,
        ):
            assert (await anext(annas))[0] == (await anext(borises))[0] == "hello"
            if is_elsewhere:
                await world.accounts.forget(boris.player_id)
                await world.house.streams.dismiss_revoked(world.accounts)
            else:
                assert (await boris.call("DELETE", "/v1/me")).status_code == 204
            async with asyncio.timeout(10):
                *_, (kind, _, last) = [message async for message in borises]
            assert (kind, last["reason"]) == ("bye", "unauthenticated")
            assert world.house.streams.count == 1
