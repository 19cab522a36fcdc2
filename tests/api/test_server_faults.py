"""What is the server's own fault is said so, tells nothing else, and changes nothing."""

import logging

import pytest

from services.ports import Overloaded, Unavailable
from tests.api.problems import assert_problem
from tests.api.world import Player, World


class Unreachable(Unavailable):
    """As an adapter may say it more exactly."""


async def test_a_database_that_is_away_is_said_so(world: World, anna: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_: object) -> None:
        raise Unreachable

    game_id = (await anna.open_game())["game_id"]
    monkeypatch.setattr(world.log, "heads", away)
    response = await anna.call("GET", f"/v1/games/{game_id}")
    assert_problem(response, 503, "unavailable")
    assert response.headers["retry-after"] == "1"


async def test_a_full_queue_before_the_log_is_said_so(
    world: World, anna: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise Overloaded

    game = await anna.open_game(seats=[{"controller": "you"}, {"controller": "bot", "level": "easy"}])
    monkeypatch.setattr(world.log, "append", full)
    response = await anna.call("POST", f"/v1/games/{game['game_id']}/start", idempotency_key="k")
    assert_problem(response, 503, "overloaded")
    assert response.headers["retry-after"] == "1"
    monkeypatch.undo()
    response = await anna.call("POST", f"/v1/games/{game['game_id']}/start", idempotency_key="k")
    assert (response.status_code, response.headers.get("idempotency-replayed")) == (200, None)


async def test_a_fault_of_the_server_tells_nothing_and_is_logged_with_its_id(
    world: World, anna: Player, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("the king of hearts")

    monkeypatch.setattr(world.house.lobby, "page", broken)
    with caplog.at_level(logging.ERROR):
        response = await anna.call("GET", "/v1/games", x_request_id="req-7")
    problem = assert_problem(response, 500, "internal_error")
    assert problem["request_id"] == "req-7"
    assert "hearts" not in response.text
    assert "req-7" in caplog.text
    assert anna.http.headers["authorization"].removeprefix("Bearer ") not in caplog.text
