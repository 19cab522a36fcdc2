"""Tokens on the real engines: the operator's first one, and what becomes of one that is revoked somewhere else."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra.embedded.postgres import database_url
from infra.postgres.accounts import PostgresAccounts
from infra.postgres.database import Database
from tests.e2e.client import Client
from tests.e2e.conftest import Server

ROOT = Path(__file__).parents[2]


@pytest.fixture
def device(server: Server) -> Iterator[Client]:
    with Client(server.base_url, "Device") as client:
        yield client


def shanghai_token(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "infra.cli", "token", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=30, check=False)


def test_the_first_token_of_an_operator_comes_from_the_command_line(server: Server, anna: Client) -> None:
    made = shanghai_token("--scope", "operate", "--scope", "watch", "--name", "Olga", "--data", str(server.data))
    assert made.returncode == 0, made.stderr
    [token] = made.stdout.split()
    me = httpx.get(f"{server.base_url}/v1/me", headers={"authorization": f"Bearer {token}"})
    assert (me.json()["name"], me.json()["scopes"]) == ("Olga", ["watch", "operate"])
    assert me.headers["ratelimit-policy"].startswith('"reads";q=20000;')
    assert anna.call("POST", "/v1/me/tokens", {"scopes": ["operate"]}).status_code == httpx.codes.FORBIDDEN


def test_a_server_that_does_not_run_is_one_line(tmp_path: Path) -> None:
    made = shanghai_token("--scope", "operate", "--data", str(tmp_path))
    assert (made.returncode, made.stdout) == (1, "")
    assert made.stderr == f"shanghai: no `shanghai up` runs on {tmp_path}\n"


def test_a_token_that_is_revoked_elsewhere_ends_within_five_seconds(
    server: Server, anna: Client, device: Client
) -> None:
    made = anna.sent("POST", "/v1/me/tokens", {"scopes": ["watch"]})
    game_id = anna.open_game("davis", "you", "open", pace={"turn_s": 3600})
    device.http.headers["authorization"] = f"Bearer {made['token']}"
    with anna.stream(game_id) as own, device.stream(game_id) as told:
        assert next(own)[0] == next(told)[0] == "hello"
        assert asyncio.run(revoked(server, anna.player_id, made["token_id"]))
        begun = time.monotonic()
        assert list(told)[-1] == ("bye", {"reason": "unauthenticated", "retry_ms": 1000})
        assert time.monotonic() - begun < 10  # a busy machine is given as long again
        assert device.call("GET", "/v1/me").status_code == httpx.codes.UNAUTHORIZED
        assert next(own)[0] == "game_opened"


async def revoked(server: Server, player_id: str, token_id: str) -> bool:
    """Revokes a token as another process does."""
    database = Database(database_url((server.data / "run").resolve()), size=1, name="test")
    try:
        return bool(await PostgresAccounts(database).revoke(player_id, token_id))
    finally:
        await database.close()
