"""The examples in openapi/examples play whole games against the server's bots, over a connection that is cut again and
again: they resume their stream and repeat their moves as a stranger's client would.
"""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.e2e.client import Client
from tests.e2e.conftest import Server
from tests.e2e.cut_way import cut_way

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "openapi" / "examples"
TYPESCRIPT = ROOT / "clients" / "typescript"


def test_the_python_bot_plays_a_whole_game_over_a_connection_that_is_cut(server: Server) -> None:
    played_over_a_cut_way(server, sys.executable, str(EXAMPLES / "python" / "bot.py"))


def test_the_python_stream_gives_every_version_once_and_in_order(
    server: Server, anna: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES / "python"))
    follow = importlib.import_module("stream").follow
    game_id = anna.open_game("davis", "normal", "easy", "normal")
    with (
        cut_way(server.base_url, seed=5, least=20_000, most=200_000) as way,
        httpx.Client(base_url=way.url, headers=anna.http.headers) as http,
    ):
        told: list[int] = []
        for _, data in follow(http, game_id):
            if "occurred_at" in data:
                told.append(data["version"])
                assert told[-1] == len(told)
    assert way.cuts >= 2
    assert told[-1] == anna.view(game_id)["version"]


@pytest.mark.node
def test_the_typescript_bot_plays_a_whole_game_over_a_connection_that_is_cut(server: Server) -> None:
    played_over_a_cut_way(server, "node", str(TYPESCRIPT / "built" / "bot.js"))


@pytest.mark.node
@pytest.mark.parametrize("ruleset", ["ten-phases", "liverpool", "black-twos"])
def test_the_typescript_bot_plays_at_other_tables(server: Server, ruleset: str) -> None:
    says_how_it_went("node", str(TYPESCRIPT / "built" / "bot.js"), server.base_url, ruleset)


@pytest.mark.node
@pytest.mark.parametrize("tool", ["lint", "lint-streams"])
def test_strangers_tools_find_nothing_in_the_documents(tool: str) -> None:
    found = subprocess.run(
        ["npm", "run", "--silent", tool], cwd=TYPESCRIPT, capture_output=True, text=True, timeout=120, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert " warn" not in found.stdout


@pytest.mark.parametrize("example", ["python/bot.py", "typescript/bot.ts"])
def test_a_bot_takes_less_than_a_hundred_lines(example: str) -> None:
    assert len((EXAMPLES / example).read_text().splitlines()) < 100


def played_over_a_cut_way(server: Server, *bot: str) -> None:
    with cut_way(server.base_url, seed=3, least=20_000, most=300_000) as way:
        says_how_it_went(*bot, way.url)
    assert way.cuts >= 3


def says_how_it_went(*command: str) -> None:
    """Runs a bot to the end of its game; it says everybody's score and who won."""
    played = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert played.returncode == 0, played.stderr
    assert len(re.findall(r"^ *\d+  ", played.stdout, re.MULTILINE)) == 4
    assert "  won" in played.stdout
