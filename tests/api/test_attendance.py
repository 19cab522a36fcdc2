"""Who is at the table: a person is away when nothing was heard of them for a while, and every viewer is told so."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from services import attendance
from services.attendance import AWAY_S, REFRESH_S, AtTables
from tests.api.listening import guests, messages, mine
from tests.api.world import Json, Player, World, dealt_game, serving, until

LATE = {"spectators": "delayed", "spectator_delay_s": 30}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks more often."""
    monkeypatch.setattr(attendance, "LOOK_S", 0.05)


async def later(world: World, seconds: float) -> None:
    """Lets time pass, and the process pass on whom it has seen before and after."""
    await world.house.at_tables.pass_on()
    world.attendance.later_s += seconds
    await world.house.at_tables.pass_on()
    await world.house.at_tables.look()


async def aways(player: Player, game_id: str) -> list[list[bool]]:
    """Reads who is away in the view, in the game and in the list."""
    view, game = await player.view(game_id), await player.sent("GET", f"/v1/games/{game_id}")
    listed = (await player.sent("GET", "/v1/games"))["items"]
    seats: list[list[Json]] = [view["seats"], game["seats"], *(each["seats"] for each in listed)]
    return [[seat["away"] for seat in those] for those in seats]


async def presence(stream: Any) -> Json:
    """Reads on to the next word about somebody's coming or going."""
    async with asyncio.timeout(10):
        async for kind, id_, data in stream:
            if kind == "presence":
                assert id_ is None
                assert isinstance(data, dict)
                return data
    raise AssertionError("the stream ended")


async def test_who_asks_nothing_for_a_while_is_away_until_they_ask_again(
    world: World, anna: Player, boris: Player
) -> None:
    bot, open_ = {"controller": "bot", "level": "easy"}, {"controller": "open"}
    game = await anna.open_game(seats=[{"controller": "you"}, open_, bot, open_])
    game_id = game["game_id"]
    await boris.sent("PUT", f"/v1/games/{game_id}/seats/1")
    assert await aways(anna, game_id) == [[False] * 4] * 3
    await later(world, AWAY_S - 1)
    assert await aways(anna, game_id) == [[False] * 4] * 3
    await later(world, REFRESH_S + 2)
    assert await aways(anna, game_id) == [[False, True, False, False]] * 3
    await boris.view(game_id)
    await later(world, 2)
    assert await aways(anna, game_id) == [[False] * 4] * 3
    await later(world, 2 * AWAY_S)
    assert (await boris.call("POST", f"/v1/games/{game_id}/cancel", idempotency_key="c")).status_code == 403
    await anna.sent("POST", f"/v1/games/{game_id}/cancel")
    await later(world, 2 * AWAY_S)
    assert await aways(anna, game_id) == [[False] * 4] * 3


async def test_nobody_is_told_that_they_are_away_themselves(world: World, anna: Player, boris: Player) -> None:
    await later(world, 3 * AWAY_S)
    open_ = {"controller": "open"}
    game = await anna.open_game(seats=[{"controller": "you"}, open_])
    code = (await anna.sent("POST", f"/v1/games/{game['game_id']}/invites"))["code"]
    joined = await boris.sent("POST", f"/v1/invites/{code}/accept")
    assert [[seat["away"] for seat in each["seats"]] for each in (game, joined)] == [[False] * 2] * 2
    await later(world, 3 * AWAY_S)
    assert await aways(anna, game["game_id"]) == [[False, True]] * 3
    assert await aways(boris, game["game_id"]) == [[False, False]] * 3


async def test_who_was_told_of_a_match_is_at_its_table(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    await later(world, 3 * AWAY_S)
    wish = {"ruleset": "davis", "players": {"min": 2, "max": 2}}
    made = [await player.sent("POST", "/v1/matchmaking/tickets", wish) for player in (anna, boris)]
    await world.match()
    told = await anna.sent("GET", f"/v1/matchmaking/tickets/{made[0]['ticket_id']}")
    assert await aways(clara, told["game_id"]) == [[False, True]] * 3


async def test_a_304_says_nothing_about_who_is_there(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    before = await anna.call("GET", f"/v1/games/{game_id}/view")
    await later(world, 2 * AWAY_S)
    tag = before.headers["etag"]
    assert (await anna.call("GET", f"/v1/games/{game_id}/view", if_none_match=tag)).status_code == 304
    after = await anna.call("GET", f"/v1/games/{game_id}/view")
    assert (after.headers["etag"], after.json()["seats"][1]["away"]) == (tag, True)


async def test_a_stream_tells_who_goes_and_who_comes_back(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game_id = await dealt_game(world, anna, boris)
        path = f"/v1/games/{game_id}/stream?view=1"
        async with (
            aclosing(messages(anna.http, path)) as own,
            aclosing(messages(clara.http, path)) as spectator,
            aclosing(mine(anna)) as all_mine,
        ):
            async with aclosing(messages(boris.http, path)) as others:
                assert (await anext(others))[0] == "hello"
                for stream in (own, spectator, all_mine):
                    assert (await anext(stream))[0] == "hello"
                await later(world, 3 * AWAY_S)
                assert await aways(anna, game_id) == [[False, False]] * 3  # their stream is open
            await until(lambda: world.house.streams.count == 3)
            await later(world, AWAY_S + REFRESH_S + 1)
            gone = {"game_id": game_id, "seat": 1, "away": True}
            for stream in (own, spectator, all_mine):
                assert await presence(stream) == gone
            assert await aways(anna, game_id) == [[False, True]] * 3
            async with aclosing(messages(boris.http, path)) as others:
                assert (await anext(others))[0] == "hello"
                for stream in (own, spectator, all_mine):
                    assert await presence(stream) == gone | {"away": False}


async def test_a_stream_that_is_opened_later_tells_who_was_away_before(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game_id = await dealt_game(world, anna, boris)
        path = f"/v1/games/{game_id}/stream"
        async with aclosing(messages(anna.http, path)) as own:
            await later(world, AWAY_S + REFRESH_S + 1)
            gone = {"game_id": game_id, "seat": 1, "away": True}
            assert await presence(own) == gone
            async with aclosing(messages(clara.http, path)) as spectator:
                assert await presence(spectator) == gone
        await until(lambda: world.house.streams.count == 0)
        assert not world.house.at_tables._watched  # nothing of a stream stays behind
        assert not world.house.at_tables._open


async def test_who_follows_all_their_games_is_at_each_of_them(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        games = [await dealt_game(world, anna, boris) for _ in range(2)]
        async with aclosing(mine(boris)) as stream:
            assert (await anext(stream))[0] == "hello"
            await later(world, 3 * AWAY_S)
            told = [await presence(stream) for _ in games]
            assert sorted(told, key=str) == sorted(
                ({"game_id": game_id, "seat": 0, "away": True} for game_id in games), key=str
            )


async def test_another_process_knows_it_too(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    await later(world, 2 * AWAY_S)
    other = AtTables(world.attendance, world.house.tables, clock=world.attendance.now)
    game = (await world.house.tables.fresh(game_id)).game
    assert await other.away([game]) == {game_id: {anna.player_id, boris.player_id}}
    await boris.view(game_id)
    await later(world, 2)
    assert await other.away([game]) == {game_id: {anna.player_id}}


async def test_nobody_is_said_to_be_away_where_nobody_keeps_it(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    await later(world, 2 * AWAY_S)
    world.attendance.is_lost = True
    assert await aways(anna, game_id) == [[False, False]] * 3
    await world.house.at_tables.look()


async def test_a_busy_player_is_passed_on_every_ten_seconds(
    world: World, anna: Player, boris: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = await dealt_game(world, anna, boris)
    passed_on: list[int] = []
    attend = world.attendance.attend

    async def counted(signs: Any) -> None:
        passed_on.append(len(signs))
        await attend(signs)

    await world.house.at_tables.pass_on()
    monkeypatch.setattr(world.attendance, "attend", counted)
    for _ in range(20):
        await anna.view(game_id)
        await later(world, 1)
    assert passed_on == [1, 1]


async def test_who_sees_a_game_late_is_not_told_who_is_there(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game_id = await dealt_game(world, anna, boris, **LATE)
        path = f"/v1/games/{game_id}/stream"
        async with aclosing(messages(anna.http, path)) as own, aclosing(messages(clara.http, path)) as late:
            assert (await anext(own))[0] == (await anext(late))[0] == "hello"
            await later(world, AWAY_S + REFRESH_S + 1)
            assert (await presence(own))["away"]
            assert await aways(anna, game_id) == [[False, True]] * 3
            assert await aways(clara, game_id) == [[False, False]] * 3
            told = [await anext(late) for _ in range((await clara.view(game_id))["version"])]
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(late), 0.3)
            assert not any(kind == "presence" for kind, _, _ in told)


async def test_an_opener_who_sees_their_game_late_is_not_told_who_is_there(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game_id = (await anna.open_game(seats=[{"controller": "open"}] * 2, **LATE))["game_id"]
        for seat, player in enumerate((boris, clara)):
            await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}")
        await anna.sent("POST", f"/v1/games/{game_id}/start")
        await world.tend(game_id)
        async with aclosing(messages(boris.http, f"/v1/games/{game_id}/stream")) as own, aclosing(mine(anna)) as late:
            assert (await anext(own))[0] == (await anext(late))[0] == "hello"
            await later(world, AWAY_S + REFRESH_S + 1)
            assert (await presence(own))["away"]
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(late), 0.3)
