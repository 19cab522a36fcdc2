"""A relay at work in the test's own loop, what it is given to tell, and what the bus holds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
from msgspec import Struct

from infra.bus.entries import decode_entry
from infra.bus.publisher import RedisPublisher
from infra.bus.wire import Wire
from infra.postgres.relay import leading_relay
from infra.settings import Settings
from infra.wiring import Services
from services.handouts import HandOuts
from services.memory import MemoryJobs
from services.relay import Relay
from tests.appends import append, new_game


class Working(Struct):
    """A relay and how often it has looked at the log."""

    task: asyncio.Task[None]
    looks: int = 0

    def looked(self) -> None:
        self.looks += 1


@asynccontextmanager
async def relaying(settings: Settings, jobs: MemoryJobs | None = None) -> AsyncIterator[Working]:
    """Relays until the block ends; a relay that has failed says so there."""
    hand_outs = HandOuts(jobs or MemoryJobs())
    handing_out = asyncio.create_task(hand_outs.run())
    bus = RedisPublisher(settings.bus_url, shards=settings.bus_shards, maxlen=settings.bus_maxlen)
    working: Working

    async def work() -> None:
        async with leading_relay(settings.database_url) as log:
            await Relay(log, bus, hand_outs, working.looked).run()

    working = Working(asyncio.create_task(work()))
    try:
        yield working
    finally:
        working.task.cancel()
        handing_out.cancel()
        await asyncio.wait([working.task, handing_out])
        await bus.close()
    if not working.task.cancelled():
        working.task.result()


async def told(settings: Settings) -> list[tuple[str, int]]:
    """Reads game and version of all entries that the bus holds, stream by stream, in order."""
    wire = await Wire.open(settings.bus_url)
    try:
        entries = [
            decode_entry(fields[1])
            for key in sorted(await wire.call("KEYS", "es:*"))
            for _, fields in await wire.call("XRANGE", key, "-", "+")
        ]
        return [(entry.game_id, entry.version) for entry in entries]
    finally:
        await wire.close()


async def redis(settings: Settings, *command: str | int) -> Any:
    """Sends one command to the bus's Redis."""
    return await call(settings.bus_url, *command)


async def is_listened_to(settings: Settings) -> bool:
    """Tells whether somebody waits at the bus for news."""
    return b"blocked_clients:0" not in await redis(settings, "INFO", "clients")


async def call(url: str, *command: str | int | bytes) -> Any:
    """Sends one command to a Redis."""
    wire = await Wire.open(url)
    try:
        return await wire.call(*command)
    finally:
        await wire.close()


async def write(services: Services, games: int, appends: int = 1) -> list[tuple[str, int]]:
    """Appends two events at a time to new games; gives all games and versions."""
    names = [new_game() for _ in range(games)]
    for after in range(0, appends * 2, 2):
        await asyncio.gather(*(services.log.append(append(game, after, count=2)) for game in names))
    return [(game, version) for game in names for version in range(1, appends * 2 + 1)]


async def has_told(settings: Settings, written: list[tuple[str, int]]) -> bool:
    """Tells whether the bus holds all of these."""
    return set(written) <= set(await told(settings))


async def has_told_so_many(settings: Settings, count: int) -> bool:
    """Tells whether the bus holds so many entries."""
    return len(await told(settings)) >= count


def in_order(entries: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Gives the same entries with each game's versions in order, and no version twice."""
    versions = {game: iter(sorted({version for name, version in entries if name == game})) for game, _ in entries}
    return [(game, next(versions[game], 0)) for game, _ in entries]


async def cut_off(owner: asyncpg.Connection, name: str) -> None:
    """Ends the connections to Postgres that have this name."""
    await owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", name)
