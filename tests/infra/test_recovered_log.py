"""What is looked at in a recovered log finds each kind of damage."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from infra.postgres.log import PostgresLog
from infra.recovery import looked_at
from infra.settings import Settings
from tests.appends import append, keyed, new_game
from tests.infra.playing import opened_log

GAMES, EVENTS = 2, 3

DAMAGE = {
    "DELETE FROM event WHERE version = 2": "games with holes: 2",
    "DELETE FROM event WHERE version = 3": "receipts without their events: 2",
    "DELETE FROM event": "receipts without their events: 2",
    "UPDATE work SET version = version + 1": "work without its events: 2",
    "UPDATE event SET gseq = 1, xid = '3' WHERE version = 1": "events in one place: 1",
    "UPDATE event SET xid = '999999999' WHERE version = 3": "events ahead of the cluster: 2",
}


@pytest.fixture
async def owner(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute("TRUNCATE event, idempotency, work")
    yield connection
    await connection.close()


@pytest.fixture
async def log(settings: Settings, owner: asyncpg.Connection) -> AsyncIterator[PostgresLog]:
    async with opened_log(settings.database_url) as log:
        for _ in range(GAMES):
            await log.append(append(new_game(), count=EVENTS, request=keyed()))
        yield log


@pytest.mark.usefixtures("log")
async def test_a_whole_log_has_no_faults(settings: Settings) -> None:
    looked = await looked_at(settings.database_url)
    assert (looked.games, looked.events, looked.faults) == (GAMES, GAMES * EVENTS, [])


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(("damage", "found"), DAMAGE.items())
async def test_damage_is_found(settings: Settings, owner: asyncpg.Connection, damage: str, found: str) -> None:
    await owner.execute(damage)
    assert found in (await looked_at(settings.database_url)).faults
