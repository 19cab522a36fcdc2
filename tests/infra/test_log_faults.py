"""The event store while its connections, its server or its callers go away."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

import asyncpg
import pytest

from infra.embedded.engines import Engines
from infra.postgres.database import Database, NotDone
from infra.postgres.lane import Lane
from infra.postgres.leading import leading
from infra.postgres.log import PostgresLog
from infra.settings import Settings
from services.ids import public_id
from services.ports import KeyUsed, Unavailable, VersionConflict
from tests.appends import append, keyed, new_game
from tests.engines import database_url, eventually
from tests.infra.cut_wire import CutWire
from tests.infra.playing import opened_log
from tests.wire import opened

_BLOCKED = "FROM pg_locks WHERE NOT granted AND relation = 'event'::regclass"


@pytest.fixture
async def wire(settings: Settings) -> AsyncIterator[CutWire]:
    async with opened(CutWire(), settings.database_url) as wire:
        yield wire


@pytest.fixture
async def database(wire: CutWire) -> AsyncIterator[Database]:
    database = Database(wire.url, size=4, name="test")
    yield database
    await database.close()


@pytest.fixture
async def lane(wire: CutWire) -> AsyncIterator[Lane]:
    async with opened_lane(wire.url) as lane:
        yield lane


@pytest.fixture
async def log(database: Database, lane: Lane) -> PostgresLog:
    return PostgresLog(database, lane)


@asynccontextmanager
async def opened_lane(url: str) -> AsyncIterator[Lane]:
    lane = Lane(url, name="test append")
    try:
        yield lane
    finally:
        await lane.close()


@asynccontextmanager
async def held_up(outsider: asyncpg.Connection) -> AsyncIterator[None]:
    """Lets nobody write events until the block ends."""
    async with outsider.transaction():
        await outsider.execute("LOCK TABLE event IN SHARE MODE")
        yield


async def is_held_up(outsider: asyncpg.Connection) -> None:
    """Waits for a writer who stands before the lock."""
    await eventually(lambda: outsider.fetch(f"SELECT {_BLOCKED}"))


async def test_a_writer_whose_answer_was_lost_learns_that_it_has_written(wire: CutWire, log: PostgresLog) -> None:
    game = new_game()
    await log.append(append(game))
    wire.swallow_answers = 1
    at = await log.append(append(game, 1, count=3, request=keyed()))
    assert wire.swallowed == 1
    assert [recorded.occurred_at for recorded in await log.read(game, 1)] == [at, at, at]


async def test_all_whose_common_answer_was_lost_learn_what_became_of_them(wire: CutWire, log: PostgresLog) -> None:
    games = [new_game() for _ in range(10)]
    await asyncio.gather(*(log.append(append(game)) for game in games))
    wire.swallow_answers = 1
    appends = [append(game, 1, count=2, request=keyed()) for game in games[:8]]
    late, repeated = append(games[8], 0), append(games[0], 1, count=2, request=keyed())
    results = await asyncio.gather(*map(log.append, (*appends, late, repeated)), return_exceptions=True)
    assert wire.swallowed == 1
    assert [type(result) for result in results] == [datetime] * 8 + [VersionConflict, KeyUsed]
    for game, at in zip(games[:8], results, strict=False):
        assert [recorded.occurred_at for recorded in await log.read(game, 1)] == [at, at]


async def test_a_writer_whose_answer_was_lost_is_still_told_that_it_was_late(wire: CutWire, log: PostgresLog) -> None:
    game = new_game()
    await log.append(append(game, count=2))
    wire.cut()
    with pytest.raises(VersionConflict):
        await log.append(append(game, 1))
    with pytest.raises(VersionConflict):
        await log.append(append(game, 0, request=keyed("new")))


async def test_reads_outlive_a_cut_connection(wire: CutWire, log: PostgresLog) -> None:
    game = new_game()
    await log.append(append(game, count=2))
    for _ in range(3):
        wire.cut()
        assert len(await log.read(game)) == 2


async def test_an_append_is_sent_again_when_its_session_was_killed(
    log: PostgresLog, outsider: asyncpg.Connection
) -> None:
    game = new_game()
    await log.append(append(game))
    async with held_up(outsider):
        writing = asyncio.create_task(log.append(append(game, 1, count=3)))
        await is_held_up(outsider)
        await outsider.fetch(f"SELECT pg_terminate_backend(pid) {_BLOCKED}")
    await writing
    assert [recorded.version for recorded in await log.read(game)] == [1, 2, 3, 4]


async def test_without_a_server_everything_is_unavailable_at_once() -> None:
    before = time.monotonic()
    async with opened_log("postgresql://postgres@/none?host=/nowhere") as log:
        with pytest.raises(Unavailable):
            await log.read(new_game())
        with pytest.raises(NotDone):
            await log.append(append(new_game()))
    assert time.monotonic() - before < 4  # an append that may have been carried out is sent again for 5 s


async def test_before_the_first_migration_everything_is_unavailable(own_engines: Engines) -> None:
    async with opened_log(database_url(own_engines, "not_yet")) as log:
        with pytest.raises(Unavailable):
            await log.read(new_game())
        with pytest.raises(NotDone):
            await log.append(append(new_game()))
    with pytest.raises(Unavailable):
        async with leading(own_engines.postgres.url, 1, name="test"):
            """Is never reached."""


async def test_a_cancelled_writer_leaves_its_append_to_its_end(
    database: Database, lane: Lane, outsider: asyncpg.Connection
) -> None:
    log, game, waiting = PostgresLog(database, lane), new_game(), new_game()
    async with held_up(outsider):
        sent = asyncio.create_task(log.append(append(game, count=3)))
        await is_held_up(outsider)
        not_sent = asyncio.create_task(log.append(append(waiting)))
        await asyncio.sleep(0)
        for writing in (sent, not_sent):
            writing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await writing
    await lane.settle()
    assert await log.heads([game, waiting]) == {game: 3}


@pytest.mark.parametrize("first_byte", [None, 0x00, 0x7F])
async def test_conflicts_are_told_apart_in_every_partition(log: PostgresLog, first_byte: int | None) -> None:
    """Of this month, and of times that have no partition of their own."""
    game = new_game() if first_byte is None else public_id("gam", UUID(bytes=bytes([first_byte]) + bytes(15)))
    await log.append(append(game, 0, count=2, request=keyed("k1")))
    with pytest.raises(VersionConflict):
        await log.append(append(game, 1))
    with pytest.raises(KeyUsed):
        await log.append(append(game, 2, request=keyed("k1")))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET payload = ''",
        "DELETE FROM event",
        "TRUNCATE event",
        "DELETE FROM idempotency",
        "UPDATE idempotency SET status = 200",
        "DELETE FROM game_secret",
        "DELETE FROM reservation",
        "DROP TABLE work",
        "CREATE TABLE mine ()",
    ],
)
async def test_the_application_may_do_no_more_than_it_needs(database: Database, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.run(statement)


async def test_a_statement_cannot_hang(database: Database) -> None:
    [[statement_timeout]] = await database.fetch("SHOW statement_timeout")
    [[transaction_timeout]] = await database.fetch("SHOW idle_in_transaction_session_timeout")
    assert (statement_timeout, transaction_timeout) == ("5s", "2s")
