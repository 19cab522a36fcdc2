"""Streams of a real server on a real port: every version once and in order, whatever happens to the connection."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import aclosing
from random import Random

import httpx
import pytest

from domain.events import RoundDealt
from tests.api.listening import bots_game, guests, messages, read_slowly
from tests.api.world import Json, Player, World, asked, dealt_game, new_world, serving, until


async def test_a_stream_tells_what_was_and_what_comes(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        head = (await anna.view(game_id))["version"]
        async with aclosing(messages(anna.http, f"/v1/games/{game_id}/stream")) as stream:
            kind, id_, data = await anext(stream)
            assert (kind, id_, data) == ("hello", None, {"game_id": game_id, "version": head, "after": 0})
            told = [await anext(stream) for _ in range(head)]
            await asked(game_id, "play", anna, boris)
            told += [await anext(stream) for _ in range((await anna.view(game_id))["version"] - head)]
        assert [data for _, _, data in told] == (await anna.sent("GET", f"/v1/games/{game_id}/events"))["items"]
        assert all((kind, id_) == (data["kind"], str(data["version"])) for kind, id_, data in told)


async def test_a_reader_that_is_cut_off_at_random_gets_every_version_once(world: World) -> None:
    world.bus.pointers = (RoundDealt,)
    random = Random(7)
    async with serving(world) as (_, base_url), guests(base_url, "Anna") as [anna]:
        game_id = await bots_game(anna)
        versions: list[int] = []

        async def read() -> None:
            is_over = False
            while not is_over:
                path, last = f"/v1/games/{game_id}/stream", str(versions[-1] if versions else "")
                left = random.randint(1, 400)
                async with aclosing(messages(anna.http, path, **{"last-event-id": last})) as stream:
                    async for kind, id_, _ in stream:
                        versions.extend([int(id_)] if id_ else [])
                        is_over = kind == "bye"
                        left -= 1
                        if left == 0:
                            break

        reader = asyncio.create_task(read())
        await world.tend(game_id)
        await asyncio.wait_for(reader, 30)
        assert versions == list(range(1, (await anna.view(game_id))["version"] + 1))


async def test_a_finished_game_is_told_to_its_end_and_not_again(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna") as [anna]:
        game_id = await bots_game(anna)
        await world.tend(game_id)
        told = [message async for message in messages(anna.http, f"/v1/games/{game_id}/stream")]
        assert told[-2][0] == "game_finished"
        assert (told[-1][0], told[-1][2]["reason"]) == ("bye", "game_over")
        last = told[-2][1]
        assert last is not None
        again = await anna.call("GET", f"/v1/games/{game_id}/stream", last_event_id=last)
        assert (again.status_code, again.content) == (204, b"")
        since = [message async for message in messages(anna.http, f"/v1/games/{game_id}/stream?after={int(last) - 1}")]
        assert [kind for kind, _, _ in since] == ["hello", "game_finished", "bye"]


async def test_a_stream_with_views_is_all_that_a_frontend_reads(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        head = (await anna.view(game_id))["version"]
        path = f"/v1/games/{game_id}/stream?view=1&after={head}"
        async with aclosing(messages(anna.http, path)) as stream:
            assert (await anext(stream))[0] == "hello"
            assert await anext(stream) == ("view", None, await anna.view(game_id))
            player, _ = await asked(game_id, "draw", anna, boris)
            version = (await player.answer(game_id))["version"]
            numbers = []
            async for kind, id_, data in stream:
                numbers.extend([int(id_)] if id_ else [])
                if kind == "view" and data["version"] >= version:
                    assert data == await anna.view(game_id)
                    break
            assert numbers == list(range(head + 1, version + 1))


async def test_a_view_is_that_of_the_last_event_though_the_game_goes_on_while_names_are_asked_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        player, _ = await asked(game_id, "draw", anna, boris)
        names, is_first = world.accounts.names, True

        async def slow_names(player_ids: Sequence[str]) -> dict[str, str]:
            nonlocal is_first
            if is_first:
                is_first = False
                await player.answer(game_id)
            return await names(player_ids)

        monkeypatch.setattr(world.accounts, "names", slow_names)
        async with aclosing(messages(anna.http, f"/v1/games/{game_id}/stream?view=1")) as stream:
            last = 0
            async for kind, id_, data in stream:
                last = int(id_ or last)
                if kind == "view":
                    assert data["version"] == last
                    break
        assert not is_first


async def test_a_quiet_stream_shows_that_it_lives() -> None:
    world = new_world(heartbeat_s=0.05)
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game = await anna.open_game()
        async with aclosing(messages(anna.http, f"/v1/games/{game['game_id']}/stream?after=3")) as stream:
            assert [(await anext(stream))[0] for _ in range(3)] == ["hello", "heartbeat", "heartbeat"]
            await boris.sent("PUT", f"/v1/games/{game['game_id']}/seats/1")
            told = [await anext(stream) for _ in range(20)]
            news = [kind for kind, _, _ in told].index("seat_changed")
            assert {kind for kind, _, _ in told[:news] + told[news + 1 :]} == {"heartbeat"}
            assert told[-1][2] == {"version": 4}


async def test_a_bus_that_is_lost_makes_events_late_but_loses_none(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        head = (await anna.view(game_id))["version"]
        async with aclosing(messages(anna.http, f"/v1/games/{game_id}/stream?after={head}")) as stream:
            assert (await anext(stream))[0] == "hello"
            world.bus.lose()
            world.log.listeners.clear()
            player, _ = await asked(game_id, "draw", anna, boris)
            version = (await player.answer(game_id))["version"]
            told = [await asyncio.wait_for(anext(stream), 20) for _ in range(version - head)]
        assert [id_ for _, id_, _ in told] == [str(number) for number in range(head + 1, version + 1)]


async def test_a_reader_that_leaves_leaves_nothing_behind(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna") as [anna]:
        game = await anna.open_game()
        readers = [messages(anna.http, f"/v1/games/{game['game_id']}/stream") for _ in range(20)]
        for reader in readers:
            assert (await anext(reader))[0] == "hello"
        assert world.house.streams.count == 20
        for reader in readers:
            await reader.aclose()
        await until(lambda: world.house.streams.count == 0)


async def test_an_event_that_came_over_the_bus_is_not_read_from_the_log_again(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        head = (await anna.view(game_id))["version"]
        async with aclosing(messages(anna.http, f"/v1/games/{game_id}/stream?after={head}")) as stream:
            assert (await anext(stream))[0] == "hello"
            player, _ = await asked(game_id, "draw", anna, boris)
            version = (await player.answer(game_id))["version"]
            world.log.games.clear()  # whoever reads it now finds nothing
            told = [await anext(stream) for _ in range(version - head)]
        assert told[-1][1] == str(version)


async def test_a_client_that_takes_too_long_is_cut_off_with_resync_and_told_the_rest_later(world: World) -> None:
    async with (
        serving(world, send_buffer=16_384) as (server, base_url),
        guests(base_url, "Anna", "Boris") as (anna, boris),
    ):
        game_id = await bots_game(anna, rounds=4)
        await world.tend(game_id)
        head = (await anna.view(game_id))["version"]
        told = await read_slowly(world, server, base_url, f"/v1/games/{game_id}/stream", anna)
        assert told[-1][0] == "resync"
        sent = told[-2][2]["version"]
        assert sent < head
        assert told[-1][2] == {"version": sent, "head_version": head, "retry_ms": 1_000}
        rest = [message async for message in messages(boris.http, f"/v1/games/{game_id}/stream?after={sent}")]
        versions = [int(id_) for _, id_, _ in told + rest if id_]
        assert versions == list(range(1, head + 1))


@pytest.mark.parametrize("place", [{"last_event_id": "7"}, {}])
async def test_a_stream_does_not_wait_for_a_version_that_was_never_told(anna: Player, place: dict[str, str]) -> None:
    game = await anna.open_game()
    response = await anna.call("GET", f"/v1/games/{game['game_id']}/stream?after={7 if not place else 0}", **place)
    [error] = response.json()["errors"]
    assert (response.status_code, error["code"]) == (422, "beyond_head")
    assert error["pointer"] == ("Last-Event-ID" if place else "after")
    assert response.json()["current_version"] == game["version"]


@pytest.mark.parametrize("last", ["one", "-1", "1.5", "9999999999"])
async def test_a_stream_begins_after_a_version_and_nothing_else(anna: Player, last: str) -> None:
    game = await anna.open_game()
    response = await anna.call("GET", f"/v1/games/{game['game_id']}/stream", last_event_id=last)
    assert (response.status_code, response.json()["errors"][0]["pointer"]) == (422, "Last-Event-ID")


async def test_a_signal_ends_the_process_with_a_goodbye_on_every_stream() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.api.serve", stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        base_url = (await process.stdout.readline()).decode().strip()
        limits = httpx.Limits(max_connections=200)
        async with httpx.AsyncClient(base_url=base_url, timeout=20, limits=limits) as http:
            game = await (await Player(http).join("Anna")).open_game()
            path = f"/v1/games/{game['game_id']}/stream"
            begun = [asyncio.Event() for _ in range(100)]
            readers = [asyncio.create_task(last_word(http, path, event)) for event in begun]
            await asyncio.wait_for(asyncio.gather(*(event.wait() for event in begun)), 60)
            process.send_signal(signal.SIGTERM)
            words = await asyncio.wait_for(asyncio.gather(*readers, process.wait()), 20)
        assert words == [("bye", {"reason": "shutting_down", "retry_ms": 1_000})] * 100 + [0]
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def last_word(http: httpx.AsyncClient, path: str, begun: asyncio.Event) -> tuple[str, Json]:
    """Reads a stream to its end; gives the last message."""
    last: tuple[str, Json] = ("", {})
    async for kind, _, data in messages(http, path):
        begun.set()
        last = (kind, data)
    return last
