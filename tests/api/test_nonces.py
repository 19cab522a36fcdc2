"""Players add their own luck: they commit themselves to a nonce with their seat and reveal it at the start."""

import json

import pytest

from infra.verify import verify
from tests.api.nonces import ANNAS, BORISES, commitment_to, events, look_after, reveal, started_game
from tests.api.problems import assert_problem
from tests.api.world import Player, World, asked


async def test_the_game_starts_when_all_nonces_are_revealed(world: World, anna: Player, boris: Player) -> None:
    game_id = await started_game(anna, boris)
    [asked] = await events(boris, game_id, "nonces_asked")
    assert asked["data"] == {"commitments": [commitment_to(ANNAS), commitment_to(BORISES)]}
    assert (await reveal(boris, game_id, 1, BORISES))["status"] == "waiting"
    [revealed] = await events(anna, game_id, "nonce_revealed", "game_started")
    assert (revealed["seat"], revealed["data"]) == (1, {})
    assert (await reveal(anna, game_id, 0, ANNAS))["status"] == "playing"
    [started] = await events(boris, game_id, "game_started")
    assert started["data"] == {"nonces": [ANNAS, BORISES]}
    await world.tend(game_id)
    assert (await anna.view(game_id))["round"]["number"] == 1


async def test_a_commitment_is_shown_to_nobody_before_the_start(anna: Player, boris: Player) -> None:
    seats = [{"controller": "you", "nonce_commitment": commitment_to(ANNAS)}, {"controller": "open"}]
    game_id = (await anna.open_game(seats=seats))["game_id"]
    for path in ("", "/view", "/events"):
        for player in (anna, boris):
            assert commitment_to(ANNAS) not in json.dumps(await player.sent("GET", f"/v1/games/{game_id}{path}"))


async def test_revealing_again_changes_nothing(anna: Player, boris: Player) -> None:
    game_id = await started_game(anna, boris)
    assert await reveal(anna, game_id, 0, ANNAS) == await reveal(anna, game_id, 0, ANNAS)
    started = await reveal(boris, game_id, 1, BORISES)
    assert await reveal(boris, game_id, 1, BORISES) == started


async def test_only_the_right_bytes_of_the_own_seat_are_taken(
    anna: Player, boris: Player, clara: Player, stranger: Player
) -> None:
    game_id = await started_game(anna, boris)
    path = f"/v1/games/{game_id}/seats"
    assert_problem(await anna.call("POST", f"{path}/0/nonce", {"nonce": BORISES}), 422, "wrong_nonce")
    assert_problem(await anna.call("POST", f"{path}/1/nonce", {"nonce": BORISES}), 403, "not_your_decision")
    assert_problem(await anna.call("POST", f"{path}/9/nonce", {"nonce": ANNAS}), 404, "seat_not_found")
    assert_problem(await clara.call("POST", f"{path}/0/nonce", {"nonce": ANNAS}), 403, "not_seated")
    assert_problem(await stranger.call("POST", f"{path}/0/nonce", {"nonce": ANNAS}), 401, "unauthenticated")
    for text in ("", "00", ANNAS.upper(), f"{ANNAS}\n", f"{ANNAS}00", 7, None):
        assert_problem(await anna.call("POST", f"{path}/0/nonce", {"nonce": text}), 422, "invalid_request")
    assert len(await events(anna, game_id, "nonce_revealed")) == 0


async def test_a_nonce_that_nobody_has_asked_for_is_refused(anna: Player, boris: Player) -> None:
    seats = [{"controller": "you", "nonce_commitment": commitment_to(ANNAS)}, {"controller": "open"}]
    game_id = (await anna.open_game(seats=seats))["game_id"]
    path = f"/v1/games/{game_id}/seats"
    assert_problem(await anna.call("POST", f"{path}/0/nonce", {"nonce": ANNAS}), 409, "nonce_not_asked")
    await boris.sent("PUT", f"{path}/1")
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    assert_problem(await boris.call("POST", f"{path}/1/nonce", {"nonce": BORISES}), 409, "nonce_not_asked")
    assert (await reveal(anna, game_id, 0, ANNAS))["status"] == "playing"


@pytest.mark.parametrize("commitment", ["", "00", "A" * 64, "0" * 64 + "\n", "0" * 65, 5])
async def test_what_is_no_commitment_is_refused(anna: Player, boris: Player, commitment: object) -> None:
    game_id = (await anna.open_game())["game_id"]
    body = {"nonce_commitment": commitment}
    assert_problem(await boris.call("PUT", f"/v1/games/{game_id}/seats/1", body), 422, "invalid_request")


async def test_a_commitment_can_be_given_later_or_anew_while_the_game_waits(anna: Player, boris: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    path = f"/v1/games/{game_id}/seats"
    await boris.sent("PUT", f"{path}/1", {"nonce_commitment": commitment_to(ANNAS)})
    first = await boris.sent("PUT", f"{path}/1", {"nonce_commitment": commitment_to(BORISES)})
    assert first == await boris.sent("PUT", f"{path}/1", {"nonce_commitment": commitment_to(BORISES)})
    assert first == await boris.sent("PUT", f"{path}/1")
    await anna.sent("PUT", f"{path}/0", {"nonce_commitment": commitment_to(ANNAS)})
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    late = await boris.call("PUT", f"{path}/1", {"nonce_commitment": commitment_to(ANNAS)})
    assert_problem(late, 409, "already_started")
    [asked] = await events(anna, game_id, "nonces_asked")
    assert asked["data"]["commitments"] == [commitment_to(ANNAS), commitment_to(BORISES)]


async def test_a_seat_that_does_not_reveal_in_ten_seconds_is_emptied(world: World, anna: Player, boris: Player) -> None:
    game_id = await started_game(anna, boris)
    await reveal(anna, game_id, 0, ANNAS)
    await look_after(world, game_id, seconds=9)
    assert await events(anna, game_id, "nonces_dropped") == []
    await look_after(world, game_id, seconds=11)
    [dropped] = await events(anna, game_id, "nonces_dropped")
    assert (dropped["data"], dropped["actor"]) == ({"seats": [1]}, "timer")
    game = await anna.sent("GET", f"/v1/games/{game_id}")
    assert (game["status"], [seat["controller"] for seat in game["seats"]]) == ("waiting", ["human", "open"])
    await look_after(world, game_id, seconds=60)
    late = await boris.call("POST", f"/v1/games/{game_id}/seats/1/nonce", {"nonce": BORISES})
    assert_problem(late, 403, "not_seated")

    await boris.sent("PUT", f"/v1/games/{game_id}/seats/1")
    started = await anna.sent("POST", f"/v1/games/{game_id}/start")
    assert started["status"] == "playing"
    [event] = await events(anna, game_id, "game_started")
    assert event["data"] == {"nonces": [None, None]}


async def test_the_export_is_what_the_list_of_events_shows_and_can_be_verified(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await started_game(anna, boris)
    await reveal(anna, game_id, 0, ANNAS)
    await reveal(boris, game_id, 1, BORISES)
    await world.tend(game_id)
    for kind in ("play", "draw", "play"):
        await asked(game_id, kind, anna, boris)
    for player in (anna, boris, clara):
        response = await player.call("GET", f"/v1/games/{game_id}/export?format=ndjson")
        assert response.headers["content-type"] == "application/x-ndjson"
        assert response.headers["content-disposition"] == f'attachment; filename="{game_id}.ndjson"'
        page = await player.sent("GET", f"/v1/games/{game_id}/events?limit=500")
        assert [json.loads(line) for line in response.text.splitlines()] == page["items"]
        report, _ = verify(response.content)
        assert (report.findings, report.nonces, report.unrevealed) == ((), 2, (1,))
    assert_problem(await anna.call("GET", f"/v1/games/{game_id}/export?format=pdf"), 422, "invalid_request")


async def test_an_export_is_for_those_who_may_watch(world: World, anna: Player, boris: Player, clara: Player) -> None:
    private = (await anna.open_game(visibility="private"))["game_id"]
    closed = (await anna.open_game(spectators="none"))["game_id"]
    assert_problem(await clara.call("GET", f"/v1/games/{private}/export"), 404, "game_not_found")
    assert_problem(await clara.call("GET", f"/v1/games/{closed}/export"), 403, "not_seated")
    assert (await anna.call("GET", f"/v1/games/{closed}/export")).status_code == 200
