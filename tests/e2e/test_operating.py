"""What an operator does to a running `shanghai up` by its folder."""

import subprocess
import sys

import pytest

from tests.e2e.client import Client
from tests.e2e.conftest import Server

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]


def test_the_lists_are_made_anew_while_they_serve(server: Server, anna: Client) -> None:
    game_id = anna.open_game("davis", "you", "open")
    command = [sys.executable, "-m", "infra.cli", "projector", "--rebuild", "--data", str(server.data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert not done.returncode, done.stderr
    assert "the read models are made anew" in done.stderr
    listed = anna.sent("GET", "/v1/games?mine=true")["items"]
    assert [game["game_id"] for game in listed] == [game_id]
