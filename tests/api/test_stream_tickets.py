"""Stream tickets: one stream, for one viewer, over one connection at a time, and known to nobody afterwards."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import httpx
import pytest

from services.stream_tickets import TICKETS_AT_MOST
from tests.api.listening import MINE, Message, guests, messages, told_last
from tests.api.problems import assert_problem
from tests.api.world import Clock, Json, Player, World, dealt_game, players, serving, until, with_token


async def ticket(player: Player, game_id: str | None = None, **wishes: Any) -> Json:
    return await player.sent("POST", "/v1/stream-tickets", {**({"game_id": game_id} if game_id else {}), **wishes})


@pytest.fixture
def clock(world: World) -> Clock:
    """Is the clock of everything."""
    world.accounts.now = world.log.now = clock = Clock()
    return clock


def browser(base_url: str) -> httpx.AsyncClient:
    """Sends no headers of its own."""
    return httpx.AsyncClient(base_url=base_url, timeout=20)


async def opened(http: httpx.AsyncClient, url: str, last_id: str = "") -> AsyncGenerator[Message, None]:
    async with aclosing(messages(http, url, **({"last-event-id": last_id} if last_id else {}))) as stream:
        async for message in stream:
            yield message


async def test_a_ticket_opens_what_its_player_sees_without_a_header(world: World) -> None:
    async with (
        serving(world) as (_, base_url),
        browser(base_url) as page,
        guests(base_url, "Anna", "Boris") as (anna, boris),
    ):
        game_id = await dealt_game(world, anna, boris)
        head = (await anna.view(game_id))["version"]
        with_view = await ticket(anna, game_id, view=True)
        async with aclosing(opened(page, with_view["url"])) as stream:
            told = [await anext(stream) for _ in range(head + 2)]
        assert (told[0][0], told[-1][0]) == ("hello", "view")
        assert told[-1][2] == await anna.view(game_id)
        assert [data for _, id_, data in told if id_] == (await anna.sent("GET", f"/v1/games/{game_id}/events"))[
            "items"
        ]
        last = told[-2][1]
        assert last is not None
        async with aclosing(opened(page, with_view["url"], last)) as stream:  # as an EventSource comes back
            assert (await anext(stream))[2]["after"] == head
        async with aclosing(opened(page, (await ticket(anna))["url"])) as stream:
            assert [place["game_id"] for place in (await anext(stream))[2]["games"]] == [game_id]


async def test_a_ticket_is_for_one_path_and_nothing_else(world: World, anna: Player, stranger: Player) -> None:
    game_id, other = [(await anna.open_game())["game_id"] for _ in range(2)]
    plain = await ticket(anna, game_id)
    own = await ticket(anna)
    for url in (
        f"/v1/games/{other}/stream?ticket={plain['ticket']}",
        f"/v1/games/{game_id}/stream?view=true&ticket={plain['ticket']}",
        f"{MINE}?ticket={plain['ticket']}",
        f"/v1/games/{game_id}/stream?ticket={own['ticket']}",
        f"{MINE}?ticket=sht_nobody",
        f"{MINE}?ticket=",
    ):
        problem = assert_problem(await stranger.call("GET", url), 401, "unauthenticated")
        assert problem["detail"].startswith("The ticket is unknown")
    assert_problem(await stranger.call("GET", MINE), 401, "unauthenticated")
    assert_problem(await stranger.call("GET", f"/v1/me?ticket={own['ticket']}"), 401, "unauthenticated")
    assert_problem(await stranger.call("GET", MINE, authorization=f"Bearer {own['ticket']}"), 401, "unauthenticated")
    assert all(kept.turn == 0 for kept in world.stream_tickets.kept.values())


async def test_a_ticket_is_made_for_a_game_that_its_player_may_watch(anna: Player, boris: Player) -> None:
    hidden = (await anna.open_game(visibility="private"))["game_id"]
    closed = (await anna.open_game(spectators="none"))["game_id"]
    for game_id, status, code in (
        (hidden, 404, "game_not_found"), (closed, 403, "not_seated"), ("gam_nobody", 404, "game_not_found"),
    ):  # fmt: skip
        assert_problem(await boris.call("POST", "/v1/stream-tickets", {"game_id": game_id}), status, code)


async def test_a_ticket_is_used_within_thirty_seconds_and_again_for_twelve_hours(
    world: World, clock: Clock, anna: Player, stranger: Player
) -> None:
    game_id = (await anna.open_game())["game_id"]
    late, used = await ticket(anna, game_id), await ticket(anna, game_id)
    beyond = "&after=2147483647"  # refused, but not for who asks
    assert_problem(await stranger.call("GET", used["url"] + beyond), 422, "invalid_request")
    clock.at += timedelta(seconds=30)
    assert_problem(await stranger.call("GET", late["url"] + beyond), 401, "unauthenticated")
    clock.at += timedelta(hours=11, minutes=59)
    assert_problem(await stranger.call("GET", used["url"] + beyond), 422, "invalid_request")
    clock.at += timedelta(minutes=1)
    assert_problem(await stranger.call("GET", used["url"] + beyond), 401, "unauthenticated")


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_the_newer_connection_takes_the_stream_over(world: World, is_elsewhere: bool) -> None:
    async with serving(world) as (_, base_url), browser(base_url) as page, guests(base_url, "Anna") as [anna]:
        made = await ticket(anna)
        async with aclosing(opened(page, made["url"])) as first, aclosing(opened(page, made["url"])) as second:
            assert (await anext(first))[0] == "hello"
            if is_elsewhere:  # in another process
                [kept] = world.stream_tickets.kept.values()
                kept.turn += 1
                await world.house.streams.dismiss_replaced(world.stream_tickets)
            else:
                assert (await anext(second))[0] == "hello"
            kind, _, data = await told_last(first)
            assert (kind, data) == ("bye", {"reason": "replaced", "retry_ms": 60_000})
            if not is_elsewhere:
                await world.house.streams.dismiss_replaced(world.stream_tickets)
                await anna.open_game()
                assert (await anext(second))[0] == "joined"
        streams = world.house.streams
        await until(lambda: streams.count == 0)
        assert not streams._dismissed  # nothing of a stream stays behind
        assert not streams._by_ticket
        assert not streams._held


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_a_ticket_ends_with_its_token(world: World, is_elsewhere: bool) -> None:
    async with (
        serving(world) as (_, base_url),
        browser(base_url) as page,
        guests(base_url, "Anna", "Anna") as (anna, device),
    ):
        made = await anna.sent("POST", "/v1/me/tokens", {"scopes": ["watch"]})
        device.http.headers["authorization"] = f"Bearer {made['token']}"
        game_id = (await anna.open_game())["game_id"]
        open_, unused = await ticket(device), await ticket(device)
        async with aclosing(opened(page, open_["url"])) as stream:
            assert (await anext(stream))[0] == "hello"
            if is_elsewhere:
                await world.accounts.revoke(anna.player_id, made["token_id"])
                await world.house.streams.dismiss_revoked(world.accounts)
                world.house.callers.forget()
            else:
                await anna.call("DELETE", f"/v1/me/tokens/{made['token_id']}")
            kind, _, data = await told_last(stream)
            assert (kind, data["reason"]) == ("bye", "unauthenticated")
        for url in (open_["url"], unused["url"]):
            assert (await page.get(url)).status_code == 401
        refused = await device.call("POST", "/v1/stream-tickets", {"game_id": game_id})
        assert_problem(refused, 401, "unauthenticated")


async def test_the_stream_of_all_games_has_no_views(world: World, anna: Player) -> None:
    for body in ({"view": True}, {"view": True, "game_id": None}):
        refused = assert_problem(await anna.call("POST", "/v1/stream-tickets", body), 422, "invalid_request")
        assert [(each["pointer"], each["code"]) for each in refused["errors"]] == [("/game_id", "game_needed")]
    assert world.stream_tickets.kept == {}
    assert "view" not in (await ticket(anna, view=False))["url"]


async def test_a_ticket_can_do_no_more_than_its_token(world: World, anna: Player, stranger: Player) -> None:
    assert_problem(
        await (await with_token(anna, "bot")).call("POST", "/v1/stream-tickets", {}), 403, "insufficient_scope"
    )
    [kept] = [kept for kept in world.accounts.kept.values() if kept.token.scopes == ("bot",)]
    async with players(world, "Anna") as [other]:
        made = await ticket(other)
        for row in world.stream_tickets.kept.values():
            row.token_id = kept.token.token_id
        assert_problem(await stranger.call("GET", made["url"]), 403, "insufficient_scope")


async def test_a_ticket_stands_in_no_log_and_in_no_table(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    async with serving(world) as (_, base_url), browser(base_url) as page, guests(base_url, "Anna") as [anna]:
        made = await ticket(anna)
        async with aclosing(opened(page, made["url"])) as stream:
            assert (await anext(stream))[0] == "hello"
        monkeypatch.setattr(world.house.following, "order", None)  # whatever fails is logged
        answer = await page.get(made["url"])
        assert (answer.status_code, made["ticket"] in answer.text) == (500, False)
        bad = await page.get(f"/v1/games/x/stream?after=x&ticket={made['ticket']}")
        assert (bad.status_code, made["ticket"] in bad.text) == (422, False)
        assert any(record.name == "api.routes" and "failed" in record.getMessage() for record in caplog.records)
        secret = made["ticket"].removeprefix("sht_")
        own = [record for record in caplog.records if not record.name.startswith("http")]  # the client's are not ours
        assert not any(secret in str((record.getMessage(), vars(record))) for record in own)
        assert secret not in str(world.stream_tickets.kept)


async def test_dead_tickets_and_the_oldest_of_too_many_go_as_new_ones_are_made(
    world: World, clock: Clock, anna: Player, stranger: Player
) -> None:
    first = await ticket(anna)
    clock.at += timedelta(seconds=31)
    *_, last = [await ticket(anna) for _ in range(TICKETS_AT_MOST + 1)]
    assert len(world.stream_tickets.kept) == TICKETS_AT_MOST
    assert first["use_before_at"] < last["use_before_at"] < last["expires_at"]
    assert_problem(await stranger.call("GET", first["url"]), 401, "unauthenticated")
