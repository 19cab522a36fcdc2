"""Bounds: every number that /v1/meta tells is the last one that is taken."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import httpx
import pytest

from tests.api.world import DAVIS, Json, Player

Request: TypeAlias = tuple[str, str, Any]
"""Method, path and body."""


def game(change: Callable[[int], Json]) -> Callable[[int], Request]:
    """Opens a game in which the number changes something."""
    return lambda number: ("POST", "/v1/games", DAVIS | change(number))


def rules(change: Callable[[int], Json]) -> Callable[[int], Request]:
    """Validates a ruleset in which the number changes something."""
    return lambda number: ("POST", "/v1/rulesets/validate", {"ruleset": "davis", "overrides": change(number)})


def token(change: Callable[[int], Json]) -> Callable[[int], Request]:
    return lambda number: ("POST", "/v1/me/tokens", {"scopes": ["watch"]} | change(number))


def webhook(wanted: Callable[[int], Json]) -> Callable[[int], Request]:
    return lambda number: ("POST", "/v1/me/webhooks", wanted(number))


def page(path: str) -> Callable[[int], Request]:
    return lambda number: ("GET", f"{path}?limit={number}", None)


SET = {"kind": "set", "size": 3}
HTTPS = "https://bots.example/"
LONG = {"claim_window_s": 0, "turn_s": 3600}

MANY_CARDS = {"deal": {"cards": [15]}, "deck": {"sizes": {f"{players}": {"packs": 5} for players in range(2, 6)}}}

BOUNDS: dict[str, Callable[[int], Request]] = {
    "packs": rules(lambda packs: {"deck": {"sizes": {"4": {"packs": packs}}}}),
    "cards_dealt": rules(lambda cards: MANY_CARDS | {"deal": {"cards": [cards]}}),
    "contracts": rules(lambda contracts: {"contracts": [[SET]] * contracts}),
    "melds_in_contract": rules(lambda melds: MANY_CARDS | {"contracts": [[SET] * melds]}),
    "claim_window_s": game(lambda number: {"pace": {"claim_window_s": number}}),
    "correspondence_claim_window_s": game(lambda number: {"pace": LONG | {"claim_window_s": number}}),
    "turn_s": game(lambda number: {"pace": {"turn_s": number}}),
    "bot_delay_ms": game(lambda number: {"pace": {"bot_delay_ms": number}}),
    "spectator_delay_s": game(lambda number: {"spectators": "delayed", "spectator_delay_s": number}),
    "bots_after_s": lambda number: ("POST", "/v1/matchmaking/tickets", {"ruleset": "davis", "bots_after_s": number}),
    "games_in_page": page("/v1/games"),
    "players_in_page": page("/v1/leaderboards/davis"),
    "token_s": token(lambda number: {"valid_s": number}),
    "token_label_characters": token(lambda number: {"label": "x" * number}),
    "webhook_url_characters": webhook(lambda number: {"url": HTTPS + "x" * (number - len(HTTPS))}),
    "webhook_description_characters": webhook(lambda number: {"url": HTTPS, "description": "x" * number}),
    "name_characters": lambda number: ("PATCH", "/v1/me", {"name": "x" * number}),
}
"""A request for each bound, with a number."""


@pytest.mark.parametrize("bound", BOUNDS)
async def test_the_last_number_is_taken_and_the_next_is_not(anna: Player, bound: str) -> None:
    told = (await anna.sent("GET", "/v1/meta"))["bounds"][bound]
    first, last = told if isinstance(told, list) else (None, told)
    assert (await send(anna, BOUNDS[bound](last), "last")).is_success
    beyond = await send(anna, BOUNDS[bound](last + 1), "beyond")
    assert (beyond.status_code, beyond.json()["code"]) == (422, "invalid_request")
    if first is not None:
        assert (await send(anna, BOUNDS[bound](first), "first")).is_success
        assert (await send(anna, BOUNDS[bound](first - 1), "below")).status_code == 422


async def send(player: Player, request: Request, key: str) -> httpx.Response:
    method, path, body = request
    answer = await player.call(method, path, body, idempotency_key=key)
    if path == "/v1/matchmaking/tickets" and answer.is_success:
        await player.call("DELETE", f"{path}/{answer.json()['ticket_id']}")
    return answer


async def test_a_deck_has_so_many_jokers_and_wilds(anna: Player) -> None:
    last = (await anna.sent("GET", "/v1/meta"))["bounds"]["wilds_in_deck"]
    for jokers, is_taken in ((last, True), (last + 1, False)):
        overrides = {"deck": {"sizes": {"4": {"packs": 3, "jokers": jokers}}, "wilds": ["JK"]}}
        answer = await anna.call("POST", "/v1/rulesets/validate", {"ruleset": "davis", "overrides": overrides})
        assert answer.is_success is is_taken, answer.text


async def test_a_body_is_so_large_and_so_deep(anna: Player) -> None:
    bounds = (await anna.sent("GET", "/v1/meta"))["bounds"]
    for missing, status in ((0, 422), (-1, 413)):  # the name is too long, or nobody has looked at it
        body = json.dumps({"name": ""}).encode()
        body = body[:-2] + b"x" * (bounds["body_bytes"] - len(body) - missing) + b'"}'
        assert (await anna.call("PATCH", "/v1/me", body)).status_code == status
    for more, code in ((0, "unknown_field"), (1, "too_deep")):
        nested: Any = 1
        for _ in range(bounds["body_depth"] - 1 + more):
            nested = {"x": nested}
        answer = await anna.call("PATCH", "/v1/me", {"name": "Anna", "nested": nested})
        assert answer.json()["errors"][0]["code"] == code
    key = "k" * bounds["idempotency_key_characters"]
    assert (await anna.call("POST", "/v1/games", DAVIS, idempotency_key=key)).status_code == 201
    assert (await anna.call("POST", "/v1/games", DAVIS, idempotency_key=key + "k")).status_code == 400


async def test_a_page_of_deliveries_is_so_long(anna: Player) -> None:
    last = (await anna.sent("GET", "/v1/meta"))["bounds"]["deliveries_in_page"]
    made = await anna.sent("POST", "/v1/me/webhooks", {"url": HTTPS})
    path = f"/v1/me/webhooks/{made['webhook']['webhook_id']}/deliveries"
    assert [(await send(anna, page(path)(limit), "")).status_code for limit in (last, last + 1)] == [200, 422]
