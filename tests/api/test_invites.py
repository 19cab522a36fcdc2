"""Codes that let somebody sit down, or take a hand over."""

import asyncio
from datetime import timedelta

import pytest

from services.invites import INVITES_AT_MOST
from services.memory_accounts import MemoryInvites
from tests.api.problems import assert_problem
from tests.api.world import Player, World, dealt_game


async def test_an_invite_opens_a_private_game(world: World, anna: Player, boris: Player, clara: Player) -> None:
    game = await anna.open_game(visibility="private")
    game_id = game["game_id"]
    assert_problem(
        await boris.call("POST", f"/v1/games/{game_id}/invites", {}, idempotency_key="i"), 404, "game_not_found"
    )
    invite = await anna.sent("POST", f"/v1/games/{game_id}/invites", {}, idempotency_key="one")
    assert await anna.sent("POST", f"/v1/games/{game_id}/invites", {}, idempotency_key="one") == invite
    assert (await boris.sent("GET", f"/v1/invites/{invite['code']}"))["game"]["game_id"] == game_id
    joined = await boris.sent("POST", f"/v1/invites/{invite['code']}/accept")
    assert (joined["you"], joined["seats"][1]["player_id"]) == (1, boris.player_id)
    assert (await boris.sent("POST", f"/v1/invites/{invite['code']}/accept"))["version"] == joined["version"]
    full = await clara.call("POST", f"/v1/invites/{invite['code']}/accept", idempotency_key="x")
    assert_problem(full, 409, "game_full")
    assert_problem(await clara.call("GET", "/v1/invites/nothing"), 404, "invite_not_found")


async def test_an_invite_is_for_a_seat_that_there_is(anna: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    invites = f"/v1/games/{game_id}/invites"
    assert_problem(await anna.call("POST", invites, {"seat": 2}, idempotency_key="1"), 404, "seat_not_found")
    mine = {"is_hand": True, "seat": 2}
    assert_problem(await anna.call("POST", invites, mine, idempotency_key="1"), 404, "seat_not_found")
    assert (await anna.sent("POST", invites, {"seat": 1}, idempotency_key="1"))["seat"] == 1


async def test_nobody_is_invited_to_a_game_that_is_over(world: World, anna: Player) -> None:
    invites = f"/v1/games/{(await anna.open_game())['game_id']}/invites"
    made = await anna.sent("POST", invites, {}, idempotency_key="before")
    await anna.sent("POST", invites.replace("invites", "cancel"))
    assert_problem(await anna.call("POST", invites, {}, idempotency_key="after"), 409, "game_finished")
    assert (await anna.sent("POST", invites, {}, idempotency_key="before"))["code"] == made["code"]


@pytest.mark.parametrize("becomes", ["left", "over", "full"])
async def test_who_asks_again_for_an_invite_is_given_the_one_that_was_made_whatever_has_become_of_it(
    anna: Player, boris: Player, clara: Player, becomes: str
) -> None:
    game = await anna.open_game(visibility="private")
    code = (await anna.sent("POST", f"/v1/games/{game['game_id']}/invites", {}))["code"]
    await boris.sent("POST", f"/v1/invites/{code}/accept")
    invites = f"/v1/games/{game['game_id']}/invites"
    made = await boris.sent("POST", invites, {"valid_s": 60}, idempotency_key="again")
    match becomes:
        case "left":
            await boris.sent("DELETE", f"/v1/games/{game['game_id']}/seats/1")
            await clara.sent("POST", f"/v1/invites/{code}/accept")
            assert_problem(await boris.call("GET", f"/v1/games/{game['game_id']}"), 404, "game_not_found")
        case "over":
            await anna.sent("POST", f"/v1/games/{game['game_id']}/cancel")
        case _:
            for _ in range(INVITES_AT_MOST - 1):
                await boris.sent("POST", invites, {})
    again = await boris.call("POST", invites, {"valid_s": 60}, idempotency_key="again")
    assert (again.status_code, again.headers["idempotency-replayed"], again.json()) == (201, "true", made)
    other = await boris.call("POST", invites, {"valid_s": 61}, idempotency_key="again")
    assert_problem(other, 422, "idempotency_key_reused")
    assert not (await boris.call("POST", invites, {}, idempotency_key="another")).is_success


async def test_a_player_has_so_many_invites_to_a_game(world: World, anna: Player, boris: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    await boris.sent("PUT", f"/v1/games/{game_id}/seats/1")
    invites = f"/v1/games/{game_id}/invites"
    made = [await anna.sent("POST", invites, {"valid_s": 60}, idempotency_key=f"{n}") for n in range(INVITES_AT_MOST)]
    for _ in range(2):
        assert_problem(await anna.call("POST", invites, {}, idempotency_key="more"), 409, "too_many_invites")
    assert await anna.sent("POST", invites, {"valid_s": 60}, idempotency_key="0") == made[0]
    await boris.sent("POST", invites, {})
    assert isinstance(world.house.invites, MemoryInvites)
    before = world.house.invites.now
    world.house.invites.now = lambda: before() + timedelta(seconds=61)
    await anna.sent("POST", invites, {"valid_s": 90}, idempotency_key="more")


async def test_an_invite_expires(world: World, anna: Player, boris: Player, clara: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    invite = await anna.sent("POST", f"/v1/games/{game_id}/invites", {"valid_s": 60})
    early = await clara.call("POST", f"/v1/invites/{invite['code']}/accept", idempotency_key="in time")
    assert isinstance(world.house.invites, MemoryInvites)
    before = world.house.invites.now
    world.house.invites.now = lambda: before() + timedelta(seconds=61)
    accept = f"/v1/invites/{invite['code']}/accept"
    assert_problem(await boris.call("POST", accept, idempotency_key="x"), 410, "invite_expired")
    assert_problem(await boris.call("GET", f"/v1/invites/{invite['code']}"), 410, "invite_expired")
    late = await clara.call("POST", accept, idempotency_key="in time")
    assert (late.status_code, late.json()) == (early.status_code, early.json())


async def test_of_those_who_use_an_invite_at_once_one_gets_the_last_seat(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = (await anna.open_game(visibility="private"))["game_id"]
    accept = f"/v1/invites/{(await anna.sent('POST', f'/v1/games/{game_id}/invites', {}))['code']}/accept"
    answers = await asyncio.gather(
        *(each.call("POST", accept, idempotency_key=key) for each in (boris, clara) for key in ("1", "1", "2"))
    )
    assert sorted({answer.status_code for answer in answers}) == [200, 409]
    game = await anna.sent("GET", f"/v1/games/{game_id}")
    assert (game["seats"][1]["controller"], game["version"]) == ("human", 4)


async def test_who_neither_sits_at_a_game_nor_has_opened_it_invites_nobody(
    anna: Player, boris: Player, clara: Player
) -> None:
    game_id = (await anna.open_game(seats=[{"controller": "open"}] * 3))["game_id"]
    invites = f"/v1/games/{game_id}/invites"
    assert_problem(await boris.call("POST", invites, {}, idempotency_key="k"), 403, "not_seated")
    code = (await anna.sent("POST", invites, {}))["code"]
    await boris.sent("POST", f"/v1/invites/{code}/accept")
    assert (await boris.sent("POST", invites, {}))["code"] != code
    assert_problem(await clara.call("POST", invites, {}, idempotency_key="k"), 403, "not_seated")


async def test_a_hand_goes_over_by_a_code(world: World, anna: Player, boris: Player, clara: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    invites = f"/v1/games/{game_id}/invites"
    mine = {"is_hand": True, "seat": 1}
    assert_problem(await anna.call("POST", invites, mine, idempotency_key="1"), 403, "not_your_decision")
    assert_problem(await boris.call("POST", invites, {"is_hand": True}, idempotency_key="2"), 422, "invalid_request")
    invite = await boris.sent("POST", invites, mine)
    hand = (await boris.view(game_id))["you"]["hand"]
    await clara.sent("POST", f"/v1/invites/{invite['code']}/accept")
    assert (await clara.view(game_id))["you"]["hand"] == hand
    used = await boris.call("POST", f"/v1/invites/{invite['code']}/accept", idempotency_key="x")
    assert_problem(used, 409, "seat_not_held")
