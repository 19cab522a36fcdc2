"""Webhooks on the whole server: a bot that is told, and asks for nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread

import pytest
from standardwebhooks.webhooks import Webhook

from tests.described import shape_faults
from tests.e2e.client import Client, Json, any_option

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]

ANSWERS = 40
SCHEMAS = {"decision.opened": "DecisionsMessage", "webhook.ping": "PingMessage"}


class Inbox:
    """A player's own server: what it has received, in order, with its headers."""

    def __init__(self) -> None:
        self.messages: Queue[tuple[dict[str, str], str]] = Queue()
        inbox = self.messages

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                inbox.put((dict(self.headers.items()), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/shanghai"

    def next(self, secret: str) -> Json:
        """Waits for a message, verifies it and holds it against the document."""
        headers, body = self.messages.get(timeout=30)
        message: Json = Webhook(secret).verify(body, headers)
        assert message == json.loads(body)
        schema = SCHEMAS.get(message["type"], "EventMessage")
        assert shape_faults(message, {"$ref": f"#/components/schemas/{schema}"}) == []
        return message


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    inbox = Inbox()
    with _served(inbox.server):
        yield inbox


@contextmanager
def _served(server: ThreadingHTTPServer) -> Iterator[None]:
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_bot_plays_by_what_it_is_told_until_it_leaves(anna: Client, inbox: Inbox) -> None:
    """Every event arrives once and in order, and every move is an option of a question that has arrived."""
    secret = anna.sent("POST", "/v1/me/webhooks", {"url": inbox.url})["secret"]
    game_id = anna.open_game("davis", "you", "easy", pace={"claim_window_s": 1})
    told: list[Json] = []
    shown: list[Json] = []
    arrived = 0
    choose, answered = any_option(1), 0
    while not told or told[-1].get("data", {}).get("reason") != "abandoned":
        message = inbox.next(secret)
        if message["type"] == "decision.opened":
            if answered == ANSWERS:
                continue  # it was asked before she left
            assert message["data"]["game_id"] == game_id
            [decision, *_] = message["data"]["decisions"]
            moved = anna.move(game_id, decision, choose(decision), idempotency_key=decision["decision_id"])
            assert moved.status_code == 201, moved.text
            answered += 1
            if answered == ANSWERS:
                shown, arrived = anna.events(game_id), len(told)  # by now as her seat sees them
                anna.sent("POST", f"/v1/games/{game_id}/seats/0/abandon")
        else:
            told.append(message["data"])
    assert [event["version"] for event in told] == list(range(1, len(told) + 1))
    assert told[:arrived] == shown[:arrived]
    assert arrived > ANSWERS
    assert inbox.messages.empty()


def test_a_ping_arrives_and_is_listed(anna: Client, inbox: Inbox) -> None:
    made = anna.sent("POST", "/v1/me/webhooks", {"url": inbox.url, "types": ["game.game_finished"]})
    path = f"/v1/me/webhooks/{made['webhook']['webhook_id']}"
    anna.sent("POST", f"{path}/test")
    assert inbox.next(made["secret"])["type"] == "webhook.ping"
