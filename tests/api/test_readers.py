"""Readers who are told at once: in which states they are and are not, and that no client can tell the difference."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from random import Random
from urllib.parse import urlsplit

import pytest

from api.connections import Connection, Outlet
from api.readers import BATCH, Reader
from api.streams import story
from tests.api.clients import AT_ONCE, WOKEN, Client, come_to, listening, move, shown
from tests.api.listening import guests
from tests.api.tables import finish
from tests.api.world import Clock, Player, World, dealt_game, serving, until

LATE = {"spectators": "delayed", "spectator_delay_s": 30}


@pytest.fixture(autouse=True)
async def feed(world: World) -> AsyncIterator[None]:
    """Tells open streams what happens."""
    running = asyncio.create_task(world.house.feed.run(world.bus))
    await until(lambda: bool(world.bus.queues))
    yield
    running.cancel()
    await asyncio.wait({running})


async def test_whoever_waits_is_told_at_once_what_they_may_see(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    head = (await anna.view(game_id))["version"]
    async with AsyncExitStack() as opened:
        those = (anna, boris, clara)
        clients = [await opened.enter_async_context(listening(world, game_id, player)) for player in those]
        for _ in range(8):
            await come_to(await move(world, game_id, anna, boris), *clients)
        for client in clients:
            client.reader.hear(client.reader.sent)
            assert not client.reader.news.is_set()  # there is no news in what it was told
    for client, player in zip(clients, those, strict=True):
        assert [how for how, _ in client.told] == [WOKEN] + [AT_ONCE] * (len(client.told) - 1)
        assert client.events == await shown(player, game_id, head)
    assert len({client.body for client in clients}) == 3  # each drew cards that the others were not shown


async def test_a_heartbeat_is_due_after_what_was_told_at_once(anna: Player, boris: Player, world: World) -> None:
    game_id = await dealt_game(world, anna, boris)
    world.house.streams.heartbeat_s = 0.2
    async with listening(world, game_id, anna) as client:
        await until(lambda: bool(client.how(b"heartbeat")))
        await until(lambda: time.monotonic() > client.reader.told_at + 0.1)  # half the time to the next one is over
        moved_at = time.monotonic()
        await come_to(await move(world, game_id, anna, boris), client)
        await until(lambda: b"heartbeat" in client.told[-1][1])
        assert client.reader.told_at >= moved_at + 0.2
        assert client.body.endswith(b'event: heartbeat\ndata: {"version":%d}\n\n' % client.reader.sent)


@pytest.mark.parametrize("state", ["view", "late", "full", "gone", "no outlet"])
async def test_nobody_is_told_at_once_who_is_due_something_else_or_cannot_take_it(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player, state: str
) -> None:
    game_id = await dealt_game(world, anna, boris, **LATE)
    clock.at += timedelta(seconds=31)
    watcher, rests = clara if state == "late" else anna, state != "view"
    async with (
        listening(world, game_id, watcher, with_view=not rests, rests=rests) as client,
        listening(world, game_id, boris) as other,
    ):
        client.is_gone = state == "gone"
        assert client.reader.outlet is not None
        client.reader.outlet.is_full = state == "full"
        if state == "no outlet":
            client.reader.outlet = None
        version = await move(world, game_id, anna, boris)
        await come_to(version, other)
        clock.at += timedelta(seconds=31)
        await come_to(version, client)
    assert set(client.how(b"id: ")) == {WOKEN}
    assert set(other.how(b"id: ")) == {AT_ONCE}


async def test_a_name_is_looked_up_and_told_by_the_stream(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = (await anna.open_game())["game_id"]
    async with listening(world, game_id, anna) as seated, listening(world, game_id, clara) as spectator:
        await boris.sent("PUT", f"/v1/games/{game_id}/seats/1")
        for client in (seated, spectator):
            await until(lambda client=client: b"Boris" in client.body)  # type: ignore[misc]
            assert client.how(b"seat_changed") == [WOKEN]


async def test_who_gives_their_cards_away_is_a_spectator_from_that_event_on(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    head = (await anna.view(game_id))["version"]
    async with listening(world, game_id, boris) as former, listening(world, game_id, clara) as heir:
        await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
        for _ in range(12):
            await come_to(await move(world, game_id, anna, clara), former, heir)
    for client, player in ((former, boris), (heir, clara)):
        assert client.how(b"seat_changed") == [WOKEN]
        assert AT_ONCE in client.how(b"card_drawn")
        assert client.events == await shown(player, game_id, head)
    assert former.body != heir.body


async def test_who_gives_their_cards_away_at_a_closed_table_is_told_no_more(
    world: World, anna: Player, boris: Player, clara: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, spectators="none")
    async with listening(world, game_id, boris) as client:
        await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
        await move(world, game_id, anna, clara)
        await until(lambda: b"not_seated" in client.body)
    assert client.how(b"") == [WOKEN, WOKEN]
    assert b"id: " not in client.body


async def test_the_end_of_a_game_is_told_by_the_stream_with_its_goodbye(
    world: World, anna: Player, boris: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    async with listening(world, game_id, anna) as client:
        await finish(world, game_id, 10, 20)
        await until(lambda: b"event: bye" in client.body)
    assert client.how(b"game_finished") == client.how(b"game_over") == [WOKEN]


@pytest.mark.parametrize("why", ["unauthenticated", "shutting_down"])
async def test_who_was_told_goodbye_is_told_nothing_more(world: World, anna: Player, boris: Player, why: str) -> None:
    game_id = await dealt_game(world, anna, boris)
    async with listening(world, game_id, anna) as client:
        if why == "unauthenticated":
            world.house.streams.dismiss({client.reader.caller.token_id})
        else:
            world.house.streams.drain()
        await until(lambda: b"event: bye" in client.body)
        client.reader.hear(await move(world, game_id, anna, boris))
    assert client.how(b"") == [WOKEN, WOKEN]
    assert why.encode() in client.told[-1][1]


async def test_what_happens_between_hello_and_the_first_wait_is_told_by_the_stream(
    world: World, anna: Player, boris: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    async with listening(world, game_id, anna) as client:
        late = Client(Reader(world.house, client.reader.caller, game_id, client.reader.sent))
        late.reader.outlet = Outlet(late)
        chunks = story(late.reader, with_view=False)
        assert b"hello" in await anext(chunks)
        await come_to(await move(world, game_id, anna, boris), client)
        assert late.told == []
        assert await anext(chunks) == client.told[-1][1]
        await chunks.aclose()


@pytest.mark.parametrize("is_known_of", [False, True])
async def test_a_gap_is_read_from_the_log_by_the_stream(
    world: World, anna: Player, boris: Player, is_known_of: bool
) -> None:
    game_id = await dealt_game(world, anna, boris)
    async with listening(world, game_id, anna) as client:
        hot = world.house.tables.in_memory(game_id)
        version = await move(world, game_id, anna, boris)
        await come_to(version, client)
        world.house.tables._forget(game_id)
        if is_known_of:
            world.house.tables.in_memory(game_id).record(hot.events)
        client.reader.hear(version + 1)
        assert client.reader.news.is_set()
    assert client.how(b"id: ") == [AT_ONCE]


async def test_more_than_one_batch_is_told_by_the_stream(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    async with listening(world, game_id, anna) as client:
        head = client.reader.sent
        while (version := await move(world, game_id, anna, boris)) - head <= BATCH:
            pass
        await come_to(version, client)
        for sent, how in ((version - BATCH, AT_ONCE), (version - BATCH - 1, WOKEN)):
            client.reader.sent = sent
            client.reader.hear(version)
            await come_to(version, client)
            assert client.told[-1][0] == how


async def test_a_fault_ends_one_stream_and_not_the_feed(
    world: World, anna: Player, boris: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = await dealt_game(world, anna, boris)
    async with listening(world, game_id, anna) as faulty, listening(world, game_id, boris) as other:

        def fail(_: bytes) -> None:
            raise RuntimeError("a connection that fails")

        monkeypatch.setattr(faulty, "write", fail)
        await come_to(await move(world, game_id, anna, boris), faulty, other)
    assert set(faulty.how(b"id: ")) == {WOKEN}
    assert set(other.how(b"id: ")) == {AT_ONCE}


async def test_a_client_is_told_at_once_again_when_it_has_taken_what_lay_for_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushed: list[bool] = []
    push = Outlet.push

    def noted(outlet: Outlet, piece: bytes) -> bool:
        pushed.append(push(outlet, piece))
        return pushed[-1]

    monkeypatch.setattr(Outlet, "push", noted)
    async with serving(world) as (server, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        game_id = await dealt_game(world, anna, boris)
        address = urlsplit(base_url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        head = (await anna.view(game_id))["version"]
        writer.write(
            f"GET /v1/games/{game_id}/stream?after={head} HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: {anna.http.headers['authorization']}\r\n\r\n".encode()
        )
        await reader.readuntil(b"event: hello\n")
        port = writer.get_extra_info("sockname")[1]
        connections = [each for each in server.server_state.connections if isinstance(each, Connection)]
        [connection] = [each for each in connections if each.client and each.client[1] == port]
        connection.pause_writing()
        version = await move(world, game_id, anna, boris)
        await until(lambda: pushed == [False])
        connection.resume_writing()
        told = await reader.readuntil(b"id: %d\n" % version)
        version = await move(world, game_id, anna, boris)
        told += await reader.readuntil(b"id: %d\n" % version)
        assert pushed[1:] == [True] * len(pushed[1:]) != []
        world.house.streams.slow_s = 0  # however short it takes, it is too long
        connection.pause_writing()
        await move(world, game_id, anna, boris)
        await until(lambda: not pushed[-1])
        connection.resume_writing()
        told += await reader.readuntil(b"0\r\n\r\n")
        versions = [int(version) for version in re.findall(rb"id: (\d+)\n", told)]
        assert versions == list(range(head + 1, versions[-1] + 1))
        assert b'event: resync\ndata: {"version":%d,' % versions[-1] in told
        writer.close()


@pytest.mark.parametrize(("spectators", "seed"), [("public", 1), ("delayed", 2), ("none", 3)])
async def test_a_stream_is_the_same_byte_for_byte_whether_told_at_once_or_not(
    world: World, clock: Clock, anna: Player, boris: Player, clara: Player, spectators: str, seed: int
) -> None:
    random, clock.tick = Random(seed), timedelta(milliseconds=1)
    delay = {"spectator_delay_s": 5} if spectators == "delayed" else {}
    game_id = await dealt_game(world, anna, boris, spectators=spectators, **delay)
    seated, watching = [anna, boris], [anna, boris] if spectators == "none" else [anna, boris, clara]
    twins: list[tuple[Client, Client]] = []
    async with AsyncExitStack() as opened:
        while (version := await move(world, game_id, *seated, random=random)) < 250:
            if len(twins) < 10 and random.random() < 0.4:
                after, with_view = random.randint(0, version), random.random() < 0.2
                one, other = [
                    listening(world, game_id, player, after=after, with_view=with_view, rests=False)
                    for player in [random.choice(watching)] * 2
                ]
                twins.append((await opened.enter_async_context(one), await opened.enter_async_context(other)))
                twins[-1][1].reader.outlet = None
            if version > 60 and clara not in seated:
                await boris.sent("POST", f"/v1/games/{game_id}/seats/1/handover", {"player_id": clara.player_id})
                seated, watching = [anna, clara], [anna, clara] if spectators == "none" else watching
            clock.at += timedelta(seconds=random.choice([0, 1, 10]))
        await finish(world, game_id, 10, 20)
        clock.at += timedelta(seconds=10)
        await until(lambda: all(b"event: bye" in client.body for pair in twins for client in pair))
    for at_once, woken in twins:
        assert at_once.body == woken.body
        assert AT_ONCE not in woken.how(b"")
    assert sum(at_once.how(b"id: ").count(AT_ONCE) for at_once, _ in twins) > 100
