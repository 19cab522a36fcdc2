"""Sitting down, leaving, bots that sit in, handing over, coming back, cancelling, playing again."""

import asyncio
from typing import Any

import pytest

from services.tables import Tables
from services.tending import _play_bots
from tests.api.problems import assert_problem
from tests.api.world import Json, Player, World, dealt_game, in_turn

OPEN, BOT = {"controller": "open"}, {"controller": "bot", "level": "normal"}


def who(game: Json, seat: int) -> tuple[str, Any, Any]:
    shown = game["seats"][seat]
    return shown["controller"], shown["player_id"], shown["level"]


async def private_table(world: World, anna: Player, boris: Player, **changes: Any) -> str:
    """Opens a private game of Anna's, lets Boris in by an invite, starts it and deals."""
    game_id: str = (await anna.open_game(visibility="private", **changes))["game_id"]
    invite = await anna.sent("POST", f"/v1/games/{game_id}/invites", {})
    await boris.sent("POST", f"/v1/invites/{invite['code']}/accept")
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    await world.tend(game_id)
    return game_id


async def kinds(player: Player, game_id: str) -> list[tuple[str, Any]]:
    events = (await player.sent("GET", f"/v1/games/{game_id}/events"))["items"]
    return [(event["kind"], event["data"].get("reason")) for event in events]


async def test_a_seat_can_be_left_while_the_game_waits(anna: Player, boris: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    path = f"/v1/games/{game_id}/seats/1"
    assert who(await boris.sent("PUT", path), 1)[:2] == ("human", boris.player_id)
    assert_problem(await anna.call("DELETE", path), 403, "not_your_decision")
    for _ in range(2):
        assert who(await boris.sent("DELETE", path), 1) == ("open", None, None)
    assert (await kinds(anna, game_id))[-1] == ("seat_changed", "left")
    await boris.sent("PUT", path)
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    assert_problem(await boris.call("DELETE", path), 409, "already_started")


async def test_the_opener_fills_seats_with_bots_and_empties_them(anna: Player, boris: Player) -> None:
    game_id = (await anna.open_game(seats=[{"controller": "you"}, OPEN, OPEN]))["game_id"]
    path = f"/v1/games/{game_id}/seats"
    assert_problem(await boris.call("PUT", f"{path}/1/bot", {}), 403, "not_your_game")
    assert who(await anna.sent("PUT", f"{path}/1/bot", {"level": "easy"}), 1) == ("bot", None, "easy")
    assert who(await anna.sent("PUT", f"{path}/1/bot", {"level": "normal"}), 1) == ("bot", None, "normal")
    assert_problem(await boris.call("DELETE", f"{path}/1/bot"), 403, "not_your_game")
    await boris.sent("PUT", f"{path}/2")
    assert_problem(await anna.call("PUT", f"{path}/2/bot", {}), 409, "seat_taken")
    assert_problem(await anna.call("DELETE", f"{path}/2/bot"), 409, "seat_taken")
    assert_problem(await anna.call("PUT", f"{path}/7/bot", {}), 404, "seat_not_found")
    assert who(await anna.sent("DELETE", f"{path}/1/bot"), 1) == ("open", None, None)


async def test_only_the_opener_cancels_a_waiting_game(anna: Player, boris: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    for player, is_opener in ((anna, True), (boris, False)):
        assert (await player.sent("GET", f"/v1/games/{game_id}"))["is_opener"] is is_opener
        assert (await player.sent("GET", "/v1/games"))["items"][0]["is_opener"] is is_opener
    assert_problem(await boris.call("POST", f"/v1/games/{game_id}/cancel", idempotency_key="c"), 403, "not_your_game")
    for _ in range(2):
        assert (await anna.sent("POST", f"/v1/games/{game_id}/cancel"))["status"] == "cancelled"
    assert (await kinds(anna, game_id))[-1] == ("game_cancelled", "opener")
    assert_problem(await boris.call("PUT", f"/v1/games/{game_id}/seats/1"), 409, "already_started")
    assert_problem(await anna.call("POST", f"/v1/games/{game_id}/start", idempotency_key="s"), 409, "already_started")
    assert [game["status"] for game in (await anna.sent("GET", "/v1/games"))["items"]] == ["cancelled"]


async def test_a_started_game_is_not_cancelled(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    assert_problem(await anna.call("POST", f"/v1/games/{game_id}/cancel", idempotency_key="c"), 409, "already_started")


async def test_a_bot_sits_in_and_its_person_comes_back(world: World, anna: Player, boris: Player) -> None:
    game_id = await private_table(world, anna, boris)
    path = f"/v1/games/{game_id}/seats/1"
    hand = (await boris.view(game_id))["you"]["hand"]
    assert who(await boris.sent("PUT", f"{path}/bot", {"level": "easy"}), 1) == ("bot", boris.player_id, "easy")
    assert (await boris.view(game_id))["you"] is None
    assert_problem(await anna.call("DELETE", f"{path}/bot"), 403, "not_seated")
    assert who(await boris.sent("DELETE", f"{path}/bot"), 1) == ("human", boris.player_id, None)
    assert (await boris.view(game_id))["you"]["hand"] == hand
    assert_problem(await boris.call("POST", f"{path}/reclaim", idempotency_key="r"), 409, "seat_not_held")


async def test_who_has_left_a_game_without_bots_has_no_seat_there_any_more(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, clara, overrides={"leaver": "out"})
    path = f"/v1/games/{game_id}/seats/1"
    await boris.sent("POST", f"{path}/abandon")
    for method, place, body in (
        ("PUT", "/bot", {}), ("DELETE", "/bot", None), ("POST", "/abandon", None), ("POST", "/reclaim", None),
        ("POST", "/handover", {"player_id": anna.player_id}),
    ):  # fmt: skip
        assert_problem(await boris.call(method, path + place, body, idempotency_key=place), 403, "not_seated")
    for method, place, body in (("PUT", "/bot", {}), ("POST", "/abandon", None)):
        assert_problem(await anna.call(method, path + place, body, idempotency_key=place), 403, "not_your_decision")
    assert_problem(await anna.call("DELETE", f"{path}/bot"), 403, "not_seated")


async def test_seating_a_bot_in_the_own_place_and_coming_back_can_be_sent_again(
    world: World, anna: Player, boris: Player
) -> None:
    game_id = await private_table(world, anna, boris)
    path = f"/v1/games/{game_id}/seats/1/bot"
    for method in ("PUT", "DELETE"):
        first = await boris.sent(method, path)
        again = await boris.sent(method, path)
        assert again["seats"][1] == first["seats"][1]
        assert await changes(boris, game_id, "sat_in" if method == "PUT" else "reclaimed") == 1


async def test_the_bot_in_the_own_place_may_get_another_level(world: World, anna: Player, boris: Player) -> None:
    game_id = await private_table(world, anna, boris)
    path = f"/v1/games/{game_id}/seats/1/bot"
    await boris.sent("PUT", path, {"level": "easy"})
    assert who(await boris.sent("PUT", path, {"level": "normal"}), 1) == ("bot", boris.player_id, "normal")
    assert_problem(await anna.call("PUT", path, {"level": "easy"}), 403, "not_your_decision")


async def changes(player: Player, game_id: str, reason: str) -> int:
    """Counts how often seats have changed hands for this reason."""
    events = (await player.sent("GET", f"/v1/games/{game_id}/events"))["items"]
    return sum(event["kind"] == "seat_changed" and event["data"]["reason"] == reason for event in events)


async def test_nobody_seats_a_bot_in_the_place_of_another_player(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    before = await boris.view(game_id)
    for other, code in ((anna, "not_your_decision"), (clara, "not_seated")):
        assert_problem(await other.call("PUT", f"/v1/games/{game_id}/seats/1/bot", {}), 403, code)
        assert_problem(await other.call("DELETE", f"/v1/games/{game_id}/seats/1/bot"), 403, "not_seated")
    assert await boris.view(game_id) == before


async def test_who_abandons_a_game_may_reclaim_the_seat(world: World, anna: Player, boris: Player) -> None:
    game_id = await private_table(world, anna, boris)
    path = f"/v1/games/{game_id}/seats/1"
    assert_problem(await anna.call("POST", f"{path}/abandon", idempotency_key="a"), 403, "not_your_decision")
    left = await boris.call("POST", f"{path}/abandon", idempotency_key="leave")
    assert who(left.json(), 1) == ("bot", boris.player_id, "normal")
    again = await boris.call("POST", f"{path}/abandon", idempotency_key="leave")
    assert (again.json(), again.headers["idempotency-replayed"]) == (left.json(), "true")
    assert who(await boris.sent("POST", f"{path}/reclaim"), 1) == ("human", boris.player_id, None)
    assert [kind for kind in await kinds(anna, game_id) if kind[0] == "seat_changed"][-2:] == [
        ("seat_changed", "abandoned"), ("seat_changed", "reclaimed"),
    ]  # fmt: skip


async def test_a_hand_goes_over_to_another_player(world: World, anna: Player, boris: Player, clara: Player) -> None:
    game_id = await dealt_game(world, anna, boris, spectators="none")
    path = f"/v1/games/{game_id}/seats/1/handover"
    hand = (await boris.view(game_id))["you"]["hand"]
    unknown = {"player_id": "ply_" + "0" * 26}
    assert_problem(await boris.call("POST", path, unknown, idempotency_key="1"), 404, "player_not_found")
    seated = {"player_id": anna.player_id}
    assert_problem(await boris.call("POST", path, seated, idempotency_key="2"), 409, "seat_taken")
    await boris.sent("POST", path, {"player_id": clara.player_id})
    assert (await clara.view(game_id))["you"]["hand"] == hand
    assert_problem(await boris.call("GET", f"/v1/games/{game_id}/view"), 403, "not_seated")


async def test_a_player_sits_down_in_a_game_so_often(
    anna: Player, boris: Player, clara: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.games.SEATINGS_AT_MOST", 2)
    game_id = (await anna.open_game())["game_id"]
    seat = f"/v1/games/{game_id}/seats/1"
    for _ in range(2):
        await boris.sent("PUT", seat)
        await boris.sent("DELETE", seat)
    assert_problem(await boris.call("PUT", seat), 409, "too_many_seatings")
    invite = await anna.sent("POST", f"/v1/games/{game_id}/invites", {})
    accept = await boris.call("POST", f"/v1/invites/{invite['code']}/accept", idempotency_key=boris.new_key())
    assert_problem(accept, 409, "too_many_seatings")
    for level in ("easy", "normal"):
        await anna.sent("PUT", f"{seat}/bot", {"level": level})
    assert_problem(await anna.call("PUT", f"{seat}/bot", {"level": "easy"}), 409, "too_many_seatings")
    await anna.sent("DELETE", f"{seat}/bot")
    await clara.sent("PUT", seat)


async def test_who_has_sat_down_too_often_still_plays(
    world: World, anna: Player, boris: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = await dealt_game(world, anna, boris)
    monkeypatch.setattr("services.games.SEATINGS_AT_MOST", 1)
    bot = await boris.call("PUT", f"/v1/games/{game_id}/seats/1/bot", {})
    assert_problem(bot, 409, "too_many_seatings")
    player, _ = await in_turn(game_id, anna, boris)
    await player.answer(game_id)


async def test_a_game_is_either_started_or_cancelled(anna: Player) -> None:
    for first, second in (("start", "cancel"), ("cancel", "start")):
        game_id = (await anna.open_game(seats=[{"controller": "you"}, BOT]))["game_id"]
        answers = await asyncio.gather(
            *(anna.call("POST", f"/v1/games/{game_id}/{what}", idempotency_key=what) for what in (first, second))
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        again = await anna.call("POST", f"/v1/games/{game_id}/{first}", idempotency_key=first)
        assert again.status_code == answers[0].status_code


async def test_a_bot_never_acts_for_a_person_who_is_back(world: World, anna: Player, boris: Player) -> None:
    """Boris reclaims his seat while the bot's move is being written: the append loses, and the bot does not move."""
    game_id = await dealt_game(world, anna, boris)
    path = f"/v1/games/{game_id}/seats/{(await in_turn(game_id, anna, boris))[1]['you']['seat']}"
    player = (await in_turn(game_id, anna, boris))[0]
    await player.sent("PUT", f"{path}/bot", {})
    elsewhere = Tables(world.log)
    await elsewhere.fresh(game_id)
    await player.sent("POST", f"{path}/reclaim")
    before = (await player.view(game_id))["version"]
    hot = elsewhere.in_memory(game_id)
    assert hot.game.version == before - 1
    await elsewhere.carry_out(game_id, _play_bots)
    assert (await player.view(game_id))["version"] == before


async def test_events_name_a_seat_as_the_game_does(anna: Player, boris: Player) -> None:
    seats = [{"controller": "you"}, {"controller": "bot"}, {"controller": "open"}]
    game_id = (await anna.open_game(seats=seats))["game_id"]
    path, names = f"/v1/games/{game_id}", []
    for player, method, place in (
        (anna, "PUT", "seats/2/bot"), (anna, "DELETE", "seats/2/bot"), (boris, "PUT", "seats/2"),
        (anna, "POST", "start"), (boris, "PUT", "seats/2/bot"),
    ):  # fmt: skip
        shown = await player.sent(method, f"{path}/{place}")
        told = {
            event["seat"]: event["data"]["name"]
            for event in (await anna.sent("GET", f"{path}/events"))["items"]
            if event["kind"] == "seat_changed"
        }
        names.append([seat["name"] for seat in shown["seats"]])
        assert [told.get(seat) for seat in range(3)] == names[-1]
    assert names == [["Anna", "Bot 2", third] for third in ("Bot 3", None, "Boris", "Boris", "Boris")]


async def test_a_rematch_is_the_same_game_once_more(world: World, anna: Player, boris: Player, clara: Player) -> None:
    rules = {"contracts": [[{"kind": "set", "size": 3}]]}
    game_id = await private_table(world, anna, boris, overrides=rules)
    assert_problem(
        await anna.call("POST", f"/v1/games/{game_id}/rematch", idempotency_key="r"), 409, "game_not_finished"
    )
    for player, seat in ((anna, 0), (boris, 1)):
        await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}/bot", {})
    await world.tend(game_id)
    new = await anna.sent("POST", f"/v1/games/{game_id}/rematch", idempotency_key="again")
    assert await anna.sent("POST", f"/v1/games/{game_id}/rematch", idempotency_key="again") == new
    assert (who(new, 0)[1], who(new, 1)[0], new["status"]) == (anna.player_id, "open", "waiting")
    assert new["rules"] == (await anna.sent("GET", f"/v1/games/{game_id}"))["rules"]
    opened = (await anna.sent("GET", f"/v1/games/{new['game_id']}/events"))["items"][0]
    assert opened["data"]["rematch_of"] == new["rematch_of"] == game_id
    assert (await boris.sent("GET", "/v1/games?status=waiting"))["items"][0]["rematch_of"] == game_id
    assert_problem(await clara.call("GET", f"/v1/games/{new['game_id']}"), 404, "game_not_found")
    for player, games in ((boris, [new["game_id"], game_id]), (clara, [])):
        assert [each["game_id"] for each in (await player.sent("GET", "/v1/games?mine=true"))["items"]] == games
    assert who(await boris.sent("PUT", f"/v1/games/{new['game_id']}/seats/1"), 1)[1] == boris.player_id


async def test_a_rematch_is_open_to_the_same_eyes(anna: Player) -> None:
    wishes = {
        "visibility": "private",
        "spectators": "delayed",
        "spectator_delay_s": 30,
        "hints": False,
        "pace": {"claim_window_s": 7, "turn_s": 77, "bot_delay_ms": 0},
    }
    game = await anna.open_game(**wishes)
    await anna.sent("POST", f"/v1/games/{game['game_id']}/cancel")
    again = await anna.sent("POST", f"/v1/games/{game['game_id']}/rematch")
    assert [again[name] for name in wishes] == [game[name] for name in wishes]
    assert [game[name] for name in wishes if name != "pace"] == [wishes[name] for name in wishes if name != "pace"]


@pytest.mark.parametrize("path", ["cancel", "rematch", "seats/0/abandon", "seats/0/reclaim", "invites"])
async def test_a_strangers_private_game_is_unknown(anna: Player, boris: Player, path: str) -> None:
    game_id = (await anna.open_game(visibility="private"))["game_id"]
    body: Json | None = {} if path == "invites" else None
    answer = await boris.call("POST", f"/v1/games/{game_id}/{path}", body, idempotency_key="k")
    assert_problem(answer, 404, "game_not_found")
