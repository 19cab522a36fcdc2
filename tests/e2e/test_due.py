"""What is due happens in time, on the whole server: windows close when they should."""

import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime

import pytest

from tests.e2e.client import Client, Json
from tests.e2e.conftest import Server

WINDOWS = 5
LATE_S = 0.3  # how late the table may close a window, in the middle of several

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]


@pytest.fixture
def table(server: Server) -> Iterator[list[Client]]:
    with ExitStack() as clients:
        yield [clients.enter_context(Client(server.base_url, name)) for name in ("Anna", "Boris", "Clara")]


def test_a_window_that_nobody_answers_is_closed_in_time(table: list[Client]) -> None:
    game_id = table[0].open_game("davis", "you", "open", "open", pace={"claim_window_s": 1, "turn_s": 60})
    for seat, client in enumerate(table[1:], start=1):
        client.sent("PUT", f"/v1/games/{game_id}/seats/{seat}")
    table[0].sent("POST", f"/v1/games/{game_id}/start")
    deadlines = [let_window_end(table, game_id) for _ in range(WINDOWS)]
    closed = [event for event in table[0].events(game_id) if event["kind"] == "claims_closed"]
    assert [event["actor"] for event in closed] == ["timer"] * WINDOWS
    late = [moment(event["occurred_at"]) - deadline for event, deadline in zip(closed, deadlines, strict=True)]
    assert min(late) >= 0
    assert statistics.median(late) <= LATE_S


def let_window_end(table: list[Client], game_id: str) -> float:
    """Draws for whoever is in turn, waits until the claims are closed, and discards; gives the window's deadline."""
    player, draw = asked(table, game_id, "draw")
    others = [client for client in table if client is not player]
    _, claim = asked(others, game_id, "claim")
    drawn = player.move(game_id, draw, {"kind": "draw_stock"})
    assert drawn.is_success, drawn.text
    player, play = asked(table, game_id, "play")
    discarded = player.move(game_id, play, next(o for o in play["options"] if o["kind"] == "discard"))
    assert discarded.is_success, discarded.text
    return moment(claim["deadline_at"])


def asked(those: list[Client], game_id: str, kind: str) -> tuple[Client, Json]:
    """Waits until one of them is asked a question of this kind."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for client in those:
            for decision in client.view(game_id)["decisions"]:
                if decision["kind"] == kind:
                    return client, decision
        time.sleep(0.02)
    raise AssertionError(f"nobody is asked to {kind}")


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
