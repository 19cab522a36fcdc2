"""Delayed spectators: whatever is shown to those who do not sit at the table is the table of some time ago."""

import asyncio
import re
from contextlib import aclosing
from datetime import timedelta

import httpx
import pytest

from tests.api.listening import guests, messages
from tests.api.problems import assert_problem
from tests.api.tables import finish
from tests.api.world import Clock, Json, Player, World, dealt_game, in_turn, new_world, serving

LATE = {"spectators": "delayed", "spectator_delay_s": 30}


async def everything(player: Player, game_id: str) -> dict[str, Json]:
    """Reads the game in every way there is."""
    read: dict[str, Json] = {}
    for path in ("", "/view", "/events", "/rounds", "/scores"):
        answer = await player.call("GET", f"/v1/games/{game_id}{path}")
        read[path] = answer.json()
        if "etag" in answer.headers:
            read[f"etag{path}"] = {"etag": answer.headers["etag"]}
    listed = (await player.sent("GET", "/v1/games"))["items"]
    read["list"] = next(game for game in listed if game["game_id"] == game_id)
    export = await player.call("GET", f"/v1/games/{game_id}/export")
    read["export"] = {"lines": export.text.count("\n")}
    return read


async def test_a_spectator_reads_in_every_way_what_was_true_before(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, **LATE)
    assert (await clara.view(game_id))["round"] is None  # the deal is not told yet
    clock.at += timedelta(seconds=31)
    before = await everything(clara, game_id)
    assert before["/view"]["round"]["number"] == 1
    player, _ = await in_turn(game_id, anna, boris)
    await player.answer(game_id)
    assert (await player.view(game_id))["version"] > before["/view"]["version"]
    assert await everything(clara, game_id) == before
    seen = before["/view"]["version"]
    for path in (f"view?at_version={seen + 1}", f"stream?after={seen + 1}"):
        beyond = await clara.call("GET", f"/v1/games/{game_id}/{path}")
        assert assert_problem(beyond, 422, "invalid_request")["current_version"] == seen
    clock.at += timedelta(seconds=29)
    assert await everything(clara, game_id) == before
    clock.at += timedelta(seconds=2)
    after = await everything(clara, game_id)
    version = (await player.view(game_id))["version"]
    assert {after[""]["version"], after["/view"]["version"], after["/events"]["head_version"]} == {version}
    assert (after["list"]["version"], after["export"]["lines"]) == (version, version)


async def test_a_refused_invite_tells_neither_how_far_the_game_is_nor_that_it_is_over(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, **LATE)

    async def invited(player: Player, **wanted: int) -> httpx.Response:
        path = f"/v1/games/{game_id}/invites"
        return await player.call("POST", path, wanted, idempotency_key=player.new_key())

    nowhere = await invited(clara, seat=9)
    assert_problem(nowhere, 404, "seat_not_found")
    assert nowhere.json()["current_version"] is None
    assert (await invited(anna, seat=9)).json()["current_version"] is not None
    await anna.sent("POST", f"/v1/games/{game_id}/seats/0/handover", {"player_id": clara.player_id})
    clock.at += timedelta(seconds=31)
    await finish(world, game_id, 10, 20)
    assert_problem(await invited(clara), 409, "game_finished")
    assert (await invited(anna)).status_code == 201  # its opener, who sees it played
    clock.at += timedelta(seconds=31)
    assert_problem(await invited(anna), 409, "game_finished")


async def test_who_hands_their_cards_over_sees_late_from_then_on(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, **LATE)
    clock.at += timedelta(seconds=31)
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
    assert (await boris.view(game_id))["version"] < (await clara.view(game_id))["version"]


async def test_lists_and_pages_tell_late_that_a_game_is_over(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, **LATE)
    clock.at += timedelta(seconds=31)
    await finish(world, game_id, 10, 20)

    async def told(player: Player) -> tuple[list[str], list[str], int]:
        lists = [(await player.sent("GET", f"/v1/games?status={each}"))["items"] for each in ("playing", "finished")]
        page = await player.sent("GET", f"/v1/players/{anna.player_id}")
        assert len(page["standings"]) == len(page["results"])
        playing, finished = [[game["game_id"] for game in those] for those in lists]
        return playing, finished, len(page["results"])

    assert await told(anna) == ([], [game_id], 0)
    assert await told(clara) == ([game_id], [], 0)
    clock.at += timedelta(seconds=31)
    assert await told(anna) == await told(clara) == ([], [game_id], 1)


async def test_who_is_told_late_that_a_game_is_over_asks_for_a_rematch_as_late(
    world: World, clock: Clock, anna: Player, boris: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, **LATE)
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/abandon")
    clock.at += timedelta(seconds=31)
    await finish(world, game_id, 10, 20)
    path = f"/v1/games/{game_id}/rematch"
    assert_problem(await boris.call("POST", path, idempotency_key="early"), 409, "game_not_finished")
    clock.at += timedelta(seconds=31)
    assert (await boris.sent("POST", path))["rematch_of"] == game_id


async def test_a_rematch_does_not_tell_that_the_game_before_is_over(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, **LATE)
    clock.at += timedelta(seconds=31)
    await finish(world, game_id, 10, 20)
    rematch = (await anna.sent("POST", f"/v1/games/{game_id}/rematch"))["game_id"]
    fresh = (await anna.open_game(**LATE))["game_id"]
    invite = await anna.sent("POST", f"/v1/games/{rematch}/invites", {})

    async def shown(player: Player) -> list[Json]:
        listed = (await player.sent("GET", "/v1/games?status=waiting"))["items"]
        one, by_code = (f"/v1/games/{rematch}", f"/v1/invites/{invite['code']}")
        return [
            *(game for game in listed if game["game_id"] == rematch),
            await player.sent("GET", one),
            (await player.sent("GET", by_code))["game"],
        ]

    for player in (anna, boris):
        assert [game["rematch_of"] for game in await shown(player)] == [game_id] * 3
    await clara.sent("PUT", f"/v1/games/{rematch}/seats/1")
    assert [game["rematch_of"] for game in await shown(clara)] == [None] * 3
    await clara.sent("DELETE", f"/v1/games/{rematch}/seats/1")
    await clara.sent("PUT", f"/v1/games/{fresh}/seats/1")
    await clara.sent("DELETE", f"/v1/games/{fresh}/seats/1")
    told = [str(await everything_told(clara, each)).replace(each, "GAME") for each in (rematch, fresh)]
    assert told[0] == told[1]
    assert game_id not in told[0]
    assert game_id not in str(await everything_told(anna, rematch, "/events"))


@pytest.mark.parametrize("is_late", [True, False])
async def test_who_has_left_the_game_to_a_bot_is_invited_to_a_rematch_when_its_end_is_told(
    world: World, clock: Clock, anna: Player, boris: Player, is_late: bool
) -> None:
    game_id = (await anna.open_game(visibility="private", **LATE))["game_id"]
    code = (await anna.sent("POST", f"/v1/games/{game_id}/invites", {}))["code"]
    await boris.sent("POST", f"/v1/invites/{code}/accept")
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    await world.tend(game_id)
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/abandon")
    clock.at += timedelta(seconds=31)
    await finish(world, game_id, 10, 20)
    clock.at += timedelta(seconds=29 if is_late else 30)
    rematch = (await anna.sent("POST", f"/v1/games/{game_id}/rematch"))["game_id"]
    waiting = (await boris.sent("GET", "/v1/games?status=waiting&mine=true"))["items"]
    assert [(game["game_id"], game["rematch_of"]) for game in waiting] == [(rematch, game_id)] * (not is_late)
    assert (await boris.call("GET", f"/v1/games/{rematch}")).status_code == (404 if is_late else 200)


async def everything_told(player: Player, game_id: str, *paths: str) -> list[object]:
    """Reads the texts of a game's pages, without what is drawn by lot."""
    answers = [await player.call("GET", f"/v1/games/{game_id}{path}") for path in paths or ("", "/events", "/export")]
    return [re.sub(r'"commitment":"[0-9a-f]+"', "", answer.text) for answer in answers]


async def test_a_game_that_waits_is_shown_as_it_is(anna: Player, boris: Player, clara: Player) -> None:
    game_id = (await anna.open_game(**LATE))["game_id"]
    await boris.sent("PUT", f"/v1/games/{game_id}/seats/1")
    shown = await clara.sent("GET", f"/v1/games/{game_id}")
    assert shown["seats"][1]["player_id"] == boris.player_id


async def test_a_stream_tells_late_what_the_players_know(world: World, clock: Clock) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game_id = await dealt_game(world, anna, boris, **LATE)
        clock.at += timedelta(seconds=31)
        told = (await clara.view(game_id))["version"]
        player, _ = await in_turn(game_id, anna, boris)
        await player.answer(game_id)
        async with aclosing(messages(clara.http, f"/v1/games/{game_id}/stream")) as stream:
            assert (await anext(stream))[2]["version"] == told
            assert [(await anext(stream))[2]["version"] for _ in range(told)] == list(range(1, told + 1))
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(stream), 1.2)
        async with aclosing(messages(clara.http, f"/v1/games/{game_id}/stream?after={told}")) as stream:
            assert (await anext(stream))[0] == "hello"
            clock.at += timedelta(seconds=31)
            assert (await anext(stream))[2]["version"] == told + 1


async def test_a_stream_ends_for_who_has_left_a_table_without_spectators(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game_id = await dealt_game(world, anna, boris, spectators="none")
        async with aclosing(messages(boris.http, f"/v1/games/{game_id}/stream")) as stream:
            while (await anext(stream))[0] != "turn_began":
                pass
            over = {"player_id": clara.player_id}
            await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", over)
            kind, _, data = await anext(stream)
        assert (kind, data["reason"]) == ("bye", "not_seated")


async def test_a_stream_of_a_private_game_ends_for_who_has_handed_their_cards_over(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game_id = (await anna.open_game(visibility="private"))["game_id"]
        invite = await anna.sent("POST", f"/v1/games/{game_id}/invites", {})
        await boris.sent("POST", f"/v1/invites/{invite['code']}/accept")
        await anna.sent("POST", f"/v1/games/{game_id}/start")
        await world.tend(game_id)
        async with aclosing(messages(boris.http, f"/v1/games/{game_id}/stream")) as stream:
            while (await anext(stream))[0] != "turn_began":
                pass
            over = {"player_id": clara.player_id}
            await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", over)
            assert_problem(await boris.call("GET", f"/v1/games/{game_id}/view"), 404, "game_not_found")
            kind, _, data = await anext(stream)
        assert (kind, data["reason"]) == ("bye", "not_seated")


async def test_a_heart_beats_alike_whether_or_not_something_is_hidden(clock: Clock) -> None:
    world = new_world(heartbeat_s=0.2)
    world.log.now = clock
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game_id = await dealt_game(world, anna, boris, **LATE)
        async with aclosing(messages(clara.http, f"/v1/games/{game_id}/stream")) as stream:
            while (await anext(stream))[0] != "heartbeat":
                pass
            player, _ = await in_turn(game_id, anna, boris)
            await player.answer(game_id)
            for _ in range(3):
                assert (await asyncio.wait_for(anext(stream), 10))[0] == "heartbeat"
