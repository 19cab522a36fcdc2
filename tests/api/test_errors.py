"""Whatever goes wrong is answered as a problem with the right code, and changes nothing."""

import json
from typing import Any

import pytest

from domain.presets import preset_names
from tests.api.problems import NOBODY, assert_problem
from tests.api.world import DAVIS, Player, World, asked, dealt_game, in_turn, with_token


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("DELETE", "/", 405, "method_not_allowed"),
        ("GET", "/v1", 404, "not_found"),
        ("GET", "/v2/games", 404, "not_found"),
        ("GET", "/v1/rulesets/hearts", 404, "ruleset_not_found"),
        ("GET", "/v1/games/chess", 404, "game_not_found"),
        ("GET", f"/v1/games/{NOBODY}", 404, "game_not_found"),
        ("GET", f"/v1/games/{NOBODY}/view", 404, "game_not_found"),
        ("GET", f"/v1/games/{NOBODY}/decisions", 404, "game_not_found"),
        ("GET", f"/v1/games/{NOBODY}/events", 404, "game_not_found"),
        ("GET", f"/v1/games/{NOBODY}/stream", 404, "game_not_found"),
        ("POST", f"/v1/games/{NOBODY}/start", 404, "game_not_found"),
        ("PUT", f"/v1/games/{NOBODY}/seats/0", 404, "game_not_found"),
        ("DELETE", "/v1/games", 405, "method_not_allowed"),
        ("PATCH", f"/v1/games/{NOBODY}/moves", 405, "method_not_allowed"),
        ("POST", "/health/live", 405, "method_not_allowed"),
    ],
)
async def test_what_is_not_there_is_a_problem(anna: Player, method: str, path: str, status: int, code: str) -> None:
    response = await anna.call(method, path, idempotency_key="k")
    assert_problem(response, status, code)
    assert ("allow" in response.headers) == (status == 405)


async def test_another_method_is_told_which_ones_there_are(anna: Player) -> None:
    response = await anna.call("POST", f"/v1/games/{NOBODY}/seats/2")
    assert response.headers["allow"] == "DELETE, OPTIONS, PUT"
    options = await anna.call("OPTIONS", "/v1/games")
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "DELETE"])
@pytest.mark.parametrize("path", ["/v1/games/", "/docs/", "/health/live/", f"/v1/games/{NOBODY}/seats/0/"])
async def test_a_path_that_ends_in_a_slash_is_another_one(anna: Player, method: str, path: str) -> None:
    response = await anna.call(method, path, idempotency_key="k")
    assert response.status_code == 404
    assert "allow" not in response.headers
    if method != "HEAD":
        assert_problem(response, 404, "not_found")


@pytest.mark.parametrize("number", ["01", "00", "+1", "-0", "1.0", "%31%20", "%D9%A1", "1000"])
async def test_a_number_in_a_path_has_one_spelling(world: World, anna: Player, boris: Player, number: str) -> None:
    game_id = await dealt_game(world, anna, boris)
    assert_problem(await boris.call("PUT", f"/v1/games/{game_id}/seats/{number}/bot", {}), 404, "seat_not_found")
    assert_problem(await boris.call("GET", f"/v1/games/{game_id}/rounds/{number}/fairness"), 404, "round_not_found")


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer shg_nobody", "Basic YW5uYTphbm5h", "shg_nobody"])
async def test_without_a_known_token_nobody_is_let_in(stranger: Player, authorization: str) -> None:
    for method, path in (("GET", "/v1/me"), ("POST", "/v1/games"), ("GET", f"/v1/games/{NOBODY}/stream")):
        response = await stranger.call(method, path, **({"authorization": authorization} if authorization else {}))
        assert_problem(response, 401, "unauthenticated")
        assert response.headers["www-authenticate"] == "Bearer"


async def test_a_token_without_the_scope_does_not_reach_the_game(world: World, anna: Player) -> None:
    anna = await with_token(anna, "watch")
    assert_problem(await anna.call("POST", "/v1/games", DAVIS, idempotency_key="k"), 403, "insufficient_scope")
    assert (await anna.call("GET", "/v1/games")).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code", "pointer"),
    [
        (b"", 415, "unsupported_media_type", None),
        (b"{", 400, "malformed_json", None),
        (b'{"name":"Anna"} trailing', 400, "malformed_json", None),
        (b'{"name":"\xff"}', 400, "malformed_json", None),
        (b'{"name":"\\ud800"}', 400, "malformed_json", None),
        (b"[]", 422, "invalid_request", ""),
        (b"{}", 422, "invalid_request", "/name"),
        (b'{"name":1}', 422, "invalid_request", "/name"),
        (b'{"name":"Anna","age":7}', 422, "invalid_request", "/age"),
        (b'{"name":"Anna","a/b~c":7}', 422, "invalid_request", "/a~1b~0c"),
        (b'{"name":"   "}', 422, "invalid_request", "/name"),
        (b'{"name":"%s"}' % (b"a" * 41), 422, "invalid_request", "/name"),
        (b'{"name":"An\\nna"}', 422, "invalid_request", "/name"),
        (b'{"name":"An\\u0000na"}', 422, "invalid_request", "/name"),
        (b'{"name":"An\\u202ena"}', 422, "invalid_request", "/name"),
        (b'{"name":"\\u200b"}', 422, "invalid_request", "/name"),
        (b'{"name":' + b"[" * 17 + b"]" * 17 + b"}", 422, "invalid_request", ""),
        (b'{"name":' + b"[" * 60_000, 422, "invalid_request", ""),
        (b'{"name":"' + b"a" * 70_000 + b'"}', 413, "payload_too_large", None),
    ],
)
async def test_a_body_is_read_strictly(
    stranger: Player, body: bytes, status: int, code: str, pointer: str | None
) -> None:
    content_type = "text/plain" if status == 415 else "application/json"
    response = await stranger.call("POST", "/v1/players", body or b"x", content_type=content_type)
    problem = assert_problem(response, status, code)
    assert [error["pointer"] for error in problem["errors"]] == ([] if pointer is None else [pointer])


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "application/merge-patch+json"])
async def test_json_is_known_by_its_media_type(stranger: Player, content_type: str) -> None:
    response = await stranger.call("POST", "/v1/players", b'{"name":"Anna"}', content_type=content_type)
    assert response.status_code == 201


async def test_deep_strings_do_not_count_as_depth(stranger: Player) -> None:
    response = await stranger.call("POST", "/v1/players", json.dumps({"name": '[[{{"' * 6}).encode())
    assert response.status_code == 201


YOU = {"controller": "you"}
OPEN = {"controller": "open"}


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"ruleset": "hearts"}, "/ruleset"),
        ({"ruleset": None}, "/ruleset"),
        ({"seats": [YOU]}, "/seats"),
        ({"seats": [OPEN] * 9}, "/seats"),
        ({"seats": [YOU, YOU]}, "/seats/1"),
        ({"seats": [YOU, {"controller": "human"}]}, "/seats/1/controller"),
        ({"seats": [YOU, {"controller": "bot", "level": "hard"}]}, "/seats/1/level"),
        ({"seats": [YOU, {"controller": "open", "level": "easy"}]}, "/seats/1/level"),
        ({"seats": "you"}, "/seats"),
        ({"visibility": "secret"}, "/visibility"),
        ({"spectators": "late"}, "/spectators"),
        ({"spectators": "delayed", "spectator_delay_s": 0}, "/spectator_delay_s"),
        ({"spectator_delay_s": 60}, "/spectator_delay_s"),
        ({"spectators": "none", "spectator_delay_s": 60}, "/spectator_delay_s"),
        ({"pace": {"claim_window_s": 121}}, "/pace/claim_window_s"),
        ({"pace": {"claim_window_s": -1}}, "/pace/claim_window_s"),
        ({"pace": {"turn_s": 4}}, "/pace/turn_s"),
        ({"pace": {"turn_s": 1_209_601}}, "/pace/turn_s"),
        ({"pace": {"turn_s": "60"}}, "/pace/turn_s"),
        ({"pace": {"turn_s": 60.5}}, "/pace/turn_s"),
        ({"pace": {"bot_delay_ms": 5_001}}, "/pace/bot_delay_ms"),
        ({"pace": {"claims": "late"}}, "/pace/claims"),
        ({"overrides": {"deal": {"cards": [16]}}}, "/overrides/deal/cards"),
        ({"overrides": {"deck": {"sizes": {"2": {"packs": 7}}}}}, "/overrides/deck/sizes/2"),
        ({"overrides": {"deal": {"cards": "11"}}}, "/overrides/deal/cards"),
        ({"overrides": {"name": "mine"}}, "/overrides/name"),
        ({"overrides": {"players": {"max": 1_000_000_000}}}, "/overrides/players"),
        ({"colour": "red"}, "/colour"),
    ],
)
async def test_a_game_outside_the_bounds_is_not_opened(
    world: World, anna: Player, changes: dict[str, Any], pointer: str
) -> None:
    response = await anna.call("POST", "/v1/games", DAVIS | changes, idempotency_key="k")
    problem = assert_problem(response, 422, "invalid_request")
    assert [(error["in"], error["pointer"]) for error in problem["errors"]] == [("body", pointer)]
    assert world.log.games == {}


async def test_every_fault_of_a_ruleset_is_told_at_once(anna: Player) -> None:
    overrides = {"deal": {"cards": [16]}, "stock_out": {"max_renewals": 99}}
    response = await anna.call("POST", "/v1/games", {**DAVIS, "overrides": overrides}, idempotency_key="k")
    problem = assert_problem(response, 422, "invalid_request")
    faults = {(error["code"], error["pointer"]) for error in problem["errors"]}
    assert faults == {("bad_deal", "/overrides/deal/cards"), ("bad_renewals", "/overrides/stock_out/max_renewals")}


async def test_the_faults_of_all_parts_of_a_game_are_told_at_once(world: World, anna: Player) -> None:
    wanted = {
        "ruleset": "davis", "overrides": {"name": "mine", "deal": {"cards": [16]}}, "seats": [YOU, YOU],
        "pace": {"claim_window_s": 121},
    }  # fmt: skip
    problem = assert_problem(await anna.call("POST", "/v1/games", wanted, idempotency_key="k"), 422, "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == [
        "/overrides/name", "/overrides/deal/cards", "/pace/claim_window_s", "/seats/1",
    ]  # fmt: skip
    assert problem["detail"] == problem["errors"][0]["detail"]
    assert world.log.games == {}


@pytest.mark.parametrize("name", preset_names())
async def test_every_preset_is_opened_as_it_stands(anna: Player, name: str) -> None:
    rules = await anna.sent("GET", f"/v1/rulesets/{name}")
    game = await anna.open_game(ruleset=name, seats=[{"controller": "open"}] * rules["players"]["min"])
    assert game["rules"] == rules


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=ten", "limit"),
        ("after=-1", "after"),
        ("after=1&after=2", "after"),
        ("before=3", "before"),
        ("/a~b=3", "/a~b"),
    ],
)
async def test_a_query_is_read_strictly(world: World, anna: Player, boris: Player, query: str, pointer: str) -> None:
    game_id = await dealt_game(world, anna, boris)
    response = await anna.call("GET", f"/v1/games/{game_id}/events?{query}")
    problem = assert_problem(response, 422, "invalid_request")
    assert [(error["in"], error["pointer"]) for error in problem["errors"]] == [("query", pointer)]


@pytest.mark.parametrize("key", [None, "", '""', "a" * 129, "tab\tkey"])
async def test_a_request_that_makes_something_needs_a_key(anna: Player, key: str | None) -> None:
    headers = {} if key is None else {"idempotency_key": key}
    assert_problem(await anna.call("POST", "/v1/games", DAVIS, **headers), 400, "idempotency_key_required")


async def test_seats_are_taken_once_and_before_the_start(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = (await anna.open_game())["game_id"]
    seats = f"/v1/games/{game_id}/seats"
    assert_problem(await anna.call("PUT", f"{seats}/1"), 409, "seat_taken")
    assert_problem(await boris.call("PUT", f"{seats}/0"), 409, "seat_taken")
    for nothing in ("2", "-1", "one", "1e3", "99999999999"):
        assert_problem(await boris.call("PUT", f"{seats}/{nothing}"), 404, "seat_not_found")
    assert_problem(await boris.call("PUT", f"{seats}/1", {"nonce_commitment": "00"}), 422, "invalid_request")
    problem = assert_problem(
        await anna.call("POST", f"/v1/games/{game_id}/start", idempotency_key="k"), 409, "seats_open"
    )
    assert problem["current_version"] == 3
    await boris.sent("PUT", f"{seats}/1")
    assert_problem(await boris.call("POST", f"/v1/games/{game_id}/start", idempotency_key="k"), 403, "not_your_game")
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    assert_problem(await clara.call("PUT", f"{seats}/1"), 409, "already_started")
    assert_problem(
        await anna.call("POST", f"/v1/games/{game_id}/start", idempotency_key="other"), 409, "already_started"
    )


async def test_a_move_is_refused_for_what_is_wrong_with_it(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    waiting = (await anna.open_game())["game_id"]
    assert_problem(await anna.move(waiting, "draw-7-0", {"kind": "draw_stock"}), 409, "game_not_started")
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    other = boris if player is anna else anna
    decision_id = view["decisions"][0]["decision_id"]

    illegal = assert_problem(
        await player.move(game_id, decision_id, {"kind": "discard", "card": "7H"}), 422, "illegal_move"
    )
    assert illegal["reason"] == "must_draw"
    assert illegal["current_version"] == view["version"]
    old = f"draw-1-{view['you']['seat']}"
    stale = assert_problem(await player.move(game_id, old, {"kind": "draw_stock"}), 409, "decision_closed")
    assert stale["current_version"] == view["version"]
    assert_problem(await other.move(game_id, decision_id, {"kind": "draw_stock"}), 403, "not_your_decision")
    asked = {"decision_id": decision_id, "move": {"kind": "draw_stock"}}
    assert_problem(await other.call("POST", f"/v1/games/{game_id}/moves/validate", asked), 403, "not_your_decision")
    assert_problem(await other.move(game_id, old, {"kind": "draw_stock"}), 403, "not_your_decision")  # open or not
    assert_problem(await clara.move(game_id, decision_id, {"kind": "draw_stock"}), 403, "not_seated")
    assert_problem(await player.move(game_id, decision_id, {"kind": "peek"}), 422, "invalid_request")
    assert_problem(await player.move(game_id, decision_id, {"kind": "draw_stock", "n": 2}), 422, "invalid_request")
    assert (await player.view(game_id))["version"] == view["version"]


async def test_a_card_that_is_not_held_cannot_be_discarded(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await asked(game_id, "play", anna, boris)
    clubs = [f"{rank}C" for rank in "23456789TJQKA"]
    absent = next(card for card in clubs if card not in view["you"]["hand"])
    refused = await player.move(game_id, view["decisions"][0]["decision_id"], {"kind": "discard", "card": absent})
    assert assert_problem(refused, 422, "illegal_move")["reason"] == "card_not_in_hand"


async def test_the_meld_that_is_at_fault_is_named(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await asked(game_id, "play", anna, boris)
    by_rank = {card[0]: card for card in view["you"]["hand"] if card != "JK"}
    meld = {"kind": "set", "cards": [{"card": card} for card in list(by_rank.values())[:3]]}
    refused = await player.move(game_id, view["decisions"][0]["decision_id"], {"kind": "lay_down", "melds": [meld]})
    problem = assert_problem(refused, 422, "illegal_move")
    assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [("/move/melds/0", "set_mixed_ranks")]
    body = {"decision_id": view["decisions"][0]["decision_id"], "move": {"kind": "lay_down", "melds": [meld]}}
    verdict = await player.sent("POST", f"/v1/games/{game_id}/moves/validate", body)
    assert verdict["errors"] == problem["errors"]


async def test_if_match_holds_a_move_back(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    player, view = await in_turn(game_id, anna, boris)
    decision_id, draw = view["decisions"][0]["decision_id"], {"kind": "draw_stock"}
    now, padded = f'"v{view["version"]}"', f'"v0{view["version"]}"'
    for tag in ('"v1"', '"v1", "v2"', "v3", '"nonsense"', f"W/{now}", f'"v1", W/{now}', f"{now}x", padded, ""):
        refused = await player.move(game_id, decision_id, draw, if_match=tag)
        assert assert_problem(refused, 412, "version_mismatch")["current_version"] == view["version"]
    made = await player.move(game_id, decision_id, draw, if_match=f'"v1", {now}', idempotency_key="m")
    assert made.status_code == 201
    again = await player.move(game_id, decision_id, draw, if_match=f'"v1", {now}', idempotency_key="m")
    assert (again.status_code, again.json()) == (201, made.json())


async def test_if_match_holds_a_start_back(anna: Player) -> None:
    game = await anna.open_game(seats=[YOU, {"controller": "bot"}])
    start, now = f"/v1/games/{game['game_id']}/start", f'"v{game["version"]}"'
    for tag in ('"v1"', f"W/{now}"):
        refused = await anna.call("POST", start, idempotency_key="k", if_match=tag)
        assert assert_problem(refused, 412, "version_mismatch")["current_version"] == game["version"]
    assert (await anna.call("POST", start, idempotency_key="k", if_match=now)).status_code == 200


@pytest.mark.parametrize(("given", "is_kept"), [("abc-1.2:3", True), ("a" * 129, False), ("a b", False), ("", False)])
async def test_every_answer_has_a_request_id(anna: Player, given: str, is_kept: bool) -> None:
    for path in ("/health/live", "/nowhere"):
        response = await anna.call("GET", path, x_request_id=given)
        assert (response.headers["x-request-id"] == given) == is_kept
        assert response.headers["x-request-id"]
