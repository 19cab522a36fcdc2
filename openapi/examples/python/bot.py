"""A bot: opens a game with three bots of the server, and plays it to the end by choosing among the options.

python bot.py http://127.0.0.1:8000 [ruleset]
"""

import random
import sys
import time
from typing import Any

import httpx
from stream import follow

Json = dict[str, Any]

PREFERRED = ("lay_down", "lay_off", "swap_wild")  # whatever brings cards to the table goes before all else
PACE = {"claim_window_s": 1, "turn_s": 30}


def main(url: str, ruleset: str = "davis") -> None:
    """Plays one game."""
    with httpx.Client(base_url=url, timeout=10) as http:
        guest = send(http, "POST", "/v1/players", {"name": "Example bot"})
        http.headers["Authorization"] = f"Bearer {guest['token']}"
        bots = [{"controller": "bot", "level": level} for level in ("normal", "easy", "normal")]
        wanted = {"ruleset": ruleset, "seats": [{"controller": "you"}, *bots], "pace": PACE}
        game_id = send(http, "POST", "/v1/games", wanted, key="open")["game_id"]
        send(http, "POST", f"/v1/games/{game_id}/start", key="start")
        play(http, game_id)
        view = send(http, "GET", f"/v1/games/{game_id}/view")
        for seat, score in zip(view["seats"], view["result"]["totals"], strict=True):
            print(f"{score:4}  {seat['name']}{'  won' if seat['seat'] in view['result']['winners'] else ''}")


def play(http: httpx.Client, game_id: str) -> None:
    """Answers whatever is asked until the game is over."""
    answered: set[str] = set()
    for kind, data in follow(http, game_id, view=True):
        for decision in data["decisions"] if kind == "view" else ():
            if decision["decision_id"] not in answered:
                answered.add(decision["decision_id"])
                answer(http, game_id, decision)


def answer(http: httpx.Client, game_id: str, decision: Json) -> None:
    """Sends one of the options. The question may have been closed meanwhile, for example by the clock."""
    body = {"decision_id": decision["decision_id"], "move": choose(decision["options"])}
    try:
        send(http, "POST", f"/v1/games/{game_id}/moves", body, key=decision["decision_id"])
    except Refused as refused:
        if refused.code not in ("decision_closed", "game_finished"):
            raise


def choose(options: list[Json]) -> Json:
    """Here a better bot begins."""
    return random.choice([option for option in options if option["kind"] in PREFERRED] or options)


class Refused(Exception):
    """What the server refuses for good; `code` says why."""

    def __init__(self, problem: Json) -> None:
        super().__init__(f"{problem['code']}: {problem['detail']}")
        self.code: str = problem["code"]


def send(http: httpx.Client, method: str, path: str, body: Json | None = None, key: str = "") -> Json:
    """Sends a request until it is answered; with a key it is carried out once, however often it is sent."""
    while True:
        wait_s = 0.5
        try:
            response = http.request(method, path, json=body, headers={"Idempotency-Key": key} if key else {})
            if response.is_success:
                answered: Json = response.json()
                return answered
            if response.status_code not in (429, 503):
                raise Refused(response.json())
            wait_s = float(response.headers.get("Retry-After", wait_s))
        except httpx.TransportError:
            pass  # no answer: nobody knows whether it arrived, so it is sent again
        time.sleep(wait_s)


if __name__ == "__main__":
    main(*sys.argv[1:])
