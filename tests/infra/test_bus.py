"""The reading end of the bus."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from domain.events import CardDrawn, Event
from infra.bus import reader, wire
from infra.bus.entries import HEAD, decode_entry, stream_key
from infra.bus.publisher import RedisPublisher
from infra.bus.reader import RedisBusReader
from infra.postgres.rows import EPOCH
from infra.settings import Settings
from services.codec import encode_event
from services.ids import new_uuid, public_id
from services.ports import FeedEntry, Recorded, Unavailable
from services.relay import LogEntry
from tests.engines import eventually
from tests.infra.telling import is_listened_to, redis

DRAWN = CardDrawn(seat=0, source="stock", card="7H", stock_count=50)
GAME, COMMAND, AT = new_uuid(), new_uuid(), datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)


def entry(place: int, event: Event = DRAWN, *, type_: int | None = None) -> LogEntry:
    """An event as the relay has it: transaction `place`, version `place`."""
    number, schema, payload = encode_event(event)
    at_us = (AT - EPOCH) // timedelta(microseconds=1)
    head = HEAD.pack(GAME.bytes, place, type_ or number, schema, 2, 1, COMMAND.bytes, at_us)
    return LogEntry(place, place, GAME.bytes, place, head + payload)


@pytest.fixture
async def bus(settings: Settings) -> AsyncIterator[RedisPublisher]:
    await redis(settings, "FLUSHALL")
    bus = RedisPublisher(settings.bus_url, shards=2, maxlen=100)
    await bus.connect("g1")
    yield bus
    await bus.close()


def reading(settings: Settings, generation: str = "g1") -> AsyncIterator[list[FeedEntry]]:
    async def present() -> str:
        return generation

    return RedisBusReader(settings.bus_url, shards=2, generation=present).entries()


async def test_entries_are_read_from_the_present_end_on(settings: Settings, bus: RedisPublisher) -> None:
    await bus.publish([entry(1), entry(2)])
    batches = reading(settings)
    following = asyncio.ensure_future(anext(batches))
    await eventually(lambda: is_listened_to(settings))
    await bus.publish([entry(3), entry(4)])
    game = public_id("gam", GAME)
    assert await following == [
        FeedEntry(game, place, Recorded(game, place, DRAWN, "bot", 1, COMMAND, AT)) for place in (3, 4)
    ]


async def test_an_empty_batch_comes_after_each_second_without_news(settings: Settings, bus: RedisPublisher) -> None:
    batches, loop = reading(settings), asyncio.get_running_loop()
    before = loop.time()
    assert await anext(batches) == []
    assert 0.5 < loop.time() - before < 20


async def test_what_is_added_between_two_readings_is_not_missed(settings: Settings, bus: RedisPublisher) -> None:
    batches = reading(settings)
    assert await anext(batches) == []  # it has waited its second
    await bus.publish([entry(1)])
    assert [entry.version for entry in await anext(batches)] == [1]
    await bus.publish([entry(2)])
    await bus.publish([entry(3), entry(4)])
    told: list[int] = []
    while len(told) < 3:
        told += [entry.version for entry in await anext(batches)]
    assert told == [2, 3, 4]


async def test_an_event_of_a_newer_server_is_a_pointer(settings: Settings, bus: RedisPublisher) -> None:
    batches = reading(settings)
    following = asyncio.ensure_future(anext(batches))
    await eventually(lambda: is_listened_to(settings))
    await bus.publish([entry(1, type_=999)])
    assert await following == [FeedEntry(public_id("gam", GAME), 1, None)]


async def test_an_event_that_this_server_cannot_read_is_a_pointer() -> None:
    known = entry(1)
    assert decode_entry(known.told).recorded is not None
    assert decode_entry(known.told + b"}") == FeedEntry(public_id("gam", GAME), 1, None)
    assert decode_entry(known.told[: HEAD.size]) == FeedEntry(public_id("gam", GAME), 1, None)


async def test_a_bus_that_holds_something_else_is_unavailable(settings: Settings, bus: RedisPublisher) -> None:
    await redis(settings, "SET", stream_key("g1", 0), "no stream")
    with pytest.raises(Unavailable, match="WRONGTYPE"):
        await anext(reading(settings))
    await redis(settings, "DEL", stream_key("g1", 0))
    batches = reading(settings)
    assert await anext(batches) == []
    await redis(settings, "SET", stream_key("g1", 0), "no stream")
    assert await anext(batches) == []  # the reading that was under way
    with pytest.raises(Unavailable, match="WRONGTYPE"):
        await anext(batches)


async def test_who_ends_the_reading_does_not_wait_for_news(
    settings: Settings, bus: RedisPublisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = reading(settings)
    assert await anext(batches) == []
    monkeypatch.setattr(reader, "_BLOCK_MS", 60_000)
    monkeypatch.setattr(wire, "_ANSWER_S", 60.0)
    following = asyncio.ensure_future(anext(batches))
    await eventually(lambda: is_listened_to(settings))
    following.cancel()
    async with asyncio.timeout(10):
        await asyncio.wait([following])


async def test_a_lost_bus_is_unavailable(settings: Settings, bus: RedisPublisher) -> None:
    batches = reading(settings)
    following = asyncio.ensure_future(anext(batches))
    await eventually(lambda: is_listened_to(settings))
    await redis(settings, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    with pytest.raises(Unavailable):
        await following


async def test_a_bus_that_is_not_there_is_unavailable() -> None:
    async def present() -> str:
        return "g1"

    with pytest.raises(Unavailable):
        await anext(RedisBusReader("unix:///nowhere", shards=1, generation=present).entries())


async def test_a_new_generation_ends_the_reading(settings: Settings, bus: RedisPublisher) -> None:
    generations = iter(("g1", "g2"))

    async def present() -> str:
        return next(generations)

    batches = RedisBusReader(settings.bus_url, shards=1, generation=present).entries()
    assert await anext(batches) == []
    with pytest.raises(Unavailable, match="new generation"):
        await anext(batches)


async def test_a_stream_keeps_about_as_many_entries_as_it_should(settings: Settings, bus: RedisPublisher) -> None:
    await bus.publish([entry(place) for place in range(1, 1_001)])
    keys = [stream_key("g1", shard) for shard in range(2)]
    empty, full = sorted([await redis(settings, "XLEN", key) for key in keys])
    assert empty == 0
    assert 100 <= full < 300


async def told(settings: Settings) -> int:
    """Counts the entries that the bus holds."""
    return sum([await redis(settings, "XLEN", stream_key("g1", shard)) for shard in range(2)])


@pytest.fixture
async def full(settings: Settings) -> AsyncIterator[Callable[[bool], Awaitable[None]]]:
    """Fills the bus up, or gives it room again."""

    async def fill(is_full: bool) -> None:
        await redis(settings, "CONFIG", "SET", "maxmemory", int(is_full))

    yield fill
    await fill(False)


async def test_what_a_full_bus_does_not_take_is_told_and_taken_later(
    settings: Settings, bus: RedisPublisher, full: Callable[[bool], Awaitable[None]]
) -> None:
    await bus.publish([entry(place) for place in range(1, 601)])  # several calls, each with an answer
    await full(True)
    with pytest.raises(Unavailable, match="after 0 of 2 entries"):
        await bus.publish([entry(601), entry(602)])
    await full(False)
    await bus.publish([entry(600), entry(601), entry(602)])
    assert (await redis(settings, "XREVRANGE", await _key(settings), "+", "-", "COUNT", 1))[0][0] == b"602-602"


async def test_after_an_entry_that_is_not_taken_none_is(settings: Settings, bus: RedisPublisher) -> None:
    with pytest.raises(Unavailable, match="after 1 of 3 entries"):
        await bus.publish([entry(1), msgspec.structs.replace(entry(2), xid=-1), entry(3)])
    assert await told(settings) == 1


async def test_a_call_that_redis_refuses_is_unavailable(settings: Settings, bus: RedisPublisher) -> None:
    odd = RedisPublisher(settings.bus_url, shards=2, maxlen=-1)
    await odd.connect("g1")
    with pytest.raises(Unavailable):
        await odd.publish([entry(1)])
    await odd.close()
    with pytest.raises(Unavailable):
        await odd.publish([entry(1)])


async def test_who_connects_anew_or_in_vain_leaves_no_connection_behind(
    settings: Settings, bus: RedisPublisher
) -> None:
    async def connections() -> int:
        return len((await redis(settings, "CLIENT", "LIST", "TYPE", "normal")).splitlines())

    async def are_at_most(count: int) -> bool:
        return await connections() <= count

    before = await connections()
    await bus.connect("g1")
    await eventually(lambda: are_at_most(before))
    await redis(settings, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(Unavailable, match="noeviction"):
            await bus.connect("g1")
    finally:
        await redis(settings, "CONFIG", "SET", "maxmemory-policy", "noeviction")
    await eventually(lambda: are_at_most(before - 1))


async def _key(settings: Settings) -> str:
    [key] = [key for shard in range(2) if await redis(settings, "EXISTS", key := stream_key("g1", shard))]
    return key
