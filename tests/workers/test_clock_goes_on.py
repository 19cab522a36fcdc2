"""A clock process whom the database answers what nobody has foreseen: it goes on, and does its work when it can."""

import asyncio
import logging

import asyncpg
import pytest

import workers.clock
from domain.ruleset import Players
from infra.bus.wire import Wire
from infra.jobs import QUEUE
from infra.settings import Settings
from infra.wiring import Services
from services.ports import Work
from tests.appends import append, new_game
from tests.engines import eventually
from tests.infra.quick_match import ask, nobody_waits
from workers.clock import clock

pytestmark = pytest.mark.xdist_group("processes")


async def test_a_table_that_is_gone_ends_neither_the_sweep_nor_the_search_for_tables(
    services: Services, settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers.clock, "_RETRY_UNKNOWN_S", 0.05)
    owner = await asyncpg.connect(settings.database_url)
    for table in ("match_ticket", "work"):
        await owner.execute(f"ALTER TABLE {table} RENAME TO {table}_away")
    running = asyncio.create_task(clock(settings))
    with caplog.at_level(logging.ERROR, "workers.clock"):
        for line in ("tables are found later: UndefinedTableError", "the work list waits: UndefinedTableError"):
            await eventually(lambda line=line: _is_logged(caplog, line))  # type: ignore[misc]
    for table in ("match_ticket", "work"):
        await owner.execute(f"ALTER TABLE {table}_away RENAME TO {table}")
    await owner.close()
    for _ in range(2):
        await ask(services.tickets, services.accounts, Players(2, 2))
    await services.log.append(append(new_game(), work=Work("bots", 0)))
    await eventually(lambda: nobody_waits(services.tickets))
    await eventually(lambda: _is_something_handed_out(settings))
    running.cancel()
    await asyncio.wait({running})
    assert running.cancelled()


async def _is_logged(caplog: pytest.LogCaptureFixture, line: str) -> bool:
    return any(message.startswith(line) for message in caplog.messages)


async def _is_something_handed_out(settings: Settings) -> bool:
    wire = await Wire.open(settings.bus_url)
    waiting: int = await wire.call("LLEN", QUEUE)
    await wire.close()
    return waiting > 0
