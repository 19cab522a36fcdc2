"""Migrations: once each, forward only, safe at the same time."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

import asyncpg
import pytest

from infra import migrations
from infra.embedded.engines import Engines
from infra.migrations import MigrationChanged, migrate
from infra.postgres.database import Database
from infra.postgres.work import PostgresWork
from services.ids import new_uuid, public_id
from tests.engines import database_url, eventually
from tests.infra.schema import GOLDEN, describe

FILES = [
    "0001_event_store.sql",
    "0002_read_models.sql",
    "0003_forgetting.sql",
    "0004_archive.sql",
    "0005_append_types.sql",
    "0006_invites.sql",
    "0007_tokens.sql",
    "0008_operators.sql",
    "0009_ratings.sql",
    "0010_webhooks.sql",
    "0011_schema_book.sql",
    "0012_tickets.sql",
    "0013_stream_tickets.sql",
    "0014_bounds.sql",
    "0015_ended_tokens.sql",
    "0016_resting_webhooks.sql",
    "0017_told_faults.sql",
    "0018_bounds_at_once.sql",
]

_numbers = itertools.count(1)


@pytest.fixture
async def empty(engines: Engines) -> AsyncIterator[str]:
    """The URL of a database without any table."""
    name = f"empty_{next(_numbers)}"
    async with connected(engines.postgres.url) as connection:
        await connection.execute(f"CREATE DATABASE {name}")
        yield database_url(engines, name)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def test_an_empty_database_gets_the_golden_schema(empty: str) -> None:
    assert await migrate(empty) == FILES
    assert await describe(empty) == GOLDEN.read_text(), "see tests/infra/schema.py"


async def test_migrating_again_changes_nothing(empty: str) -> None:
    await migrate(empty)
    assert await migrate(empty) == []


async def test_several_at_once_are_safe(empty: str) -> None:
    applied = await asyncio.gather(*(migrate(empty) for _ in range(5)))
    assert sorted(map(len, applied)) == [0, 0, 0, 0, len(FILES)]


async def test_a_migration_that_was_changed_is_refused(empty: str) -> None:
    await migrate(empty)
    async with connected(empty) as connection:
        await connection.execute("UPDATE schema_migration SET sha256 = 'other'")
    with pytest.raises(MigrationChanged, match=r"0001_event_store\.sql was applied .* with other content"):
        await migrate(empty)


async def test_for_a_long_reader_it_waits_in_short_turns_between_which_others_go_on(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "_LOCK_MS", 200)
    monkeypatch.setattr(migrations, "_PAUSE_S", 0.05)
    await migrate(empty)
    async with connected(empty) as dump, connected(empty) as other:
        await other.execute(
            "ALTER TABLE webhook DROP COLUMN rests_until; DELETE FROM schema_migration WHERE name ~ '^0016'"
        )
        async with dump.transaction():
            await dump.fetch("SELECT FROM webhook")
            migrating = asyncio.create_task(migrate(empty))
            await eventually(lambda: other.fetchval("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted"))
            assert await other.fetchval("SELECT count(*) FROM webhook", timeout=5) == 0
            assert not migrating.done()
        assert await migrating == ["0016_resting_webhooks.sql"]


async def test_the_clock_says_so_where_events_lie_in_the_default_partition(
    empty: str, caplog: pytest.LogCaptureFixture
) -> None:
    await migrate(empty)
    database = Database(empty, size=1, name="test")
    await PostgresWork(database).keep_up()
    assert caplog.text == ""
    await database.run(
        "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
        "VALUES ($1, 1, 1, 1, 1, 0, $1, '')",
        game := UUID(int=1),
    )
    await PostgresWork(database).keep_up()
    assert f"event_default holds events, those of {public_id('gam', game)}" in caplog.text
    await database.close()


async def test_the_log_is_partitioned_by_the_months_of_its_games(empty: str) -> None:
    await migrate(empty)
    async with connected(empty) as connection:
        assert await connection.fetchval("SELECT make_event_partitions(5)") == 3
        assert await connection.fetchval("SELECT make_event_partitions(5)") == 0
        for game in (new_uuid(), UUID(int=1)):
            await connection.execute(
                "INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload) "
                "VALUES ($1, 1, 1, 1, 1, 0, $1, '')",
                game,
            )
        places = await connection.fetch("SELECT tableoid::regclass::text FROM event ORDER BY game_id")
    assert [place for (place,) in places] == ["event_default", f"event_{datetime.now(UTC):%Y_%m}"]


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()
