"""All games of a player in one stream: every event once, in order, whatever happens to connection, bus and process."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from services import following
from services.cursors import digest_of, write_cursor
from services.ports import Unavailable
from services.rendering import Names, names_at
from tests.api.listening import (
    MINE,
    Message,
    bots_game,
    cursor_now,
    events_in,
    guests,
    mine,
    read_slowly,
    told_last,
    told_until,
)
from tests.api.problems import assert_problem
from tests.api.world import AMPLE, Clock, Player, World, asked, dealt_game, new_world, serving, until

LATE = {"spectators": "delayed", "spectator_delay_s": 30}


async def play(player: Player, game_id: str, *others: Player) -> int:
    """Has whoever is asked to draw answer; gives the game's version."""
    answering, _ = await asked(game_id, "draw", player, *others)
    version: int = (await answering.answer(game_id))["version"]
    return version


async def test_every_game_is_told_as_its_own_stream_tells_it(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        first = await dealt_game(world, anna, boris)
        others = await dealt_game(world, boris, clara)
        heads = {game_id: (await boris.view(game_id))["version"] for game_id in (first, others)}
        async with aclosing(mine(anna)) as stream, aclosing(mine(boris)) as second:
            kind, cursor, hello = await anext(stream)
            assert (kind, bool(cursor)) == ("hello", True)
            assert hello == {"games": [{"game_id": first, "version": heads[first], "after": heads[first]}]}
            kind, _, hello = await anext(second)
            assert {place["game_id"]: place["after"] for place in hello["games"]} == heads
            await play(clara, others, boris)
            version = await play(anna, first, boris)
            for reader, player in ((stream, anna), (second, boris)):
                read = await told_until(reader, first, version)
                path = f"/v1/games/{first}/events?after={heads[first]}"
                assert events_in(read, first) == (await player.sent("GET", path))["items"][: version - heads[first]]
                assert all(kind == data["kind"] for kind, id_, data in read if id_)
                assert bool(events_in(read, others)) == (player is boris)


async def test_a_reader_that_is_cut_off_at_random_gets_every_event_of_all_games_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.my_stream.MISSED_AT_MOST", 100_000)  # the bots' games are over in no time
    monkeypatch.setattr(following, "MARKS_AT_MOST", 100_000)
    random = Random(7)
    async with serving(world) as (_, base_url), guests(base_url, "Anna") as [anna]:
        games = [await bots_game(anna) for _ in range(2)]
        seen: Counter[tuple[str, int]] = Counter()
        order: dict[str, list[int]] = {}
        over: set[str] = set()
        begun = asyncio.Event()

        async def read() -> None:
            last: str | None = None
            while len(over) < len(games):
                left = random.randint(1, 200)
                async with aclosing(mine(anna, last)) as stream:
                    async for kind, id_, data in stream:
                        begun.set()
                        last = id_ or last
                        if id_ and "kind" in data:
                            seen[data["game_id"], data["version"]] += 1
                            order.setdefault(data["game_id"], []).append(data["version"])
                            over.update({data["game_id"]} if kind == "game_finished" else ())
                        left -= 1
                        if left == 0 or len(over) == len(games):
                            break

        reader = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), 20)
        firsts = {game_id: (await anna.view(game_id))["version"] + 1 for game_id in games}
        for game_id in games:
            await world.tend(game_id)
        await asyncio.wait_for(reader, 30)
        assert set(seen.values()) == {1}
        for game_id in games:
            head = (await anna.view(game_id))["version"]
            assert order[game_id] == list(range(firsts[game_id], head + 1))


async def test_what_the_bus_has_lost_comes_late(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "RECHECK_S", 0.1)
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        async with aclosing(mine(anna)) as stream:
            head = (await anext(stream))[2]["games"][0]["after"]
            world.bus.lose()
            world.log.listeners.clear()
            version = await play(anna, game_id, boris)
            read = await told_until(stream, game_id, version)
        assert [data["version"] for data in events_in(read, game_id)] == list(range(head + 1, version + 1))


async def test_what_was_written_before_the_database_went_away_is_told_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "RECHECK_S", 0.5)
    away = [Unavailable("away")]

    async def names_or_away(*asked: Any) -> Names:
        if away:
            raise away.pop()
        return await names_at(*asked)

    monkeypatch.setattr("api.my_stream.names_at", names_or_away)
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        async with aclosing(mine(anna)) as stream:
            head = (await anext(stream))[2]["games"][0]["after"]
            world.log.listeners.clear()  # so that the move and the change of seats come together
            await play(anna, game_id, boris)
            await boris.sent("POST", f"/v1/games/{game_id}/seats/1/abandon")
            version = (await anna.view(game_id))["version"]
            read = await told_until(stream, game_id, version)
        assert [data["version"] for data in events_in(read, game_id)] == list(range(head + 1, version + 1))
    assert not away


async def test_what_was_written_while_more_came_than_can_be_kept_is_told_before_the_resync(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def names_while_more_comes(*asked: Any) -> Names:
        monkeypatch.setattr(following, "MARKS_AT_MOST", 0)
        for own in world.house.following.by_game[game_id]:
            own.tell(own.pending[0])
        return await names_at(*asked)

    monkeypatch.setattr("api.my_stream.names_at", names_while_more_comes)
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        async with aclosing(mine(anna)) as stream:
            assert (await anext(stream))[0] == "hello"
            await boris.sent("POST", f"/v1/games/{game_id}/seats/1/abandon")
            [changed, resync] = [message async for message in stream]
        assert (changed[0], resync[0]) == ("seat_changed", "resync")
        assert resync[2]["games"][0]["after"] == changed[2]["version"]


async def test_of_a_game_that_has_ended_what_was_missed_is_told_and_then_nothing(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna") as [anna]:
        game_id = (await anna.open_game())["game_id"]
        before = await cursor_now(world)
        await anna.sent("POST", f"/v1/games/{game_id}/cancel")
        async with aclosing(mine(anna, before)) as stream:
            assert [place["game_id"] for place in (await anext(stream))[2]["games"]] == [game_id]
            assert (await anext(stream))[0] == "game_cancelled"
        async with aclosing(mine(anna, await cursor_now(world))) as stream:
            assert (await anext(stream))[2] == {"games": []}
        async with aclosing(mine(anna)) as stream:
            assert (await anext(stream))[2] == {"games": []}


@pytest.mark.parametrize("why", ["another generation", "a place that was never reached", "too much"])
async def test_a_cursor_that_cannot_be_gone_on_after_gives_resync(
    world: World, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.my_stream.MISSED_AT_MOST", 3)
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        place = await world.house.following.order.end()
        cursors = {
            "another generation": write_cursor(digest_of("of old"), place.position, {}),
            "a place that was never reached": write_cursor(digest_of("memory"), (1 << 40, 0), {}),
            "too much": write_cursor(digest_of("memory"), (0, 0), {}),
        }
        head = (await anna.view(game_id))["version"]
        places = [{"game_id": game_id, "version": head, "after": head}]
        async with aclosing(mine(anna, cursors[why].decode())) as stream:
            kind, cursor, hello = await anext(stream)
            assert (kind, hello) == ("hello", {"games": places})
            assert await anext(stream) == ("resync", None, {"games": places, "retry_ms": None})
            version = await play(anna, game_id, boris)
            read = await told_until(stream, game_id, version)
        assert [data["version"] for data in events_in(read, game_id)] == list(range(head + 1, version + 1))
        async with aclosing(mine(anna, cursor)) as stream:
            assert [(await anext(stream))[0] for _ in range(2)] == [
                "hello",
                "resync" if version - head > 3 else read[0][0],
            ]


@pytest.mark.parametrize("last", ["one", "7", "AAAA", "=" * 32, "A" * 10_000])
async def test_what_is_no_cursor_is_refused(anna: Player, last: str) -> None:
    answer = await anna.call("GET", MINE, last_event_id=last)
    assert_problem(answer, 422, "invalid_request")
    assert answer.json()["errors"][0]["pointer"] == "Last-Event-ID"


async def test_a_quiet_stream_lives_and_its_cursor_does_not_grow_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.my_stream.MISSED_AT_MOST", 3)
    world = new_world(heartbeat_s=0.05)
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        async with aclosing(mine(anna)) as stream:
            first = (await anext(stream))[1]
            for _ in range(3):
                await boris.open_game()
            now = await cursor_now(world)
            beats = [message async for message in _upto_cursor(stream, now)]
        assert {kind for kind, _, _ in beats} == {"heartbeat"}
        assert first != now


async def _upto_cursor(stream: AsyncGenerator[Message, None], cursor: str) -> AsyncGenerator[Message, None]:
    async with asyncio.timeout(20):
        async for message in stream:
            yield message
            if message[1] == cursor:
                return


async def test_an_opener_who_does_not_play_is_told_late_and_every_event_once(world: World, clock: Clock) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris", "Clara") as (anna, boris, clara):
        game = await anna.open_game(seats=[{"controller": "open"}] * 2, **LATE)
        game_id = game["game_id"]
        for seat, player in enumerate((boris, clara)):
            await player.sent("PUT", f"/v1/games/{game_id}/seats/{seat}")
        fast = await dealt_game(world, anna, boris)
        async with aclosing(mine(anna)) as stream:
            places = {place["game_id"]: place for place in (await anext(stream))[2]["games"]}
            shown = places[game_id]["after"]
            await anna.sent("POST", f"/v1/games/{game_id}/start")
            await world.tend(game_id)
            version = await play(boris, game_id, clara)
            read = await told_until(stream, fast, await play(anna, fast, boris))
            assert not any(kind == "round_dealt" for kind, _, data in read if data["game_id"] == game_id)
            seen = (await anna.sent("GET", f"/v1/games/{game_id}"))["version"]
            async with aclosing(mine(anna)) as again:
                places = {place["game_id"]: place for place in (await anext(again))[2]["games"]}
            assert places[game_id] == {"game_id": game_id, "version": seen, "after": seen}
            assert seen < version
            clock.at += timedelta(seconds=31)
            half = [await anext(stream) for _ in range(2)]
            cursor = half[-1][1]
        async with aclosing(mine(anna, cursor)) as stream:
            assert (await anext(stream))[0] == "hello"
            rest = await told_until(stream, game_id, version)
        told = events_in([*read, *half, *rest], game_id)
        assert [event["version"] for event in told] == list(range(shown + 1, version + 1))
        assert told == (await anna.sent("GET", f"/v1/games/{game_id}/events?after={shown}"))["items"]
        assert not any("hand" in event["data"] for event in told)


async def test_of_too_many_games_that_are_told_late_only_the_newest_are(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.my_stream.LATE_AT_MOST", 1)
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        seats = [{"controller": "open"}] * 2
        *older, newest = sorted([(await anna.open_game(seats=seats, **LATE))["game_id"] for _ in range(3)])
        played = (await anna.open_game(**LATE))["game_id"]
        async with aclosing(mine(anna)) as stream:
            places = (await anext(stream))[2]["games"]
            assert {place["game_id"] for place in places} == {newest, played}
            for game_id in older:
                await boris.sent("PUT", f"/v1/games/{game_id}/seats/1")
            version = (await boris.sent("PUT", f"/v1/games/{played}/seats/1"))["version"]
            read = await told_until(stream, played, version)
        assert {data["game_id"] for _, _, data in read} == {played}


async def test_a_client_that_takes_too_long_is_cut_off_and_told_the_rest_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.my_stream.MISSED_AT_MOST", 100_000)
    async with serving(world, send_buffer=16_384) as (server, base_url), guests(base_url, "Anna") as [anna]:
        cursor = await cursor_now(world)
        game_id = await bots_game(anna, rounds=4)
        await world.tend(game_id)
        head = (await anna.view(game_id))["version"]
        told = await read_slowly(world, server, base_url, MINE, anna, f"Last-Event-ID: {cursor}")
        kind, _, data = told[-1]
        sent = events_in(told, game_id)[-1]["version"]
        assert (kind, data["retry_ms"], data["games"][0]["after"]) == ("resync", 1_000, sent)
        assert sent < head
        last = [id_ for _, id_, _ in told if id_][-1]
        async with aclosing(mine(anna, last)) as stream:
            rest = await told_until(stream, game_id, head)
        assert [event["version"] for event in events_in(told + rest, game_id)] == list(range(1, head + 1))


async def test_more_than_can_be_kept_ends_with_resync(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MARKS_AT_MOST", 0)
    async with serving(world) as (_, base_url), guests(base_url, "Anna") as [anna]:
        async with aclosing(mine(anna)) as stream:
            assert (await anext(stream))[0] == "hello"
            await bots_game(anna)
            kind, _, data = await told_last(stream)
        assert (kind, data["retry_ms"]) == ("resync", 1_000)


@pytest.mark.parametrize("is_revoked", [False, True])
async def test_it_says_goodbye_when_the_process_ends_or_the_token_does(world: World, is_revoked: bool) -> None:
    async with serving(world) as (server, base_url), guests(base_url, "Anna") as [anna]:
        async with aclosing(mine(anna)) as stream:
            assert (await anext(stream))[0] == "hello"
            assert world.house.streams.count == 1
            if is_revoked:
                [token] = (await anna.sent("GET", "/v1/me/tokens"))["items"]
                await anna.call("DELETE", f"/v1/me/tokens/{token['token_id']}")
            else:
                server.stop()
            kind, _, data = await told_last(stream)
        assert (kind, data["reason"]) == ("bye", "unauthenticated" if is_revoked else "shutting_down")
        await until(lambda: world.house.streams.count == 0)
        assert not world.house.following.by_game


async def test_it_counts_as_any_other_stream() -> None:
    async with (
        serving(new_world(quotas=replace(AMPLE, streams_per_token=1))) as (_, base_url),
        guests(base_url, "Anna") as [anna],
        aclosing(mine(anna)) as stream,
    ):
        assert (await anext(stream))[0] == "hello"
        assert_problem(await anna.call("GET", MINE), 429, "too_many_streams")
