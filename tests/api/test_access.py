"""What is noted of each request, for numbers and log; and who may read the numbers."""

import io
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from api.access import Request, facts, watched
from api.numbers import Notes
from api.requests import MAX_BODY
from infra.settings import read_settings
from infra.watching.lines import RequestLines
from tests.api.problems import assert_problem
from tests.api.scopes import allow
from tests.api.world import Player, World, new_world
from tests.exported import Since
from tests.processes import ENOUGH

NOBODYS_GAME = f"gam_{'0' * 26}"


@pytest.fixture
def noted() -> list[Request]:
    return []


@pytest.fixture
async def anna(world: World, noted: list[Request]) -> AsyncIterator[Player]:
    """Calls an API whose requests are noted."""
    app: Any = watched(world.app, noted.append)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://shanghai") as http:
        yield await Player(http).join("Anna")


async def test_a_request_is_noted_by_its_operation_and_ids(anna: Player, noted: list[Request]) -> None:
    game_id = (await anna.open_game())["game_id"]
    answer = await anna.call("GET", f"/v1/games/{game_id}/view", x_request_id="mine")
    assert answer.status_code == 200
    last = noted[-1]
    assert last.asked == ("GET", "getView", "/v1/games/{game_id}/view")
    assert (last.request_id, last.status, last.problem, last.is_fault) == ("mine", 200, None, False)
    assert (last.game_id, last.player_id) == (game_id, anna.player_id)
    assert last.began < last.answered < last.ended


def line_of(request: Request) -> str:
    """Is what is written of a request."""
    out = io.BytesIO()
    notes = Notes(RequestLines(read_settings(ENOUGH), out))
    notes.take(request)
    notes.close()
    assert request.request_id in out.getvalue().decode()
    return out.getvalue().decode()


@pytest.mark.parametrize(
    ("method", "path", "operation", "problem"),
    [
        ("GET", "/v1/invites/secret-code", "getInvite", "invite_not_found"),
        ("GET", "/v1/games/secret-code/view?token=secret-code", "getView", "invalid_request"),
        ("GET", "/v1/games?cursor=secret-code", "listGames", "invalid_request"),
        ("GET", "/secret-code", "", "not_found"),
        ("SECRET-CODE", "/v1/me", "", "method_not_allowed"),
        ("GET", f"/v1/games/{NOBODYS_GAME}/moves/secret-code", "getMove", "game_not_found"),
    ],
)
async def test_nothing_of_a_path_or_query_is_noted(
    anna: Player, noted: list[Request], method: str, path: str, operation: str, problem: str
) -> None:
    await anna.call(method, path)
    assert (noted[-1].asked[1], noted[-1].problem) == (operation, problem)
    assert "secret-code" not in line_of(noted[-1]).lower()


@pytest.mark.parametrize("given", ["gam_secret", "secret" * 5, "gam_secret-secret-secret-secre"])
async def test_what_has_not_the_form_of_a_games_id_is_not_noted(anna: Player, noted: list[Request], given: str) -> None:
    await anna.call("GET", f"/v1/games/{given}/view")
    assert noted[-1].asked[1] == "getView"
    assert "secret" not in line_of(noted[-1])


async def test_who_has_no_token_is_nobody(anna: Player, noted: list[Request]) -> None:
    assert_problem(await anna.call("GET", "/v1/me", authorization="Bearer secret-token"), 401, "unauthenticated")
    assert noted[-1].player_id is None
    assert "secret" not in line_of(noted[-1])


@pytest.mark.parametrize("came", [0, 5, MAX_BODY + 1])
async def test_a_client_that_leaves_in_the_middle_is_no_fault_of_the_server(
    world: World, noted: list[Request], came: int
) -> None:
    messages = [{"type": "http.disconnect"}, {"type": "http.request", "body": b"a" * came, "more_body": True}]

    async def receive() -> Any:
        return messages.pop()

    async def send(_: object) -> None:
        """Throws away what nobody reads."""

    app: Any = watched(world.app, noted.append)
    await app(joining(), receive, send)
    assert (noted[-1].asked[1], noted[-1].is_fault) == ("createGuest", False)
    assert (noted[-1].status, noted[-1].problem) == (400, "bad_request")


def joining() -> dict[str, Any]:
    """Is how a server tells an application of a request for a new guest, before its body."""
    headers = [(b"host", b"x"), (b"content-type", b"application/json"), (b"transfer-encoding", b"chunked")]
    return {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "POST",
        "scheme": "http", "path": "/v1/players", "raw_path": b"/v1/players", "query_string": b"", "root_path": "",
        "headers": headers, "client": ("127.0.0.1", 1), "server": ("x", 80), "state": {}, "extensions": {},
    }  # fmt: skip


async def test_outside_of_a_request_there_are_no_facts() -> None:
    assert facts() == {}


async def test_requests_and_problems_are_counted() -> None:
    since, world, notes = Since(), new_world(), Notes()
    app: Any = watched(world.app, notes.take)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://shanghai") as http:
        await http.get("/v1/rulesets")
        await http.get("/v1/rulesets/purple")
        for path in ("/a", "/b", "/c"):
            await http.get(path)
    notes.close()
    assert since("shanghai_request_seconds_count", operation="listRulesets", status="2xx") == 1
    assert since("shanghai_request_seconds_count", operation="getRuleset", status="4xx") == 1
    assert since("shanghai_request_seconds_count", operation="none", status="4xx") == 3
    assert since("shanghai_problems_total", code="not_found") == 3


async def test_numbers_are_an_operators(world: World, anna: Player) -> None:
    assert_problem(await anna.call("GET", "/metrics"), 403, "insufficient_scope")
    assert_problem(await anna.call("GET", "/metrics", authorization=""), 401, "unauthenticated")
    await allow(world, anna, ("operate",))
    assert (await anna.call("GET", "/metrics")).status_code == 200
