"""Requests that are written oddly: each has one reading, or is refused; none is a fault of the server."""

import json
from collections.abc import AsyncIterator

import pytest

from api.messages import is_stream
from api.operation import Operation
from api.operations import OPERATIONS
from tests.api.raw import raw_client
from tests.api.scopes import allow
from tests.api.world import Player, World, dealt_game, serving

HOST, ANNA = "Host: x", b'{"name":"Anna"}'
POST = "POST /v1/players HTTP/1.1", HOST, "Content-Type: application/json"
CHUNKED = (*POST, "Transfer-Encoding: chunked")
HEADS: list[tuple[tuple[str | bytes, ...], bytes, int, str | None]] = [
    # a path
    (("GET / HTTP/1.1", HOST), b"", 200, None),
    (("GET /?x HTTP/1.1", HOST), b"", 422, "invalid_request"),
    (("GET /v1/meta/ HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /v1/meta/?x HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /docs HTTP/1.1", HOST), b"", 200, None),
    (("GET /docs/ HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /health/live HTTP/1.1", HOST), b"", 200, None),
    (("GET //v1/meta HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /v1//meta HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET ///// HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /v1%2Fmeta HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /v1/rulesets/davis%2f HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /v1/meta%00 HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /v1/rulesets/%00 HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /v1/rulesets/%ff%fe HTTP/1.1", HOST), b"", 404, "ruleset_not_found"),
    (("GET /v1/rulesets/%c0%af HTTP/1.1", HOST), b"", 404, "ruleset_not_found"),
    (("GET /v1/rulesets/%ed%a0%80 HTTP/1.1", HOST), b"", 404, "ruleset_not_found"),
    (("GET /v1/meta%0d%0aX-A:%20b HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET /v1\\meta HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET * HTTP/1.1", HOST), b"", 404, "not_found"),
    (("GET v1/meta HTTP/1.1", HOST), b"", 400, None),
    ((b"GET /v1/rulesets/\xff HTTP/1.1", HOST), b"", 400, None),
    # the absolute form: proxies write it, and what stands before the path is the proxy's own affair
    (("GET http://x/v1/meta HTTP/1.1", HOST), b"", 200, None),
    (("GET http://elsewhere.example/v1/meta HTTP/1.1", HOST), b"", 200, None),
    (("GET http://x HTTP/1.1", HOST), b"", 400, None),
    # headers
    (("GET /v1/meta HTTP/1.0",), b"", 200, None),
    (("GET /v1/meta HTTP/1.1",), b"", 400, None),
    (("GET /v1/meta HTTP/1.1", HOST, "Host: y"), b"", 400, None),
    (("GET /v1/meta HTTP/1.1", "Host: a b"), b"", 400, "bad_request"),
    (("GET /v1/meta",), b"", 400, None),
    (("GET /v1/meta HTTP/1.1", HOST, "X-A: b\r\n folded"), b"", 400, None),
    (("GET /v1/meta HTTP/1.1", HOST, "X-A: b\r\n\tfolded"), b"", 400, None),
    (("GET /v1/meta HTTP/1.1", HOST, "X-A: b\rX-B: c"), b"", 400, None),
    (("GET /v1/meta HTTP/1.1", HOST, "X A: b"), b"", 400, None),
    (("GET /v1/meta HTTP/1.1", HOST, b"X-A: \xe4\xff"), b"", 200, None),
    (("GET /v1/me HTTP/1.1", HOST, b"Authorization: Bearer \xe4\xff"), b"", 401, "unauthenticated"),
    (("GET /v1/meta HTTP/1.1", HOST, "Upgrade: websocket", "Connection: Upgrade"), b"", 200, None),
    # a method
    (("get /v1/meta HTTP/1.1", HOST), b"", 400, None),
    (("BREW /v1/meta HTTP/1.1", HOST), b"", 400, None),
    (("TRACE /v1/meta HTTP/1.1", HOST), b"", 405, "method_not_allowed"),
    # a body
    ((*POST, "Content-Length: 15", "Transfer-Encoding: chunked"), ANNA, 400, None),
    ((*POST, "Content-Length: 15", "Content-Length: 15"), ANNA, 400, None),
    ((*POST, "Content-Type: text/plain", "Content-Length: 15"), ANNA, 400, "bad_request"),
    ((*POST, "Content-Length: 70000"), b"a" * 70_000, 413, "payload_too_large"),
    (CHUNKED, b"FFFFFFFFFFFFFFFFF\r\n" + ANNA, 400, None),
    (CHUNKED, b"FFFFFF\r\n" + b"a" * 70_000, 413, "payload_too_large"),
    (CHUNKED, b"-1\r\n" + ANNA, 400, None),
    (CHUNKED, b"f\r\n" + ANNA + b"xx0\r\n\r\n", 400, None),
]  # fmt: skip


@pytest.fixture
async def base_url(world: World) -> AsyncIterator[str]:
    async with serving(world) as (_, url):
        yield url


@pytest.mark.parametrize(("head", "body", "status", "code"), HEADS, ids=range(len(HEADS)))
async def test_an_odd_request_has_one_reading_or_none(
    base_url: str, head: tuple[str | bytes, ...], body: bytes, status: int, code: str | None
) -> None:
    async with raw_client(base_url) as client:
        client.send(*head, body=body)
        got, answer = await client.answer()
        assert (got, b"Traceback" in answer) == (status, False)
        assert code is None or json.loads(answer)["code"] == code
        if got == 400 and code is None:  # nobody knows where the next request would begin
            assert await client.is_closed()


READ = [each for each in OPERATIONS if each.method == "GET" and not is_stream(each.types.shown)]


@pytest.mark.parametrize("operation", READ, ids=[each.id for each in READ])
@pytest.mark.parametrize("is_there", [True, False])
async def test_a_head_is_told_what_a_get_would_be(
    world: World, anna: Player, boris: Player, operation: Operation, is_there: bool
) -> None:
    is_of_game = is_there and "{game_id}" in operation.path
    game_id = await dealt_game(world, anna, boris) if is_of_game else "gam_" + "0" * 26
    await allow(world, anna, ("play", "watch", "operate"))
    parts = {"game_id": game_id, "player_id": boris.player_id, "name": "davis", "round": "1"}
    path = operation.path
    for name in ("webhook_id", "ticket_id", "move_id", "code", "delivery_id"):
        parts.setdefault(name, f"{name}-nobody-has")
    for name, value in parts.items():
        path = path.replace(f"{{{name}}}", value if is_there else f"{value[:-1]}1")
    got, head = await anna.call("GET", path), await anna.call("HEAD", path)
    assert head.status_code == got.status_code
    assert head.content == b""
    for name in ("content-type", "etag", "cache-control", "content-disposition"):
        assert head.headers.get(name) == got.headers.get(name)
