"""What the core path answers, field by field: clients outside this repository rely on it."""

import re

from tests.api.world import DAVIS, Player, World, dealt_game, in_turn
from tests.described import TIME

SEAT = {
    "seat", "name", "player_id", "controller", "level", "away", "hand_count", "down", "buys_left", "contract", "score",
}  # fmt: skip
EVENT = {"game_id", "version", "kind", "occurred_at", "round", "seat", "actor", "move_id", "data"}


async def test_a_guest_gets_an_id_a_name_and_a_token(stranger: Player) -> None:
    response = await stranger.call("POST", "/v1/players", {"name": "  Anna  "})
    assert response.status_code == 201
    assert response.headers["location"] == "/v1/me"
    guest = response.json()
    assert set(guest) == {"player_id", "name", "token"}
    assert re.fullmatch(r"ply_[0-9a-hjkmnp-tv-z]{26}", guest["player_id"])
    assert guest["name"] == "Anna"
    assert guest["token"].startswith("shg_")


async def test_a_token_tells_who_is_calling(anna: Player) -> None:
    me = await anna.sent("GET", "/v1/me")
    assert me == {"player_id": anna.player_id, "name": "Anna", "scopes": ["play", "watch"]}


async def test_an_opened_game_is_shown_whole(anna: Player) -> None:
    seats = [{"controller": "you"}, {"controller": "bot", "level": "easy"}, {"controller": "bot"}]
    response = await anna.call(
        "POST",
        "/v1/games",
        {**DAVIS, "seats": seats, "pace": {"turn_s": 90}, "visibility": "private", "spectators": "none"},
        idempotency_key='"k1"',
    )
    assert response.status_code == 201
    game = response.json()
    assert response.headers["location"] == f"/v1/games/{game['game_id']}"
    assert response.headers["etag"] == f'"v{game["version"]}"'
    assert set(game) == {
        "game_id", "version", "status", "ruleset", "rules", "pace", "visibility", "spectators", "seats", "you",
        "is_opener", "created_at", "result", "hints", "spectator_delay_s", "rematch_of",
    }  # fmt: skip
    assert re.fullmatch(r"gam_[0-9a-hjkmnp-tv-z]{26}", game["game_id"])
    assert TIME.fullmatch(game["created_at"])
    shown = {name: game[name] for name in ("status", "ruleset", "visibility", "spectators", "you", "result")}
    assert shown == {
        "status": "waiting", "ruleset": "davis", "visibility": "private", "spectators": "none", "you": 0,
        "result": None,
    }  # fmt: skip
    assert game["pace"] == {"claim_window_s": 5, "turn_s": 90, "bot_delay_ms": 0, "claims": "early"}
    assert game["rules"]["contracts"][0] == [{"kind": "set", "size": 3}, {"kind": "set", "size": 3}]
    assert all(set(seat) == SEAT for seat in game["seats"])
    assert [(seat["controller"], seat["name"], seat["level"]) for seat in game["seats"]] == [
        ("human", "Anna", None),
        ("bot", "Bot 2", "easy"),
        ("bot", "Bot 3", "normal"),
    ]


async def test_what_the_opener_has_chosen_is_shown_to_everybody(anna: Player, boris: Player) -> None:
    plain = await anna.open_game()
    late = await anna.open_game(spectators="delayed", spectator_delay_s=None)
    chosen = await anna.open_game(spectators="delayed", spectator_delay_s=30, hints=False)
    listed = (await boris.sent("GET", "/v1/games"))["items"][::-1]
    choices = ((None, True, None), (60, True, None), (30, False, None))
    for game, shown, choice in zip((plain, late, chosen), listed, choices, strict=True):
        for answer in (game, shown, await boris.sent("GET", f"/v1/games/{game['game_id']}")):
            assert (answer["spectator_delay_s"], answer["hints"], answer["rematch_of"]) == choice


async def test_the_same_game_is_read_started_and_listed_in_the_same_shape(anna: Player) -> None:
    opened = await anna.open_game(seats=[{"controller": "you"}, {"controller": "bot"}])
    game_id = opened["game_id"]
    assert await anna.sent("GET", f"/v1/games/{game_id}") == opened
    assert await anna.sent("GET", "/v1/games") == {"items": [opened], "next_cursor": None}
    started = await anna.sent("POST", f"/v1/games/{game_id}/start")
    assert started == opened | {"status": "playing", "version": opened["version"] + 1}


async def test_a_seat_can_be_taken_and_taken_again(anna: Player, boris: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    first = await boris.call("PUT", f"/v1/games/{game_id}/seats/1")
    again = await boris.call("PUT", f"/v1/games/{game_id}/seats/1", {})
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json()
    assert first.json()["you"] == 1
    assert first.json()["seats"][1]["name"] == "Boris"
    assert again.headers["etag"] == first.headers["etag"] == f'"v{first.json()["version"]}"'


async def test_a_view_shows_the_table_and_the_own_hand(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    view = await anna.view(game_id)
    assert set(view) == {
        "game_id", "version", "status", "ruleset", "round", "table", "seats", "you", "decisions", "result",
    }  # fmt: skip
    assert set(view["round"]) == {"number", "of", "contract", "dealer", "turn", "phase", "waiting_for"}
    assert view["round"]["waiting_for"] == {"seat": view["round"]["turn"]}
    assert set(view["table"]) == {"stock_count", "discard_top", "discard_open", "discard_count", "melds"}
    assert set(view["you"]) == {"seat", "hand"}
    assert len(view["you"]["hand"]) == 11
    assert all(set(seat) == SEAT and seat["hand_count"] == 11 for seat in view["seats"])


async def test_a_decision_lists_complete_moves(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    [decision] = view["decisions"]
    assert set(decision) == {"decision_id", "seat", "kind", "opened_at_version", "deadline_at", "options"}
    assert decision["kind"] == "draw"
    assert TIME.fullmatch(decision["deadline_at"])
    assert {"kind": "draw_stock"} in decision["options"]
    listed = await player.sent("GET", f"/v1/games/{game_id}/decisions")
    assert listed == {"game_id": game_id, "version": view["version"], "items": view["decisions"]}


async def test_a_move_answers_with_its_own_events(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    response = await player.move(game_id, view["decisions"][0]["decision_id"], {"kind": "draw_stock"})
    assert response.status_code == 201
    moved = response.json()
    assert set(moved) == {"move_id", "version", "events", "view"}
    assert moved["move_id"].startswith("mov_")
    assert moved["view"] is None
    assert moved["version"] == moved["events"][-1]["version"]
    assert response.headers["etag"] == f'"v{moved["version"]}"'
    assert all(set(event) == EVENT and TIME.fullmatch(event["occurred_at"]) for event in moved["events"])
    assert {event["move_id"] for event in moved["events"]} == {moved["move_id"]}
    where = response.headers["location"]
    assert (await player.sent("GET", where))["items"] == moved["events"]


async def test_a_move_brings_the_view_along_where_it_is_preferred(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    response = await player.move(
        game_id, view["decisions"][0]["decision_id"], {"kind": "draw_stock"}, prefer="return=representation"
    )
    assert response.headers["preference-applied"] == "return=representation"
    assert response.json()["view"] == await player.view(game_id)


async def test_events_start_with_one_and_have_no_holes(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    page = await anna.sent("GET", f"/v1/games/{game_id}/events")
    assert set(page) == {"items", "next_after", "head_version"}
    assert [event["version"] for event in page["items"]] == list(range(1, page["head_version"] + 1))
    assert all(set(event) == EVENT for event in page["items"])
    assert page["items"][0]["kind"] == "game_opened"
