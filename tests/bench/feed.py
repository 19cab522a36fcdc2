"""How fast events come from the log to Redis and to streams: `python -m tests.bench.feed`. One line a goal."""

import asyncio
import logging
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from pathlib import Path

import asyncpg
import redis as redis_py
import uvloop
from msgspec.structs import replace

from infra.bus.wire import Wire
from infra.embedded.engines import embedded_services
from infra.migrations import migrate
from infra.postgres.relay import leading_relay
from infra.settings import Settings, environment
from infra.wiring import open_services
from services.ports import FeedEntry
from services.relay import BATCH, LogEntry
from tests.appends import append, new_game
from tests.bench.goals import report
from tests.bench.listeners import listening, my_stream_request, stream_request
from tests.bench.moves import Pair, play_one, running, seated
from tests.bench.wire import wire
from tests.engines import eventually, settings_of
from tests.infra.telling import redis, relaying

RUNS = 5
TOO_WIDE = 0.25  # a peer that varies more than this is no measure
EVENTS = 100_000
PER_APPEND = 3
PAYLOAD = 120  # bytes, as most events of a game have
PACE_S = 0.002  # 500 events a second
PACED = 2_500
TRIPS = 1_000
TABLES, STREAMS = 250, 4
EVENTS_PER_S = 100.0  # at all tables together
EVENTS_PER_MOVE = 2.0  # half of the moves draw, the other half end a turn
MOVES = 600
SETTLED_S = 1.5
GAMES = 250  # in the log that is drained

_OCCURRED = re.compile(rb'"occurred_at": ?"([^"]*)"')
_EVENTS = """
INSERT INTO event (game_id, version, type, schema, actor, round, ordinal, command_id, payload, xid, gseq)
SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(game), 12, '0'))::uuid, version, 19, 1, 1, 1, version % $3,
    gen_random_uuid(), convert_to(repeat('x', $4), 'utf8'), (version / $3 * $2 + game)::text::xid8,
    nextval('event_gseq')
FROM generate_series(1, $1) AS version, generate_series(1, $2) AS game
ORDER BY version, game
"""
_COUNT_UP = """
DO $$ BEGIN WHILE pg_current_xact_id()::text::bigint <= {last} LOOP COMMIT; END LOOP; END $$
"""


def main() -> None:
    """Measures everything and prints a line for each goal."""
    logging.disable(logging.WARNING)
    with embedded_services() as engines:
        settings = replace(settings_of(engines, engines.postgres.url), bus_maxlen=2 * EVENTS)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_fill(settings))
            runner.run(_measure_drain(settings))
            runner.run(_measure_latency(settings))
    with tempfile.TemporaryDirectory(prefix="shanghai-bench-") as folder, running(Path(folder)) as (base_url, _):
        report_streams(base_url)


def report_streams(base_url: str) -> None:
    """Prints how late events are at many tables with some streams each: of the game, then of its people."""
    pairs = seated(base_url, TABLES)
    requests = [
        stream_request(pair.game_id, pair.tokens[number % len(pair.tokens)], pair.decision.split("-")[1])
        for pair in pairs
        for number in range(STREAMS)
    ]
    report_late("commit_to_stream", asyncio.run(_commit_to_stream_ms(base_url, pairs, requests)))
    pairs = [pair for _ in range(TABLES) for pair in seated(base_url, 1)]  # each with people of its own
    requests = [
        my_stream_request(pair.tokens[number % len(pair.tokens)]) for pair in pairs for number in range(STREAMS)
    ]
    report_late("commit_to_me_stream", asyncio.run(_commit_to_stream_ms(base_url, pairs, requests)))


def report_late(name: str, late_ms: list[float]) -> None:
    """Prints the goals of a stream: its median, and what all but a hundredth keep to."""
    late_ms.sort()
    report(f"{name}_p50", statistics.median(late_ms), 10, "ms")
    report(f"{name}_p99", late_ms[len(late_ms) * 99 // 100], 50, "ms")


async def _measure_drain(settings: Settings) -> None:
    """Drains the whole log into Redis, and in turn lets redis-py's pipeline add the same entries from memory."""
    entries = await _all_entries(settings)
    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(await _drain_s(settings))
        theirs.append(await asyncio.to_thread(_redis_py_s, settings, entries))
    is_noisy = (max(theirs) - min(theirs)) / statistics.median(theirs) > TOO_WIDE
    ratio = statistics.median(their / our for our, their in zip(ours, theirs, strict=True))
    report("relay_drain", EVENTS / statistics.median(ours), 100_000, "/s", better="more", noisy=is_noisy)
    report("relay_drain_to_redis_py_pipeline", ratio, 1, "x", better="more", noisy=is_noisy)
    await _drain_s(settings, is_again=True)
    report("redelivered_duplicates", await _length(settings) - EVENTS, 0, "")


async def _drain_s(settings: Settings, *, is_again: bool = False) -> float:
    """Times a relay from the first position to the last, its start included; is_again: the bus has everything."""
    if not is_again:
        await redis(settings, "FLUSHALL")
    owner = await asyncpg.connect(settings.database_url)
    await owner.execute("UPDATE relay_checkpoint SET xid = '0', gseq = 0")
    last = await owner.fetchrow("SELECT xid, gseq FROM event ORDER BY xid DESC, gseq DESC LIMIT 1")
    began = time.perf_counter()
    async with relaying(settings):
        while is_again or await _length(settings) < EVENTS:
            if is_again and await owner.fetchrow("SELECT xid, gseq FROM relay_checkpoint") == last:
                break
            await asyncio.sleep(0.01)
        took = time.perf_counter() - began
    await owner.close()
    return took


def _redis_py_s(settings: Settings, entries: Sequence[LogEntry]) -> float:
    with redis_py.Redis.from_url(settings.bus_url) as client:
        client.flushall()
        began = time.perf_counter()
        for start in range(0, len(entries), BATCH):
            pipeline = client.pipeline(transaction=False)
            for entry in entries[start : start + BATCH]:
                pipeline.xadd("peer", {b"e": entry.told}, id=f"{entry.xid}-{entry.gseq}", maxlen=2 * EVENTS)
            pipeline.execute()
        return time.perf_counter() - began


async def _measure_latency(settings: Settings) -> None:
    """Appends one event every two milliseconds; times each until it comes over the bus to a reader that waits."""
    trips = sorted(await _round_trips_s(settings))
    with _relay_process(settings):
        late = sorted(await _commit_to_bus_s(settings))
    trips = sorted(trips + await _round_trips_s(settings))
    trip, spread = statistics.median(trips), _spread(trips)
    report("commit_to_bus_p50", statistics.median(late) / trip, 3, "x", noisy=spread > TOO_WIDE)
    report("commit_to_bus_p90", late[len(late) * 9 // 10] / trip, 8, "x", noisy=spread > TOO_WIDE)


async def _commit_to_bus_s(settings: Settings) -> list[float]:
    """Gives the seconds from each append's return to the sight of its event."""
    committed: dict[str, float] = {}
    seen: dict[str, float] = {}
    async with open_services(settings) as services, _reading(services.bus.entries(), seen):
        while not seen:  # the relay starts, the reader too
            await services.log.append(append(new_game()))
            await asyncio.sleep(0.05)
        begun = time.perf_counter()

        async def write(game: str) -> None:
            await services.log.append(append(game))
            committed[game] = time.perf_counter()

        async with asyncio.TaskGroup() as group:
            for number in range(PACED):
                await asyncio.sleep(max(0.0, begun + number * PACE_S - time.perf_counter()))
                group.create_task(write(new_game()))
        await eventually(lambda: _are_all(committed, seen))
    return [max(0.0, seen[game] - at) for game, at in committed.items()]


async def _are_all(committed: dict[str, float], seen: dict[str, float]) -> bool:
    return committed.keys() <= seen.keys()


@asynccontextmanager
async def _reading(batches: AsyncIterator[list[FeedEntry]], seen: dict[str, float]) -> AsyncIterator[None]:
    """Notes when each game's event came over the bus."""

    async def read() -> None:
        async for batch in batches:
            now = time.perf_counter()
            seen.update((entry.game_id, now) for entry in batch)

    reading = asyncio.create_task(read())
    yield
    reading.cancel()
    await asyncio.wait([reading])


async def _round_trips_s(settings: Settings) -> list[float]:
    """Times one SELECT and one XADD after each other, with nothing else going on."""
    database, wire = await asyncpg.connect(settings.database_url), await Wire.open(settings.bus_url)
    times = []
    for _ in range(TRIPS):
        began = time.perf_counter()
        await database.fetch("SELECT 1")
        await wire.call("XADD", "trips", "*", "e", b"x" * PAYLOAD)
        times.append(time.perf_counter() - began)
    await database.close()
    await wire.close()
    return times


@contextmanager
def _relay_process(settings: Settings) -> Iterator[None]:
    variables = {
        "SHANGHAI_DATABASE_URL": settings.database_url,
        "SHANGHAI_REDIS_URL": settings.bus_url,
        "SHANGHAI_BUS_MAXLEN": str(settings.bus_maxlen),
        "SHANGHAI_SECRET_KEY": settings.secret_key.hex(),
    }
    process = subprocess.Popen([sys.executable, "-m", "workers.relay"], env=environment(variables))
    try:
        yield
    finally:
        process.terminate()
        process.wait()


async def _commit_to_stream_ms(base_url: str, pairs: list[Pair], requests: list[bytes]) -> list[float]:
    """Plays at many tables at once while streams are open; gives the time from each event's own to each sight of it."""
    late: list[float] = []

    def hear(_: int, told: bytes) -> None:
        """Compares the events' times with now; both are this machine's."""
        now = time.time()
        late.extend((now - datetime.fromisoformat(at.decode()).timestamp()) * 1000 for at in _OCCURRED.findall(told))

    loop = asyncio.get_running_loop()
    async with wire(base_url) as line, listening(base_url, requests, hear):
        await asyncio.sleep(SETTLED_S)
        late.clear()
        begun = loop.time()
        for number in range(MOVES):
            await asyncio.sleep(max(0.0, begun + number * EVENTS_PER_MOVE / EVENTS_PER_S - loop.time()))
            await play_one(pairs[number % len(pairs)], line)
        await asyncio.sleep(SETTLED_S)
    return late


async def _fill(settings: Settings) -> None:
    """Writes events of many games in appends of a few, in the order of their transactions."""
    await migrate(settings.database_url)
    owner = await asyncpg.connect(settings.database_url)
    await owner.execute(_EVENTS, EVENTS // GAMES, GAMES, PER_APPEND, PAYLOAD)
    await owner.execute("INSERT INTO work SELECT game_id, version, 0, 'infinity' FROM event WHERE ordinal = $1", 0)
    last = await owner.fetchval("SELECT max(xid::text::bigint) FROM event")
    await owner.execute(_COUNT_UP.format(last=last))
    await owner.close()


async def _all_entries(settings: Settings) -> list[LogEntry]:
    async with leading_relay(settings.database_url) as log:
        return await log.batch((0, 0), EVENTS)


async def _length(settings: Settings) -> int:
    """Counts what the bus holds."""
    return sum([await redis(settings, "XLEN", key) for key in await redis(settings, "KEYS", "es:*")])


def _spread(times: Sequence[float]) -> float:
    """From a tenth to nine tenths of the times, as a share of the median."""
    ordered = sorted(times)
    return (ordered[len(ordered) * 9 // 10] - ordered[len(ordered) // 10]) / statistics.median(ordered)


if __name__ == "__main__":
    main()
