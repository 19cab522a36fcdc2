"""Moves over HTTP that must count once, or not at all."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from tests.e2e.client import Client, Json
from tests.stack_watching import eventually

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]

SLOW = {"claim_window_s": 60, "turn_s": 600}


@pytest.fixture
def game_id(anna: Client, boris: Client) -> str:
    """A game of two people, in which one of them is asked to draw."""
    game = anna.open_game("davis", "you", "open", pace=SLOW)
    boris.sent("PUT", f"/v1/games/{game}/seats/1", {})
    anna.sent("POST", f"/v1/games/{game}/start")
    eventually(lambda: anna.view(game)["round"] is not None, within_s=15, what="the first deal")
    return game


def in_turn(game_id: str, *clients: Client) -> tuple[Client, Client, Json]:
    """Gives the client in turn, the other one, and the decision of the first."""
    views = [(client, client.view(game_id)) for client in clients]
    for client, view in views:
        for decision in view["decisions"]:
            if decision["kind"] in ("draw", "play"):
                return client, next(other for other in clients if other is not client), decision
    raise AssertionError(views)


def test_the_same_move_sent_twice_with_one_key_counts_once(anna: Client, boris: Client, game_id: str) -> None:
    player, _, decision = in_turn(game_id, anna, boris)
    first = player.move(game_id, decision, {"kind": "take_discard"}, idempotency_key="take")
    again = player.move(game_id, decision, {"kind": "take_discard"}, idempotency_key="take")
    assert (first.status_code, again.status_code) == (201, 201), [first.text, again.text]
    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(player.view(game_id)["you"]["hand"]) == 12


def test_twenty_times_the_same_move_at_once_counts_once(anna: Client, boris: Client, game_id: str) -> None:
    player, _, decision = in_turn(game_id, anna, boris)
    with ThreadPoolExecutor(20) as pool:
        take = {"kind": "take_discard"}
        answers = list(pool.map(lambda _: player.move(game_id, decision, take, idempotency_key="20"), range(20)))
    assert {answer.status_code for answer in answers} == {201}, [answer.text for answer in answers]
    assert len({answer.text for answer in answers}) == 1
    assert len(player.view(game_id)["you"]["hand"]) == 12


def test_twenty_different_requests_for_one_decision_draw_one_card(anna: Client, boris: Client, game_id: str) -> None:
    player, _, decision = in_turn(game_id, anna, boris)
    with ThreadPoolExecutor(20) as pool:
        take = {"kind": "take_discard"}
        answers = list(pool.map(lambda _: player.move(game_id, decision, take), range(20)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 19, [answer.text for answer in answers]
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"decision_closed"}
    assert len(player.view(game_id)["you"]["hand"]) == 12


def test_a_key_of_another_request_is_refused(anna: Client, boris: Client, game_id: str) -> None:
    player, _, decision = in_turn(game_id, anna, boris)
    player.move(game_id, decision, {"kind": "take_discard"}, idempotency_key="k")
    other = player.move(game_id, decision, {"kind": "draw_stock"}, idempotency_key="k")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_what_is_refused_says_why_and_changes_nothing(anna: Client, boris: Client, game_id: str) -> None:
    player, other, decision = in_turn(game_id, anna, boris)
    path, decision_id = f"/v1/games/{game_id}/moves", decision["decision_id"]
    version = player.view(game_id)["version"]
    key = {"Idempotency-Key": uuid4().hex, "Content-Type": "application/json"}

    def refused(client: Client, content: str, **headers: str) -> tuple[int, str, str | None]:
        answer = client.http.post(path, content=content, headers={**key, **headers})
        assert answer.headers["Content-Type"].startswith("application/problem+json")
        problem = answer.json()
        return problem["status"], problem["code"], problem.get("reason")

    draw = f'{{"decision_id": "{decision_id}", "move": {{"kind": "draw_stock"}}}}'
    assert refused(player, "{") == (400, "malformed_json", None)
    assert refused(player, draw.replace('"move"', '"more": 1, "move"')) == (422, "invalid_request", None)
    assert refused(player, draw.replace("draw_stock", "fly")) == (422, "invalid_request", None)
    assert refused(player, draw.replace(decision_id, f"draw-1-{decision['seat']}")) == (409, "decision_closed", None)
    assert refused(other, draw) == (403, "not_your_decision", None)
    discard = f'{{"decision_id": "{decision_id}", "move": {{"kind": "discard", "card": "7H"}}}}'
    assert refused(player, discard) == (422, "illegal_move", "must_draw")
    with Client(str(player.http.base_url), "Clara") as stranger:
        assert refused(stranger, draw) == (403, "not_seated", None)
    assert player.view(game_id)["version"] == version


def test_a_card_that_is_not_held_cannot_be_discarded(anna: Client, boris: Client, game_id: str) -> None:
    player, _, decision = in_turn(game_id, anna, boris)
    player.move(game_id, decision, {"kind": "take_discard"})
    _, _, decision = in_turn(game_id, anna, boris)
    hand = player.view(game_id)["you"]["hand"]
    missing = next(rank + suit for rank in "23456789TJQKA" for suit in "CDHS" if rank + suit not in hand)
    answer = player.move(game_id, decision, {"kind": "discard", "card": missing, "declare": False, "skip": None})
    assert (answer.status_code, answer.json()["reason"]) == (422, "card_not_in_hand")
