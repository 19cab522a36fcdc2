"""Players over HTTP on the real engines: what they find in lists, what becomes of their games, and of their names."""

import asyncio
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra.embedded.postgres import database_url
from infra.postgres.database import Database
from infra.postgres.lobby import unprojected
from tests.e2e.client import Client, Json, any_option
from tests.e2e.conftest import Server
from tests.stack_watching import eventually

MOVES = 5


@pytest.fixture
def gone(server: Server) -> Iterator[Client]:
    with Client(server.base_url, "Unvergesslich") as client:
        yield client


def test_an_opened_game_is_in_the_list_at_once_and_a_started_one_is_shown_so(anna: Client, boris: Client) -> None:
    for _ in range(5):
        game_id = anna.open_game("davis", "you", "open", "easy", pace={"turn_s": 3600})
        listed = boris.sent("GET", "/v1/games?status=waiting")["items"]
        assert listed[0]["game_id"] == game_id
        boris.sent("PUT", f"/v1/games/{game_id}/seats/1")
        assert boris.sent("GET", "/v1/games?mine=true")["items"][0]["game_id"] == game_id
        anna.sent("POST", f"/v1/games/{game_id}/start")
        assert boris.sent("GET", "/v1/games?mine=true&status=playing")["items"][0]["game_id"] == game_id


def test_what_a_list_shows_is_not_later_than_a_second(server: Server, anna: Client) -> None:
    """In the middle of several moves: the machine may have been busy with something else just once."""
    game_id = anna.open_game("davis", "you", "easy", "easy", pace={"turn_s": 3600})
    eventually(lambda: asyncio.run(is_projected(server, game_id)), what="the game is shown as it was projected")
    assert statistics.median(late_s(anna, game_id) for _ in range(MOVES)) < 1


async def is_projected(server: Server, game_id: str) -> bool:
    database = Database(database_url((server.data / "run").resolve()), size=1, name="test")
    try:
        return game_id not in await unprojected(database)
    finally:
        await database.close()


def late_s(anna: Client, game_id: str) -> float:
    """Moves once the list is up to date; gives the seconds until it shows so."""

    def listed() -> Json:
        games: list[Json] = anna.sent("GET", "/v1/games?mine=true")["items"]
        return next(game for game in games if game["game_id"] == game_id)

    eventually(lambda: bool(anna.view(game_id)["decisions"]), what="a turn of Anna's")
    view = anna.view(game_id)
    eventually(lambda: listed()["version"] >= view["version"], what="the list is as new as the view")
    [decision, *_] = view["decisions"]
    answer, begun = anna.move(game_id, decision, any_option(7)(decision)), time.monotonic()
    assert answer.is_success, answer.text
    eventually(lambda: listed()["version"] >= answer.json()["version"], what="the list shows the move")
    took_s, shown = time.monotonic() - begun, listed()
    then = anna.sent("GET", f"/v1/games/{game_id}/view?at_version={shown['version']}")  # bots may have gone on
    assert [seat["hand_count"] for seat in shown["seats"]] == [seat["hand_count"] for seat in then["seats"]]
    return took_s


def test_a_forgotten_player_is_found_nowhere_and_the_games_stay_readable(
    server: Server, anna: Client, gone: Client
) -> None:
    game_id = anna.open_game("davis", "you", "open", "easy", pace={"turn_s": 3600})
    gone.sent("PUT", f"/v1/games/{game_id}/seats/1")
    anna.sent("POST", f"/v1/games/{game_id}/start")
    with gone.stream(game_id) as told:
        assert next(told)[0] == "hello"
        assert gone.call("DELETE", "/v1/me").status_code == httpx.codes.NO_CONTENT
        begun = time.monotonic()
        assert list(told)[-1] == ("bye", {"reason": "unauthenticated", "retry_ms": 1000})
        assert time.monotonic() - begun < 10
    assert gone.call("GET", "/v1/me").status_code == httpx.codes.UNAUTHORIZED
    assert anna.call("GET", f"/v1/players/{gone.player_id}").status_code == httpx.codes.NOT_FOUND
    for path in (f"/v1/games/{game_id}", f"/v1/games/{game_id}/view", f"/v1/games/{game_id}/export"):
        text = anna.call("GET", path).text
        assert "Former player" in text
        assert "Unvergesslich" not in text
    assert anna.events(game_id)
    for log in Path(server.data / "logs").iterdir():
        assert "Unvergesslich" not in log.read_text(errors="replace")
