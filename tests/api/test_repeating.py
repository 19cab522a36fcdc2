"""Requests that are sent again: carried out once, answered as before."""

import asyncio
from uuid import UUID

import msgspec
import pytest

from api.requests import keyed_request
from services.ids import new_uuid
from tests.api.problems import assert_problem
from tests.api.world import DAVIS, Player, World, dealt_game, in_turn


async def test_a_game_is_opened_once_however_often_it_is_asked_for(world: World, anna: Player) -> None:
    first = await anna.call("POST", "/v1/games", DAVIS, idempotency_key="k")
    again = await anna.call("POST", "/v1/games", DAVIS, idempotency_key='"k"')
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["location"] == first.headers["location"]
    assert len(world.log.games) == 1


async def test_a_repeated_opening_shows_the_game_as_it_was_opened(world: World, anna: Player, boris: Player) -> None:
    first = await anna.call("POST", "/v1/games", DAVIS, idempotency_key="k")
    await boris.sent("PUT", f"/v1/games/{first.json()['game_id']}/seats/1")
    again = await anna.call("POST", "/v1/games", DAVIS, idempotency_key="k")
    assert again.json() == first.json()
    assert again.headers["etag"] == first.headers["etag"]


async def test_a_key_belongs_to_one_request_of_one_player(anna: Player, boris: Player) -> None:
    await anna.sent("POST", "/v1/games", DAVIS, idempotency_key="k")
    other = {**DAVIS, "ruleset": "jokers"}
    assert_problem(await anna.call("POST", "/v1/games", other, idempotency_key="k"), 422, "idempotency_key_reused")
    assert (await boris.call("POST", "/v1/games", DAVIS, idempotency_key="k")).status_code == 201


@pytest.mark.parametrize(("age_s", "status"), [(3600, 201), (40 * 24 * 3600, 404)])
async def test_a_request_of_long_ago_whose_game_is_not_there_opens_none_in_its_time(
    world: World, anna: Player, age_s: int, status: int
) -> None:
    """The game lies in an archive, or the server died before it was opened."""
    body = msgspec.json.encode(DAVIS)
    request = keyed_request(
        [(b"idempotency-key", b"k")], "createGame", anna.player_id, "POST", "/v1/games", body
    )  # fmt: skip
    await world.house.reservations.reserve(request, UUID(int=new_uuid().int - (age_s * 1000 << 80)))
    answer = await anna.call("POST", "/v1/games", body, idempotency_key="k")
    assert answer.status_code == status
    assert len(world.log.games) == (status == 201)


async def test_twenty_openings_at_once_open_one_game(world: World, anna: Player) -> None:
    calls = (anna.call("POST", "/v1/games", DAVIS, idempotency_key="k") for _ in range(20))
    responses = await asyncio.gather(*calls)
    assert {response.status_code for response in responses} == {201}
    assert len({response.text for response in responses}) == 1
    assert len(world.log.games) == 1


async def test_a_start_is_repeated_with_its_key(anna: Player) -> None:
    game_id = (await anna.open_game(seats=[{"controller": "you"}, {"controller": "bot"}]))["game_id"]
    first = await anna.call("POST", f"/v1/games/{game_id}/start", idempotency_key="k")
    again = await anna.call("POST", f"/v1/games/{game_id}/start", idempotency_key="k")
    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["idempotency-replayed"] == "true"


async def test_each_operation_has_keys_of_its_own(anna: Player) -> None:
    seats = [{"controller": "you"}, {"controller": "bot"}]
    game_id = (await anna.open_game(seats=seats, visibility="private"))["game_id"]
    for path in ("/start", "/invites", "/seats/0/abandon", "/seats/0/reclaim"):
        answer = await anna.call("POST", f"/v1/games/{game_id}{path}", idempotency_key="k")
        assert answer.is_success
        assert "idempotency-replayed" not in answer.headers
    other = await anna.call("POST", f"/v1/games/{game_id}/invites", {"valid_s": 60}, idempotency_key="k")
    assert_problem(other, 422, "idempotency_key_reused")


async def test_a_move_is_carried_out_once_and_answered_alike(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    decision_id, move = view["decisions"][0]["decision_id"], {"kind": "draw_stock"}
    headers = {"idempotency_key": "m", "prefer": "return=representation"}
    first = await player.move(game_id, decision_id, move, **headers)
    version = (await player.view(game_id))["version"]
    again = await player.move(game_id, decision_id, move, **headers)
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.status_code, again.json()) == (201, first.json())
    assert (await player.view(game_id))["version"] == version


async def test_a_move_is_answered_alike_after_the_game_went_on(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    decision_id, move = view["decisions"][0]["decision_id"], {"kind": "draw_stock"}
    headers = {"idempotency_key": "m", "prefer": "return=representation"}
    first = await player.move(game_id, decision_id, move, **headers)
    for _ in range(6):
        for somebody in (anna, boris):
            if (await somebody.view(game_id))["decisions"]:
                await somebody.answer(game_id)
    again = await player.move(game_id, decision_id, move, **headers)
    assert again.json() == first.json()


async def test_the_same_move_twenty_times_at_once_counts_once(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    decision_id = view["decisions"][0]["decision_id"]
    calls = (player.move(game_id, decision_id, {"kind": "draw_stock"}, idempotency_key="m") for _ in range(20))
    responses = await asyncio.gather(*calls)
    assert {response.status_code for response in responses} == {201}
    assert len({response.text for response in responses}) == 1
    replayed = sum("idempotency-replayed" in response.headers for response in responses)
    assert replayed == 19
    events = (await player.sent("GET", f"/v1/games/{game_id}/events?after={view['version']}"))["items"]
    assert {event["move_id"] for event in events} == {responses[0].json()["move_id"]}


async def test_a_refused_request_leaves_its_key_free(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    decision_id = view["decisions"][0]["decision_id"]
    refused = await player.move(game_id, decision_id, {"kind": "discard", "card": "7H"}, idempotency_key="m")
    assert_problem(refused, 422, "illegal_move")
    made = await player.move(game_id, decision_id, {"kind": "draw_stock"}, idempotency_key="m")
    assert made.status_code == 201


async def test_a_move_is_answered_again_although_the_hand_went_over(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    decision_id, move = view["decisions"][0]["decision_id"], {"kind": "draw_stock"}
    first = await player.move(game_id, decision_id, move, idempotency_key="m")
    over = f"/v1/games/{game_id}/seats/{view['you']['seat']}/handover"
    handed = await player.call("POST", over, {"player_id": clara.player_id}, idempotency_key="h")
    again = await player.move(game_id, decision_id, move, idempotency_key="m")
    assert (again.status_code, again.json()) == (201, first.json())
    await clara.call("DELETE", "/v1/me")
    again = await player.call("POST", over, {"player_id": clara.player_id}, idempotency_key="h")
    assert (again.status_code, again.headers["idempotency-replayed"]) == (200, "true")
    assert again.json()["version"] == handed.json()["version"]


async def test_an_invite_is_made_once_and_told_again(anna: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    first = await anna.call("POST", f"/v1/games/{game_id}/invites", {}, idempotency_key="k")
    again = await anna.call("POST", f"/v1/games/{game_id}/invites", {}, idempotency_key="k")
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.status_code, again.json()) == (201, first.json())


async def test_what_needs_nothing_more_is_answered_as_it_was(anna: Player, boris: Player) -> None:
    """The second time he sits there, and the game is cancelled: neither is a new request."""
    game_id = (await anna.open_game())["game_id"]
    code = (await anna.sent("POST", f"/v1/games/{game_id}/invites", {}))["code"]
    accept, cancel = f"/v1/invites/{code}/accept", f"/v1/games/{game_id}/cancel"
    sat_down = await boris.call("POST", accept, {}, idempotency_key="k")
    ended = await anna.call("POST", cancel, idempotency_key="k")
    assert "idempotency-replayed" not in {*sat_down.headers, *ended.headers}
    for player, path, first in ((boris, accept, sat_down), (anna, cancel, ended)):
        again = await player.call("POST", path, {} if path == accept else None, idempotency_key="k")
        assert again.headers["idempotency-replayed"] == "true"
        assert (again.status_code, again.json()) == (first.status_code, first.json())


async def test_who_sits_there_already_is_shown_the_game_as_it_is(anna: Player, boris: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    code = (await anna.sent("POST", f"/v1/games/{game_id}/invites", {}))["code"]
    await boris.sent("PUT", f"/v1/games/{game_id}/seats/1")
    shown = await boris.call("POST", f"/v1/invites/{code}/accept", {}, idempotency_key="new")
    assert "idempotency-replayed" not in shown.headers
    assert shown.json() == await boris.sent("GET", f"/v1/games/{game_id}")
