"""What leaves by the back doors while people play: logs at their loudest, numbers, jobs, webhooks, what Redis is sent.

What leaves by the front doors is held in tests/api/test_leaks.py, where two games that look alike are answered alike.
"""

import asyncio
import codecs
import json
import re
import secrets
import socket
import threading
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from queue import Empty

import httpx
import pytest

from domain.luck import CHAIN_LENGTH, link
from infra.embedded.data_folder import secret_key
from infra.embedded.postgres import database_url
from infra.postgres.database import Database
from infra.postgres.secrets import PostgresSecrets
from tests.e2e.client import Client, Json, any_option
from tests.e2e.test_webhooks import Inbox, inbox
from tests.stack_watching import up

__all__ = ["inbox"]

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]

ROUNDS = 2
CARD = re.compile(rb"(?<![\w/.:+-])(?:10|[2-9TJQKA])[HDCS](?![\w/.:+-])|\bJK\b")


@contextmanager
def everything_said_to_redis(redis_socket: Path) -> Iterator[bytearray]:
    """Collects every command that Redis is sent, as raw bytes."""
    said = bytearray()
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(redis_socket))
        line.sendall(b"MONITOR\r\n")

        def listen() -> None:
            while chunk := line.recv(1 << 20):
                said.extend(chunk)

        listener = threading.Thread(target=listen)
        listener.start()
        try:
            yield said
        finally:
            line.shutdown(socket.SHUT_RDWR)
            listener.join()
    said[:] = codecs.escape_decode(bytes(said))[0]


def forms(secret: bytes) -> Iterator[bytes]:
    """Spells a secret in every way in which it might be written."""
    yield from (secret, secret.hex().encode(), secret.hex().upper().encode(), repr(secret)[2:-1].encode())
    yield from (b64encode(secret).rstrip(b"="), urlsafe_b64encode(secret).rstrip(b"="))


def found(kept: Iterable[bytes], where: bytes) -> list[bytes]:
    return [form for secret in kept for form in forms(secret) if form in where]


def jobs(said: bytes) -> list[bytes]:
    """Finds what the broker was given: the arguments of each job."""
    return [b64decode(body) for body in re.findall(rb'"body": ?"([A-Za-z0-9+/=]+)"', said)]


def without_statements(logs: bytes) -> bytes:
    """Leaves out the texts of Postgres's statements: they say AS, and never a value."""
    return re.sub(rb"STATEMENT:.*(?:\n\t.*)*", b"", logs)


def numbers(data: Path) -> bytes:
    """Reads what every process exports."""
    [*targets] = json.loads((data / "metrics.json").read_text())
    pages = [
        httpx.get(f"http://{address}/metrics").raise_for_status() for each in targets for address in each["targets"]
    ]
    return b"".join(page.content for page in pages)


def received(inbox: Inbox) -> list[Json]:
    """Takes the events that were sent by webhook until now."""
    messages: list[Json] = []
    try:
        while True:
            messages.append(json.loads(inbox.messages.get_nowait()[1]))
    except Empty:
        return [message["data"] for message in messages if message["type"] != "decision.opened"]


async def seeds(data: Path, games: Iterable[str]) -> list[bytes]:
    database = Database(database_url((data / "run").resolve()), size=1, name="test")
    kept = PostgresSecrets(database, bytes.fromhex(secret_key(data)))
    try:
        return [await kept.seed(game_id) for game_id in games]
    finally:
        await database.close()


def test_no_card_seed_or_token_leaves_by_a_back_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inbox: Inbox
) -> None:
    monkeypatch.setenv("SHANGHAI_LOG_LEVEL", "debug")
    monkeypatch.setenv("SHANGHAI_WEBHOOK_TARGETS", "any")
    data = tmp_path / "data"
    with (
        up(data) as (_, base_url),
        everything_said_to_redis(data / "run" / "redis.sock") as said,
        Client(base_url, "Anna") as anna,
        Client(base_url, "Boris") as boris,
        Client(base_url, "Clara") as stranger,
    ):
        hidden = [person.token for person in (anna, boris, stranger)]
        hidden.append(anna.sent("POST", "/v1/me/tokens", {"scopes": ["watch"]})["token"])
        hook = secrets.token_hex(8)
        hidden += [hook, anna.sent("POST", "/v1/me/webhooks", {"url": f"{inbox.url}/{hook}"})["secret"]]
        nonces = [secrets.token_hex(16), secrets.token_hex(16)]
        first, *others = (sha256(bytes.fromhex(nonce)).hexdigest() for nonce in nonces)
        seats = [{"controller": "you", "nonce_commitment": first}, {"controller": "open"}, {"controller": "bot"}]
        game_id = anna.sent("POST", "/v1/games", {"ruleset": "davis", "seats": seats})["game_id"]
        hidden.append(anna.sent("POST", f"/v1/games/{game_id}/invites", {})["code"])
        boris.sent("PUT", f"/v1/games/{game_id}/seats/1", {"nonce_commitment": others[0]})
        anna.sent("POST", f"/v1/games/{game_id}/start")
        for seat, person in enumerate((anna, boris)):
            person.sent("POST", f"/v1/games/{game_id}/seats/{seat}/nonce", {"nonce": nonces[seat]})
        play([anna, boris], stranger, game_id)
        front = b"".join(
            person.call("GET", f"/v1/games/{game_id}/{what}").content
            for person in (anna, boris, stranger)
            for what in ("view", "events?limit=500", "export", "fairness", "replay", "rounds", "hint")
        )
        told = {event["version"]: event for event in anna.events(game_id)}
        sent = received(inbox)
        exported = numbers(data)
        [seed] = asyncio.run(seeds(data, [game_id]))
    tokens = [token.encode() for token in hidden]
    of_later_rounds = [link(seed, number) for number in range(ROUNDS + 1, CHAIN_LENGTH + 1)]
    raw = bytes(said)
    logs = b"".join(log.read_bytes() for log in (data / "logs").iterdir())
    for door, where in (("answers", front), ("redis", raw), ("logs", logs), ("hooks", repr(sent).encode())):
        assert found([*of_later_rounds, bytes.fromhex(secret_key(data))], where) == [], door
    tasks = b"\n".join(jobs(raw))
    assert game_id.encode() in tasks
    assert len(sent) > 20
    assert [event for event in sent if event != told[event["version"]]] == []
    assert b"shanghai_moves_total" in exported
    for door, where in (("jobs", tasks), ("logs", without_statements(logs)), ("numbers", exported)):
        assert found([link(seed, number) for number in range(1, ROUNDS + 1)], where) == [], door
        assert CARD.findall(where) == [], door
        assert [nonce for nonce in nonces if nonce.encode() in where] == [], door
    for door, where in (("redis", raw), ("logs", logs), ("jobs", tasks), ("numbers", exported)):
        assert [token for token in tokens if token in where] == [], door
        assert all(part not in where for token in tokens for part in [b64encode(token).rstrip(b"=")]), door


def play(people: list[Client], stranger: Client, game_id: str) -> None:
    """Plays until a later round has begun; wrong moves and strangers' questions come in between."""
    choose, path = any_option(5), f"/v1/games/{game_id}"
    while True:
        for person in people:
            view = person.view(game_id)
            if (view["round"] or {"number": 0})["number"] > ROUNDS - 1 and view["round"]["phase"] == "draw":
                return
            for decision in view["decisions"][:1]:
                person.call("POST", f"{path}/moves", {"decision_id": "x", "move": {"kind": "discard", "card": "KC"}})
                person.call("GET", f"{path}/hint")
                stranger.move(game_id, decision, decision["options"][0])
                person.call(
                    "POST",
                    f"{path}/moves/validate",
                    {"decision_id": decision["decision_id"], "move": {"kind": "discard", "card": "KC"}},
                )
                person.move(game_id, decision, choose(decision))
        stranger.call("GET", f"{path}/view?token=nothing")
