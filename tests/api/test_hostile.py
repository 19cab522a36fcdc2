"""Clients that mean harm or are broken: each is refused clearly or cut off in time, and everybody else is served."""

import json
from collections.abc import AsyncIterator

import pytest

from api import connections, requests
from api.server import Server
from tests.api.listening import guests
from tests.api.problems import assert_problem
from tests.api.raw import GET, RawClient, assert_others_are_served, raw_client, token_of
from tests.api.world import DAVIS, Player, World, serving, until

POST = "POST /v1/players HTTP/1.1", "Host: x", "Content-Type: application/json"
ANNA = b'{"name":"Anna"}'


@pytest.fixture
async def server(world: World, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Server, str]]:
    """Is a real server that is less patient than usual, and its URL."""
    monkeypatch.setattr(requests, "BODY_S", 0.2)
    monkeypatch.setattr(connections, "REQUEST_S", 0.5)
    monkeypatch.setattr(connections, "UNREAD_S", 0.5)
    async with serving(world, send_buffer=16_384) as served:
        yield served


@pytest.fixture
def base_url(server: tuple[Server, str]) -> str:
    return server[1]


@pytest.fixture
async def client(base_url: str) -> AsyncIterator[RawClient]:
    async with raw_client(base_url) as raw:
        yield raw


@pytest.fixture
async def anna(base_url: str) -> AsyncIterator[Player]:
    async with guests(base_url, "Anna") as [anna]:
        yield anna


def code(body: bytes) -> str:
    problem: dict[str, str] = json.loads(body)
    return problem["code"]


@pytest.mark.parametrize(
    "framing",
    [
        ("Content-Length: 15", "Content-Length: 15"),
        ("Content-Length: 15", "Content-Length: 16"),
        ("Content-Length: 15", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 15"),
        ("Transfer-Encoding: chunked, identity", ""),
        ("Transfer-Encoding: xchunked", ""),
        ("Content-Length: -1", ""),
        ("Content-Length: +15", ""),
        ("Content-Length: 0xF", ""),
        ("Content-Length: 99999999999999999999", ""),
        ("Transfer-Encoding : chunked", ""),
        ("X-Name: Anna\rContent-Length: 15", ""),
        ("X-Na\x00me: Anna", ""),
        ("X-Name: An\x00na", ""),
        (": empty", ""),
    ],
)
async def test_a_request_with_two_readings_is_refused_and_ends_the_connection(
    world: World, client: RawClient, framing: tuple[str, str]
) -> None:
    smuggled = b"GET /v1/meta HTTP/1.1\r\nHost: x\r\n\r\n"
    client.send(*POST, *filter(None, framing), body=b"0\r\n\r\n" + smuggled)
    assert (await client.answer())[0] == 400
    assert await client.is_closed()
    assert world.accounts.players == {}


@pytest.mark.parametrize(
    "lines",
    [
        ("GET /v1/meta HTTP/1.1", "Host: x", "X-Large: " + "a" * 40_000),
        ("GET /v1/meta HTTP/1.1", "Host: x", *(f"X-{n}: {'a' * 100}" for n in range(400))),
        (f"GET /v1/games/{'a' * 40_000} HTTP/1.1", "Host: x"),
        ("GET /v1/games/\xe4 HTTP/1.1".encode("latin-1"), "Host: x"),
        ("GARBAGE",),
        ("GET http:// HTTP/1.1", "Host: x"),
        ("CONNECT example.org:443 HTTP/1.1", "Host: x"),
        ("GET /v1/meta HTTP/3.7", "Host: x"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",),  # speaks TLS
    ],
    ids=range(9),
)
async def test_what_is_no_request_ends_the_connection(
    base_url: str, client: RawClient, lines: tuple[str | bytes, ...]
) -> None:
    client.send(*lines)
    assert (await client.answer())[0] in (400, 404)
    client.writer.write_eof()
    assert await client.is_closed()
    await assert_others_are_served(base_url)


async def test_a_head_without_end_is_cut_off_by_its_size(client: RawClient) -> None:
    client.writer.write(b"GET /v1/meta HTTP/1.1\r\nHost: x\r\nX-Large: ")
    for _ in range(1_000):
        client.writer.write(b"a" * 10_000)
        if client.writer.is_closing():
            break
    assert (await client.answer())[0] in (0, 400)
    assert await client.is_closed()


@pytest.mark.parametrize(
    "begin",
    [b"", b"\r\n", b"GET /v1/meta HT", b"GET /v1/meta HTTP/1.1\r\nHost: x\r\n", b"GET /v1/meta HTTP/1.1\r\n\r\n\r\n"],
)
async def test_a_request_that_does_not_end_is_cut_off_in_time(base_url: str, client: RawClient, begin: bytes) -> None:
    client.writer.write(begin)
    assert await client.is_closed()
    await assert_others_are_served(base_url)


@pytest.mark.parametrize("framing", ["Content-Length: 15", "Transfer-Encoding: chunked"])
async def test_a_body_that_does_not_come_is_not_waited_for(
    world: World, client: RawClient, framing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_S", 20.0)  # which cuts off without an answer
    client.send(*POST, framing, body=b"7\r\n" if "chunked" in framing else ANNA[:-1])
    status, body = await client.answer()
    assert (status, code(body)) == (408, "request_timeout")
    assert await client.is_closed()
    assert world.accounts.players == {}


@pytest.mark.parametrize("framing", ["Content-Length: 70000", "Transfer-Encoding: chunked"])
async def test_a_body_beyond_the_bound_is_not_read(
    client: RawClient, framing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chunks have no end: what comes of them is thrown away for a while, which is less than a request may take."""
    monkeypatch.setattr(requests, "THROWN_AWAY_S", 0.1)
    monkeypatch.setattr(connections, "REQUEST_S", 20.0)
    large = b'{"name":"'.ljust(70_000, b"a")
    client.send(*POST, framing, body=b"%x\r\n%b\r\n" % (len(large), large) if "chunked" in framing else large)
    status, body = await client.answer()
    assert (status, code(body)) == (413, "payload_too_large")
    assert await client.is_closed()


@pytest.mark.parametrize(
    "twice", ["Authorization: Bearer shg_x", "Content-Type: application/json", "Idempotency-Key: k"]
)
async def test_a_header_that_is_given_twice_is_refused(anna: Player, client: RawClient, twice: str) -> None:
    body = json.dumps(DAVIS).encode()
    client.send(
        "POST /v1/games HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", "Content-Type: application/json",
        token_of(anna), "Idempotency-Key: k", twice, body=body,
    )  # fmt: skip
    status, answer = await client.answer()
    assert (status, code(answer)) == (400, "bad_request")
    assert (await anna.sent("GET", "/v1/games"))["items"] == []


async def test_a_list_in_several_headers_is_one_list(anna: Player, client: RawClient) -> None:
    game = await anna.open_game()
    client.send(
        f"GET /v1/games/{game['game_id']} HTTP/1.1", "Host: x", token_of(anna),
        'If-None-Match: "v1"', f'If-None-Match: "v{game["version"]}"',
    )  # fmt: skip
    assert await client.answer() == (304, b"")


async def test_requests_that_come_together_are_answered_in_order(client: RawClient) -> None:
    client.send(*GET, body=b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/bots HTTP/1.1\r\nHost: x\r\n\r\n")
    answers = [await client.answer() for _ in range(3)]
    assert [status for status, _ in answers] == [200, 404, 200]
    assert json.loads(answers[2][1])["items"]


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_client_that_takes_no_answer_is_let_go(
    world: World, server: tuple[Server, str], anna: Player, is_stream: bool
) -> None:
    held, base_url = server[0].server_state.connections, server[1]
    game_id = (await anna.open_game())["game_id"]
    async with raw_client(base_url, takes=4_096) as deaf:
        deaf.writer.transport.pause_reading()  # type: ignore[attr-defined]
        deaf.send(f"GET /v1/games/{game_id}/stream HTTP/1.1" if is_stream else GET[0], "Host: x", token_of(anna))
        await until(lambda: len(held) == 2 and world.house.streams.count == int(is_stream))
        for _ in range(50 if is_stream else 200):
            if is_stream:
                await anna.sent("PUT", f"/v1/games/{game_id}/seats/1/bot")
                await anna.call("DELETE", f"/v1/games/{game_id}/seats/1/bot")
            else:
                deaf.send(*GET)
        await assert_others_are_served(base_url)
        await anna.http.aclose()
        await until(lambda: not held, 10)
    assert world.house.streams.count == 0


@pytest.mark.parametrize(
    "path",
    [
        "/v1/../v1/me/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/v1/games/%00",
        "/v1/games/gam_%00/view",
        "/v1/invites/%00",
        "/v1/rulesets/%00%ff",
        "/v1/rulesets/..%2f..%2fpyproject",
        "/v1/games/" + "a" * 8_000,
        "/v1/games/gam_%F0%9F%98%80",
        "/v1/players/ply_%D9%A0" + "0" * 25,
        "/v1/games/{game_id}",
        "/v1/games/%7Bgame_id%7D/seats/%D9%A1",
        "/v1/games?ruleset=%00&cursor=%00",
        "/v1/games?cursor=%ff%fe",
        "/v1/games?mine=1&mine=0",
        "/docs/../v1/meta",
    ],
    ids=range(16),
)
async def test_a_strange_path_leads_nowhere(base_url: str, anna: Player, path: str) -> None:
    async with raw_client(base_url) as client:
        for method in ("GET", "POST", "DELETE", "OPTIONS", "HEAD"):
            token = token_of(anna)
            client.send(f"{method} {path} HTTP/1.1", "Host: x", token, "Idempotency-Key: k", "Content-Length: 0")
            if method == "HEAD":
                client.writer.write_eof()
                assert (await client.reader.read(-1)).startswith(b"HTTP/1.1 4")
            else:
                status, body = await client.answer()
                assert status in (204, 400, 404, 405, 415, 422), body
                assert status == 204 or json.loads(body)["status"] == status


async def test_a_zero_in_a_path_or_query_never_reaches_a_database(anna: Player) -> None:
    for path in ("/v1/invites/%00", "/v1/games/gam_%00/view", "/v1/leaderboards/a%00"):
        assert_problem(await anna.call("GET", path), 404, "not_found")
    refused = assert_problem(await anna.call("GET", "/v1/games?ruleset=%00"), 422, "invalid_request")
    assert [error["pointer"] for error in refused["errors"]] == ["ruleset"]


async def test_the_head_of_a_stream_is_not_a_stream(world: World, anna: Player, client: RawClient) -> None:
    game_id = (await anna.open_game())["game_id"]
    token = token_of(anna)
    client.send(f"HEAD /v1/games/{game_id}/stream HTTP/1.1", "Host: x", token)
    assert await client.answer() == (200, b"")
    client.send(*GET)
    assert (await client.answer())[0] == 200
    assert world.house.streams.count == 0
