"""Trying moves, hints, and looking back: what is told must be what happened, and nothing that was hidden."""

import json
from hashlib import sha256
from random import Random
from typing import Any

import pytest

from tests.api.world import Json, Player, World, dealt_game

BOTS = [{"controller": "bot", "level": "normal"}] * 3


async def opened(player: Player, seats: list[Json], **more: Any) -> str:
    game = await player.sent("POST", "/v1/games", {"ruleset": "davis", "seats": seats, **more})
    await player.sent("POST", f"/v1/games/{game['game_id']}/start")
    game_id: str = game["game_id"]
    return game_id


@pytest.fixture
async def finished(world: World, anna: Player) -> str:
    game_id = await opened(anna, BOTS)
    await world.tend(game_id)
    assert (await anna.sent("GET", f"/v1/games/{game_id}"))["status"] == "finished"
    return game_id


@pytest.fixture
async def played(world: World, anna: Player) -> str:
    """A game in which Anna, on seat 0, is asked something."""
    game_id = await opened(anna, [{"controller": "you"}, *BOTS])
    await world.tend(game_id)
    return game_id


async def asked(world: World, player: Player, game_id: str) -> Json:
    await world.tend(game_id)
    view = await player.sent("GET", f"/v1/games/{game_id}/view")
    decision: Json = view["decisions"][0]
    return decision


def cards_from_stock(event: Json) -> list[str]:
    """Lists what a seat has got from the stock: a card in its turn, or a buyer's penalty."""
    data = event["data"]
    is_drawn = event["kind"] == "card_drawn" and data["source"] == "stock"
    return [data["card"]] if is_drawn else data.get("penalty_cards", [])


async def test_a_move_can_be_tried_and_nothing_happens(world: World, anna: Player, played: str) -> None:
    decision = await asked(world, anna, played)
    before = await anna.sent("GET", f"/v1/games/{played}/view")
    for option in decision["options"]:
        verdict = await anna.sent(
            "POST", f"/v1/games/{played}/moves/validate", {"decision_id": decision["decision_id"], "move": option}
        )
        assert verdict == {"legal": True, "code": None, "reason": None, "detail": None, "readings": [], "errors": []}
    for move, why in [
        ({"kind": "swap_wild", "meld_id": "m1", "wild": "JK", "as": "7H", "card": "7H"}, "illegal_move"),
        ({"kind": "discard", "card": "ZZ"}, "illegal_move"),
    ]:
        body = {"decision_id": decision["decision_id"], "move": move}
        verdict = await anna.sent("POST", f"/v1/games/{played}/moves/validate", body)
        refused = await anna.call("POST", f"/v1/games/{played}/moves", body, idempotency_key=anna.new_key())
        assert refused.status_code in (409, 422)
        told = refused.json()
        assert (verdict["legal"], verdict["code"], verdict["reason"], verdict["detail"]) == (
            False, told["code"], told["reason"], told["detail"],
        )  # fmt: skip
        assert verdict["code"] in (why, "not_your_turn")
    assert await anna.sent("GET", f"/v1/games/{played}/view") == before


async def test_a_stale_or_strange_decision_is_told_as_with_a_move(anna: Player, boris: Player, played: str) -> None:
    stale = {"decision_id": "draw-2-0", "move": {"kind": "draw_stock"}}
    verdict = await anna.sent("POST", f"/v1/games/{played}/moves/validate", stale)
    assert (verdict["legal"], verdict["code"]) == (False, "decision_closed")
    theirs = {"decision_id": "draw-2-1", "move": {"kind": "draw_stock"}}
    answer = await anna.call("POST", f"/v1/games/{played}/moves/validate", theirs)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_your_decision")
    answer = await boris.call("POST", f"/v1/games/{played}/moves/validate", stale)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_seated")


async def test_a_hint_is_one_of_the_options_and_can_be_forbidden(
    world: World, anna: Player, boris: Player, played: str
) -> None:
    decision = await asked(world, anna, played)
    hints = await anna.sent("GET", f"/v1/games/{played}/hint")
    assert [hint["decision_id"] for hint in hints["items"]] == [decision["decision_id"]]
    assert hints["items"][0]["move"] in decision["options"]
    assert (await boris.call("GET", f"/v1/games/{played}/hint")).json()["code"] == "not_seated"
    strict = await opened(anna, [{"controller": "you"}, *BOTS], hints=False)
    answer = await anna.call("GET", f"/v1/games/{strict}/hint")
    assert (answer.status_code, answer.json()["code"]) == (403, "hints_forbidden")


async def test_the_table_can_be_seen_as_it_was(world: World, anna: Player, boris: Player, played: str) -> None:
    seen: dict[int, dict[str, Json]] = {}
    for _ in range(6):
        decision = await asked(world, anna, played)
        for name, player in (("anna", anna), ("boris", boris)):
            view = await player.sent("GET", f"/v1/games/{played}/view")
            seen.setdefault(view["version"], {})[name] = view
        hint = await anna.sent("GET", f"/v1/games/{played}/hint")
        move = {"decision_id": decision["decision_id"], "move": hint["items"][0]["move"]}
        await anna.sent("POST", f"/v1/games/{played}/moves", move)
    assert len(seen) > 3
    for version, views in seen.items():
        for name, player in (("anna", anna), ("boris", boris)):
            answer = await player.call("GET", f"/v1/games/{played}/view?at_version={version}")
            assert answer.json() == views[name]
            assert answer.headers["etag"] == f'"v{version}"'
    beyond = await anna.call("GET", f"/v1/games/{played}/view?at_version=100000")
    assert (beyond.status_code, beyond.json()["errors"][0]["code"]) == (422, "beyond_head")
    assert beyond.json()["current_version"] == (await anna.view(played))["version"]


async def test_what_a_move_led_to_is_told_again_to_its_seat_alone(
    world: World, anna: Player, boris: Player, played: str
) -> None:
    decision = await asked(world, anna, played)
    move = {"decision_id": decision["decision_id"], "move": decision["options"][0]}
    made = await anna.sent("POST", f"/v1/games/{played}/moves", move)
    assert await anna.sent("GET", f"/v1/games/{played}/moves/{made['move_id']}") == made
    assert (await boris.call("GET", f"/v1/games/{played}/moves/{made['move_id']}")).json()["code"] == "not_seated"
    for unknown in ("mov_" + "0" * 26, "x"):
        answer = await anna.call("GET", f"/v1/games/{played}/moves/{unknown}")
        assert (answer.status_code, answer.json()["code"]) == (404, "move_not_found")


async def test_rounds_and_scores_add_up(anna: Player, boris: Player, finished: str) -> None:
    events = (await boris.sent("GET", f"/v1/games/{finished}/events?limit=500"))["items"]
    rounds = (await boris.sent("GET", f"/v1/games/{finished}/rounds"))["items"]
    scores = await boris.sent("GET", f"/v1/games/{finished}/scores")
    assert [each["number"] for each in rounds] == list(range(1, 8))
    assert all(rounds[place]["first_version"] > rounds[place - 1]["last_version"] for place in range(1, 7))
    scored = [event["data"] for event in events if event["kind"] == "round_scored"]
    assert [each["points"] for each in rounds][: len(scored)] == [data["points"] for data in scored]
    assert scores["totals"] == [sum(points) for points in zip(*(each["points"] for each in rounds), strict=True)]
    assert scores["totals"] == scores["result"]["totals"] == rounds[-1]["totals"]
    assert scores["rounds"] == [{key: each[key] for key in ("number", "points", "totals")} for each in rounds]
    for each in rounds:
        assert (each["went_out"] is None) == (each["ended"] != "out")


async def test_the_replay_is_open_and_waits_for_the_end(
    anna: Player, boris: Player, finished: str, played: str
) -> None:
    answer = await anna.call("GET", f"/v1/games/{played}/replay")
    assert (answer.status_code, answer.json()["code"]) == (409, "game_not_finished")
    events: list[Json] = []
    while True:
        page = await boris.sent("GET", f"/v1/games/{finished}/replay?after={len(events)}&limit=500")
        events += page["items"]
        if len(events) == page["head_version"]:
            break
    assert [event["version"] for event in events] == list(range(1, len(events) + 1))
    for event in events:
        match event["kind"]:
            case "card_drawn":
                assert event["data"]["card"]
            case "passed":
                assert event["seat"] is not None
                assert "rest_of_round" in event["data"]
            case "round_dealt":
                dealt = event["data"]
                assert [len(hand) for hand in dealt["hands"]] == dealt["hand_counts"]
                assert len(dealt["stock"]) == dealt["stock_count"]
    first_deal = next(event["data"] for event in events if event["kind"] == "round_dealt")
    assert first_deal["stock"][0] == next(card for event in events for card in cards_from_stock(event))


async def test_the_luck_of_a_round_can_be_checked(world: World, anna: Player, finished: str, played: str) -> None:
    secrets = []
    commitment = (await anna.sent("GET", f"/v1/games/{finished}/events?limit=1"))["items"][0]["data"]["commitment"]
    for number in range(1, 8):
        proof = await anna.sent("GET", f"/v1/games/{finished}/rounds/{number}/fairness")
        assert sha256(bytes.fromhex(proof["secret"])).hexdigest() == proof["commitment"] == commitment
        assert proof["is_checked"]
        assert proof["findings"] == []
        commitment = proof["secret"]
        secrets.append(proof["secret"])
    assert len(set(secrets)) == 7
    running = await anna.sent("GET", f"/v1/games/{played}/rounds/1/fairness")
    assert (running["secret"], running["is_checked"]) == (None, False)
    for unknown in ("0", "2", "x", "9999"):
        answer = await anna.call("GET", f"/v1/games/{played}/rounds/{unknown}/fairness")
        assert (answer.status_code, answer.json()["code"]) == (404, "round_not_found")


async def test_looking_back_tells_no_hand_of_a_running_round(world: World, anna: Player, played: str) -> None:
    game = (await world.house.tables.fresh(played)).game
    assert game.round is not None
    for path in ("rounds", "scores", "rounds/1/fairness", "hint"):
        told = json.dumps(await anna.sent("GET", f"/v1/games/{played}/{path}"))
        assert game.round.secret not in told
        for seat in game.seats[1:]:
            assert json.dumps(seat.hand)[1:-1] not in told


async def test_rulesets_can_be_tried_without_a_game(stranger: Player) -> None:
    body = {"ruleset": "davis", "overrides": {"ace": "both"}}
    rules = (await stranger.call("POST", "/v1/rulesets/validate", body)).json()
    assert (rules["ace"], rules["name"]) == ("both", "davis")
    body = {"ruleset": "davis", "overrides": {"ace": "sideways", "contracts": []}}
    answer = await stranger.call("POST", "/v1/rulesets/validate", body)
    assert answer.status_code == 422
    assert all(error["pointer"].startswith("/overrides/") for error in answer.json()["errors"])
    answer = await stranger.call("POST", "/v1/rulesets/validate", {"ruleset": "bridge"})
    assert answer.json()["errors"][0]["code"] == "unknown_ruleset"


@pytest.mark.parametrize("preset", ["davis", "jokers"])
async def test_every_move_is_told_again_as_it_was_answered(
    world: World, anna: Player, boris: Player, clara: Player, preset: str
) -> None:
    random, seated = Random(preset), [anna, boris, clara]
    game_id = await dealt_game(world, *seated, ruleset=preset)
    wanted = {"take_discard", "pass", "discard"}
    kinds: set[str] = set()
    for step in range(400):  # the deal is another one each time: some need more moves until all kinds have come
        if step >= 40 and wanted <= kinds:
            break
        await world.tend(game_id)
        for player in seated:
            for decision in (await player.view(game_id))["decisions"][:1]:
                options = [move for move in decision["options"] if not move.get("rest_of_round")]
                rare = [move for move in options if move["kind"] in ("take_discard", "call_shanghai", "pass")]
                move = random.choice(rare if rare and random.random() < 0.5 else options)
                made = (await player.move(game_id, decision["decision_id"], move)).json()
                kinds.add(move["kind"])
                for other in seated:
                    answer = await other.call("GET", f"/v1/games/{game_id}/moves/{made['move_id']}")
                    assert answer.status_code == (200 if other is player else 404)
                    assert other is not player or answer.json() == made
    assert wanted <= kinds
