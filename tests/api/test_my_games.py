"""Which games a player's stream tells: when one becomes theirs, when it is theirs no more, and a rematch."""

from contextlib import aclosing

from domain.events import GameFinished
from services.ids import new_uuid
from services.ports import Append, NewEvent
from tests.api.listening import cursor_now, events_in, guests, mine, told_until
from tests.api.problems import assert_problem
from tests.api.world import Player, World, dealt_game, serving


async def test_a_game_joins_when_it_is_opened_or_sat_down_at_and_leaves_when_it_is_left(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        async with aclosing(mine(boris)) as stream:
            assert await anext(stream) == ("hello", (await cursor_now(world)), {"games": []})
            game = await anna.open_game(visibility="private")
            await boris.sent("POST", f"/v1/invites/{await _invite(anna, game['game_id'])}/accept")
            version = (await boris.view(game["game_id"]))["version"]
            read = await told_until(stream, game["game_id"], version)
            assert read[0][:2] == ("joined", None)
            assert read[0][2]["after"] == version - 1
            assert [data["version"] for data in events_in(read, game["game_id"])] == [version]
            own = await boris.open_game()
            kinds = [(await anext(stream))[0] for _ in range(own["version"] + 1)]
            assert (kinds[0], kinds[1]) == ("joined", "game_opened")
            await boris.sent("DELETE", f"/v1/games/{game['game_id']}/seats/1")
            assert await anext(stream) == ("left", None, {"game_id": game["game_id"]})
            await anna.sent("POST", f"/v1/games/{game['game_id']}/cancel")
            await boris.sent("POST", f"/v1/games/{own['game_id']}/cancel")
            assert (await anext(stream))[2]["game_id"] == own["game_id"]
        assert_problem(await boris.call("GET", f"/v1/games/{game['game_id']}"), 404, "game_not_found")


async def test_a_game_in_which_a_bot_sits_in_is_told_when_its_person_is_back(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        path = f"/v1/games/{game_id}/seats/1"
        async with aclosing(mine(boris)) as stream:
            assert (await anext(stream))[0] == "hello"
            await boris.sent("PUT", f"{path}/bot")
            assert await anext(stream) == ("left", None, {"game_id": game_id})
        async with aclosing(mine(boris)) as stream:
            assert (await anext(stream))[2] == {"games": []}
            await boris.sent("POST", f"{path}/reclaim")
            version = (await boris.view(game_id))["version"]
            read = await told_until(stream, game_id, version)
        assert read[0] == ("joined", None, {"game_id": game_id, "version": version, "after": version - 1})


async def test_a_game_that_one_is_only_invited_to_is_not_told(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        await anna.sent("POST", f"/v1/games/{game_id}/seats/0/abandon")
        await boris.sent("POST", f"/v1/games/{game_id}/seats/1/abandon")
        await world.tend(game_id)
        rematch = await boris.sent("POST", f"/v1/games/{game_id}/rematch")
        async with aclosing(mine(anna)) as stream:
            assert rematch["game_id"] not in str(await anext(stream))


async def test_who_sat_at_a_game_is_told_of_its_rematch(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game_id = await dealt_game(world, anna, boris, visibility="public")
        over = NewEvent(GameFinished((0,), (10, 25)), "table", None, new_uuid(), 0)
        await world.log.append(Append(game_id, (await anna.view(game_id))["version"], (over,)))
        async with (
            aclosing(mine(anna)) as of_anna,
            aclosing(mine(boris)) as of_boris,
            aclosing(mine(clara)) as of_clara,
        ):
            for stream in (of_anna, of_boris, of_clara):
                assert (await anext(stream))[0] == "hello"
            rematch = (await anna.sent("POST", f"/v1/games/{game_id}/rematch"))["game_id"]
            assert await anext(of_boris) == ("invited", None, {"game_id": rematch, "rematch_of": game_id})
            assert [(await anext(of_anna))[0] for _ in range(2)] == ["joined", "game_opened"]
            await boris.sent("PUT", f"/v1/games/{rematch}/seats/1")
            assert [(await anext(of_boris))[0] for _ in range(2)] == ["joined", "seat_changed"]
            own = (await clara.open_game())["game_id"]
            assert (await anext(of_clara))[2]["game_id"] == own


async def _invite(player: Player, game_id: str) -> str:
    return str((await player.sent("POST", f"/v1/games/{game_id}/invites", {}))["code"])
