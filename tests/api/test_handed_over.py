"""Hands that come unasked: they are bounded, and who never plays them is kept from nothing."""

from collections.abc import AsyncIterator

import httpx
import pytest
from msgspec.structs import replace

from tests.api.problems import assert_problem
from tests.api.tables import finish
from tests.api.test_matchmaking import TICKETS, TWO
from tests.api.world import AMPLE, Player, World, dealt_game, new_world, players

AT_MOST = 2


@pytest.fixture
def world() -> World:
    return new_world(quotas=replace(AMPLE, games_unfinished=AT_MOST))


@pytest.fixture
async def openers(world: World) -> AsyncIterator[list[Player]]:
    async with players(world, "David", "Emma", "Fjodor") as those:
        yield those


async def handed(giver: Player, game_id: str, taker: Player) -> httpx.Response:
    path = f"/v1/games/{game_id}/seats/0/handover"
    return await giver.call("POST", path, {"player_id": taker.player_id}, idempotency_key="over")


async def given_back(player: Player, ticket: httpx.Response) -> None:
    assert (await player.call("DELETE", f"{TICKETS}/{ticket.json()['ticket_id']}")).status_code == 204


async def test_unwanted_hands_keep_nobody_from_a_quick_match_until_they_are_played(
    world: World, anna: Player, boris: Player, openers: list[Player]
) -> None:
    games = [await dealt_game(world, opener, boris) for opener in openers[:AT_MOST]]
    for opener, game_id in zip(openers, games, strict=False):
        assert (await handed(opener, game_id, anna)).status_code == 200
    ticket = await anna.call("POST", TICKETS, TWO, idempotency_key="unasked")
    assert ticket.status_code == 201
    await given_back(anna, ticket)
    for game_id in games:
        await anna.sent("POST", f"/v1/games/{game_id}/seats/0/abandon")
    for number, game_id in enumerate(games):
        ticket = await anna.call("POST", TICKETS, TWO, idempotency_key=f"{number} taken back")
        assert ticket.status_code == 201
        await given_back(anna, ticket)
        await anna.sent("POST", f"/v1/games/{game_id}/seats/0/reclaim")
    assert_problem(await anna.call("POST", TICKETS, TWO, idempotency_key="all"), 409, "too_many_games")


async def test_a_hand_that_was_given_counts_from_the_first_move(
    world: World, anna: Player, boris: Player, openers: list[Player]
) -> None:
    games = [await dealt_game(world, opener, boris) for opener in openers[:AT_MOST]]
    for opener, game_id in zip(openers, games, strict=False):
        await handed(opener, game_id, anna)
        while not (await anna.view(game_id))["decisions"]:
            await boris.answer(game_id)
            await world.tend(game_id)
    for number, game_id in enumerate(games):
        ticket = await anna.call("POST", TICKETS, TWO, idempotency_key=f"{number} played")
        assert ticket.status_code == 201
        await given_back(anna, ticket)
        await anna.answer(game_id)
    assert_problem(await anna.call("POST", TICKETS, TWO, idempotency_key="all"), 409, "too_many_games")


async def test_who_has_as_many_games_as_one_may_open_is_handed_none_but_takes_one_by_invite(
    world: World, anna: Player, boris: Player, openers: list[Player]
) -> None:
    first, second, third = [await dealt_game(world, opener, boris) for opener in openers]
    for opener, game_id in ((openers[0], first), (openers[1], second)):
        assert (await handed(opener, game_id, anna)).status_code == 200
    assert_problem(await handed(openers[2], third, anna), 409, "hands_full")
    again = await handed(openers[0], first, anna)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
    assert (await openers[2].view(third))["you"] is not None
    is_hand = {"is_hand": True, "seat": 0}
    code = (await openers[2].sent("POST", f"/v1/games/{third}/invites", is_hand))["code"]
    await anna.sent("POST", f"/v1/invites/{code}/accept")
    assert (await anna.view(third))["you"] is not None


async def test_a_hand_is_given_again_when_a_game_is_over(
    world: World, anna: Player, boris: Player, openers: list[Player]
) -> None:
    games = [await dealt_game(world, opener, boris) for opener in (anna, anna, openers[0])]
    assert_problem(await handed(openers[0], games[2], anna), 409, "hands_full")
    await finish(world, games[0], 10, 20)
    assert (await handed(openers[0], games[2], anna)).status_code == 200
