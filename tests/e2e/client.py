"""A client as a stranger would write it: nothing but HTTP, JSON and server-sent events."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from random import Random
from time import monotonic
from typing import Any, Self
from uuid import uuid4

import httpx

from tests.described import check_message, hold_now

Json = dict[str, Any]
Chooser = Callable[[Json], Json]

GAME_OVER: tuple[str, Json] = ("bye", {"reason": "game_over"})


class Client:
    """A guest with a token, and the calls of the core path; its connections are closed where its `with` ends."""

    look_at = staticmethod(hold_now)  # each answer

    def __init__(self, base_url: str, name: str = "Anna") -> None:
        self.http = httpx.Client(base_url=base_url, timeout=30, event_hooks={"response": [self.look_at]})
        with ExitStack() as refused:
            refused.callback(self.http.close)
            guest = self.sent("POST", "/v1/players", {"name": name})
            refused.pop_all()
        self.player_id: str = guest["player_id"]
        self.token: str = guest["token"]
        self.http.headers["Authorization"] = f"Bearer {self.token}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def call(self, method: str, path: str, body: Json | None = None, **headers: str) -> httpx.Response:
        """Sends a request; a header `if_match` is sent as If-Match."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.request(method, path, json=body, headers=named)

    def sent(self, method: str, path: str, body: Json | None = None, **headers: str) -> Json:
        """Sends a request that must succeed, with a key of its own."""
        headers.setdefault("idempotency_key", uuid4().hex)
        response = self.call(method, path, body, **headers)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        answer: Json = response.json()
        return answer

    def open_game(self, ruleset: str, *seats: str, **more: Any) -> str:
        """Opens and starts a game; a seat is `you`, `open`, or a bot's level."""
        plans = [
            {"controller": seat} if seat in ("you", "open") else {"controller": "bot", "level": seat} for seat in seats
        ]
        game = self.sent("POST", "/v1/games", {"ruleset": ruleset, "seats": plans, **more})
        if "open" not in seats:
            self.sent("POST", f"/v1/games/{game['game_id']}/start")
        game_id: str = game["game_id"]
        return game_id

    def view(self, game_id: str) -> Json:
        return self.sent("GET", f"/v1/games/{game_id}/view")

    def move(self, game_id: str, decision: Json, move: Json, **headers: str) -> httpx.Response:
        headers.setdefault("idempotency_key", uuid4().hex)
        body = {"decision_id": decision["decision_id"], "move": move}
        return self.call("POST", f"/v1/games/{game_id}/moves", body, **headers)

    def events(self, game_id: str) -> list[Json]:
        """Reads the whole log, page by page."""
        items: list[Json] = []
        while True:
            after = items[-1]["version"] if items else 0
            page = self.sent("GET", f"/v1/games/{game_id}/events?after={after}&limit=500")
            items += page["items"]
            if page["next_after"] >= page["head_version"]:
                return items

    @contextmanager
    def stream(self, game_id: str, after: int = 0, *, views: bool = False) -> Iterator[Iterator[tuple[str, Json]]]:
        """Opens the game's stream after a version; gives its messages, also those without a number."""
        path = f"/v1/games/{game_id}/stream{'?view=1' if views else ''}"
        headers = {"Last-Event-ID": str(after)}
        with self.http.stream("GET", path, headers=headers, timeout=60) as response:
            assert response.status_code in (200, 204), response.read()
            told_already = response.status_code == httpx.codes.NO_CONTENT
            yield iter([GAME_OVER]) if told_already else messages(response.iter_lines())


def messages(lines: Iterator[str]) -> Iterator[tuple[str, Json]]:
    """Reads server-sent events."""
    kind, data = "message", ""
    for line in lines:
        field, _, value = line.partition(":")
        if field == "event":
            kind = value.strip()
        elif field == "data":
            data += value.strip()
        elif not line:
            if data:
                check_message(kind, json.loads(data))
                yield kind, json.loads(data)
            kind, data = "message", ""


def follow(client: Client, game_id: str, *, views: bool = False, within_s: float = 240) -> Iterator[tuple[str, Json]]:
    """Follows a game to its end whatever happens to the connection; each numbered event comes once, in order."""
    last, deadline = 0, monotonic() + within_s
    while True:
        assert monotonic() < deadline, f"not over at version {last}"
        with suppress(httpx.TransportError), client.stream(game_id, last, views=views) as stream:
            for kind, data in stream:
                assert monotonic() < deadline, f"not over at version {last}"
                if kind == "bye" and data["reason"] == "game_over":
                    return
                if "occurred_at" in data:
                    assert data["version"] == last + 1
                    last = data["version"]
                yield kind, data


def any_option(seed: int) -> Chooser:
    """Chooses any listed option, but lays down whenever it can: a game of nothing but chance takes too long."""
    random = Random(seed)

    def choose(decision: Json) -> Json:
        options = decision["options"]
        best = [option for option in options if option["kind"] in ("lay_down", "lay_off")]
        choice: Json = random.choice(best or options)
        return choice

    return choose
