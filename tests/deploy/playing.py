"""A person and bots play a whole game over HTTP, whatever stands behind the address."""

import time

import httpx

from tests.e2e.client import Client, Json, any_option, follow
from tests.e2e.test_whole_games import assert_finished


def play_a_game(url: str) -> None:
    """Plays one, and checks how it ended."""
    with Client(url, "Anna") as anna:
        game_id = anna.open_game("davis", "you", "normal", "easy", pace={"claim_window_s": 1, "turn_s": 60})
        assert play(anna, game_id, seed=7)
        assert_finished(anna, game_id, seat=0)


def play(client: Client, game_id: str, seed: int) -> list[str]:
    """Answers every decision to the game's end; gives the ids of the moves that were accepted."""
    choose, answered, accepted = any_option(seed), set[str](), list[str]()
    for kind, data in follow(client, game_id, views=True, within_s=1_200):  # the machine is busy meanwhile
        for decision in data["decisions"] if kind == "view" else ():
            if decision["decision_id"] not in answered:
                answered.add(decision["decision_id"])
                response = _sent(client, game_id, decision, choose(decision))
                if response.status_code == httpx.codes.CREATED:
                    accepted.append(response.json()["move_id"])
                else:
                    assert response.json().get("code") == "decision_closed", response.text
                break
    return accepted


def _sent(client: Client, game_id: str, decision: Json, move: Json) -> httpx.Response:
    """Sends a move, again where it came too fast, as the guide for client writers tells to."""
    while (response := client.move(game_id, decision, move)).status_code == httpx.codes.TOO_MANY_REQUESTS:
        time.sleep(float(response.headers["retry-after"]))
    return response
