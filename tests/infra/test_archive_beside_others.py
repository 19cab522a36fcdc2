"""While a month is archived or restored nobody is kept waiting for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from infra.postgres import archive as archiving
from infra.postgres.archive import archive, restore
from infra.postgres.database import Database
from infra.postgres.work import PostgresWork
from infra.settings import Settings
from infra.wiring import Services, open_services
from services.ids import new_uuid, public_id
from tests.engines import eventually
from tests.infra.afresh import services, settings
from tests.infra.months import MONTH, month, owner, write

__all__ = ["month", "owner", "services", "settings"]

A_SECOND = 100  # looks, one each ten milliseconds at the most; on a machine that stands still nobody looks
LOOKS = 120


async def test_no_step_holds_back_the_relay_or_the_writers_for_a_second(
    settings: Settings, services: Services, owner: asyncpg.Connection, month: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Somebody reads the log; meanwhile a month is archived, then restored, and a partition is to be made."""
    monkeypatch.setattr(archiving, "_ROWS_AT_ONCE", 200)
    monkeypatch.setattr(archiving, "_PAUSE_S", 0.2)
    [[last]] = await owner.fetch("SELECT max(relname) FROM pg_class WHERE relname ~ '^event_[0-9]{4}_[0-9]{2}$'")
    async with watched(settings) as longest:
        for step in (
            archive(settings.database_url, MONTH, tmp_path),
            restore(settings.database_url, tmp_path / f"events-{MONTH}.json"),
        ):
            async with reading(settings):
                working, looks = asyncio.create_task(step), longest["looks"]
                await eventually(lambda looks=looks: longest["looks"] > looks + LOOKS)  # type: ignore[misc]
                assert not working.done()
            await asyncio.wait_for(working, 20)
        await owner.execute(f"DROP TABLE {last}")
        database = Database(settings.database_url, size=1, name="test")
        async with reading(settings):
            assert await PostgresWork(database).make_partitions() == 0
        assert await PostgresWork(database).make_partitions() == 1
        await database.close()
    assert longest["barrier"] < A_SECOND, longest
    assert longest["append"] < A_SECOND, longest


@asynccontextmanager
async def reading(settings: Settings) -> AsyncIterator[None]:
    """Holds a lock on the whole log as a dump does."""
    connection = await asyncpg.connect(settings.database_url)
    transaction = connection.transaction()
    await transaction.start()
    await connection.fetch("SELECT count(*) FROM event")
    try:
        yield
    finally:
        await transaction.rollback()
        await connection.close()


@asynccontextmanager
async def watched(settings: Settings) -> AsyncIterator[dict[str, float]]:
    """Counts the most looks that one transaction held the relay's barrier for, and that an append took."""
    longest = {"barrier": 0.0, "append": 0.0, "looks": 0.0}

    async def watch_barrier(connection: asyncpg.Connection) -> None:
        held, looks = None, 0
        while True:
            now = await connection.fetchval(
                "SELECT CASE WHEN pg_snapshot_xmin(s) < pg_snapshot_xmax(s) THEN pg_snapshot_xmin(s) END "
                "FROM pg_current_snapshot() AS s"
            )
            held, looks = now, looks + 1 if now is not None and now == held else 0
            longest["barrier"] = max(longest["barrier"], looks)
            longest["looks"] += 1
            await asyncio.sleep(0.01)

    async def append() -> None:
        async with open_services(settings) as services:
            while True:
                begun = longest["looks"]
                await write(services, public_id("gam", new_uuid()), seed=1)
                longest["append"] = max(longest["append"], (longest["looks"] - begun) / 6)
                await asyncio.sleep(0.01)

    connection = await asyncpg.connect(settings.database_url)
    tasks = [asyncio.create_task(watch_barrier(connection)), asyncio.create_task(append())]
    try:
        yield longest
    finally:
        for task in tasks:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        await connection.close()
        assert all(isinstance(one, asyncio.CancelledError) for one in done), done
