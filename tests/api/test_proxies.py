"""Whose request it is: a proxy is believed only where the operator trusts it, and only about the nearest stranger."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from api.proxies import ForwardedBy, behind
from api.server import Server
from tests.api.problems import assert_problem
from tests.api.world import AMPLE, new_world

TRUSTED = "10.0.0.0/8, 2001:db8:ffff::/48, unix"
PROXY = ("10.0.0.1", 4711)
ANNA, BORIS = "203.0.113.7", "198.51.100.9"
Lines = Sequence[tuple[bytes, bytes]]


async def seen(
    client: tuple[str, int] | None, *lines: tuple[str, str], header: ForwardedBy = "x-forwarded-for", of: str = TRUSTED
) -> tuple[Any, str]:
    """Gives whose request it is taken for, and the scheme."""
    told: list[Any] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        told.append(scope)

    headers = [(name.encode(), value.encode("latin-1")) for name, value in lines]
    scope = {"type": "http", "client": client, "scheme": "http", "headers": headers}
    await behind(application, of, header)(scope, None, None)
    return told[0]["client"] and told[0]["client"][0], told[0]["scheme"]


def via(*hops: str) -> tuple[str, str]:
    return "x-forwarded-for", ", ".join(hops)


@pytest.mark.parametrize(
    ("client", "lines", "address"),
    [
        (PROXY, [], "10.0.0.1"),
        (PROXY, [via(ANNA)], ANNA),
        (PROXY, [via(ANNA, BORIS)], BORIS),  # Boris said that he is Anna
        (PROXY, [via(ANNA), via(BORIS)], BORIS),
        (PROXY, [via(ANNA, BORIS, "10.0.0.2", "10.9.9.9")], BORIS),
        (PROXY, [via(*["10.0.0.2"] * 2_000)], "10.0.0.2"),
        (PROXY, [via(f"{ANNA}:4711")], ANNA),
        (PROXY, [via("2001:db8:1::7")], "2001:db8:1::7"),
        (PROXY, [via("[2001:db8:1::7]:443", "2001:db8:ffff::2")], "2001:db8:1::7"),
        (PROXY, [via(f"::ffff:{ANNA}")], ANNA),
        (("::ffff:10.0.0.1", 1), [via(ANNA)], ANNA),
        (PROXY, [via("unknown")], "10.0.0.1"),
        (PROXY, [via(ANNA, "unknown", "10.0.0.2")], "10.0.0.2"),
        (PROXY, [via("fe80::1%eth0")], "10.0.0.1"),
        (PROXY, [via("")], "10.0.0.1"),
        (PROXY, [via("٢٠٣.0.113.7".encode().decode("latin-1"))], "10.0.0.1"),
        (PROXY, [("forwarded", f"for={ANNA}")], "10.0.0.1"),  # the proxies do not write this one
        ((ANNA, 1), [via(BORIS)], ANNA),  # nobody believes Anna
        (("2001:db8::1", 1), [via(BORIS)], "2001:db8::1"),
        (None, [via(ANNA)], ANNA),
        (None, [], None),
    ],
)
async def test_the_client_is_the_last_one_that_no_trusted_proxy_is(
    client: tuple[str, int] | None, lines: list[tuple[str, str]], address: str | None
) -> None:
    assert (await seen(client, *lines))[0] == address


@pytest.mark.parametrize(
    ("value", "address", "scheme"),
    [
        (f"for={ANNA};proto=https;by=10.0.0.1", ANNA, "https"),
        (f'For="{ANNA}:4711"; Proto=HTTPS', ANNA, "https"),
        ('for="[2001:db8:1::7]:443"', "2001:db8:1::7", "http"),
        (f"for={ANNA}, for={BORIS};proto=https, for=10.0.0.2", BORIS, "http"),
        ("for=_hidden;proto=gopher", "10.0.0.1", "http"),
        ("garbage; = ;;", "10.0.0.1", "http"),
    ],
)
async def test_proxies_may_write_the_standard_header_instead(value: str, address: str, scheme: str) -> None:
    lines = ("forwarded", value), via("192.0.2.66")
    assert await seen(PROXY, *lines, header="forwarded") == (address, scheme)


async def test_a_unix_socket_is_trusted_only_where_it_is_named() -> None:
    assert (await seen(None, via(ANNA), of="10.0.0.0/8"))[0] is None
    assert (await seen(("", 0), via(ANNA), of="unix"))[0] == ANNA


@pytest.mark.parametrize(("client", "scheme"), [(PROXY, "https"), ((ANNA, 1), "http")])
async def test_the_scheme_is_what_the_nearest_trusted_proxy_says(client: tuple[str, int], scheme: str) -> None:
    assert (await seen(client, via(ANNA), ("x-forwarded-proto", "http, https")))[1] == scheme


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_limits_count_the_client_and_not_the_proxy(is_trusted: bool) -> None:
    world = new_world(quotas=replace(AMPLE, guests_per_minute=1))
    app = behind(world.app, "127.0.0.0/8" if is_trusted else "10.0.0.0/8")
    server = Server(app, "127.0.0.1", 0, world.house.streams.drain)
    serving = asyncio.create_task(server.serve())
    await asyncio.wait_for(server.is_up.wait(), 10)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
        answers = [
            await http.post("/v1/players", json={"name": "Anna"}, headers={"x-forwarded-for": f"192.0.2.1, {address}"})
            for address in (ANNA, BORIS, BORIS)
        ]
    server.stop()
    await serving
    assert [answer.status_code for answer in answers] == ([201, 201, 429] if is_trusted else [201, 429, 429])
    assert answers[0].headers["location"] == "/v1/me"
    assert assert_problem(answers[2], 429, "rate_limited")["type"] == "/v1/problems#rate_limited"
