"""Relays that die, hang or work side by side: one leads, nothing is lost, nothing comes twice."""

import asyncio
import signal
from functools import partial

import asyncpg
import pytest

from infra.postgres import leading
from infra.postgres.leading import RELAY_LOCK, Superseded
from infra.postgres.relay import leading_relay
from infra.settings import Settings
from infra.wiring import Services
from services.memory import MemoryJobs
from services.ports import Unavailable, Work
from tests.appends import append, new_game
from tests.engines import eventually
from tests.infra.dying_relay import STEPS
from tests.infra.telling import cut_off, has_told, has_told_so_many, in_order, relaying, told, write
from tests.processes import server

pytestmark = [pytest.mark.usefixtures("owner", "empty_bus"), pytest.mark.xdist_group("relay")]


async def test_of_two_relays_one_leads(own_settings: Settings) -> None:
    async with leading_relay(own_settings.database_url) as leader:
        second = asyncio.create_task(_take_lead(own_settings))
        done, _ = await asyncio.wait([second], timeout=0.6)
        assert not done
        await leader.save((7, 7))
    assert await second == (7, 7)


async def test_two_relays_lose_and_double_nothing_while_the_lock_is_cut_off_them(
    own_settings: Settings, services: Services, owner: asyncpg.Connection
) -> None:
    written: list[tuple[str, int]] = []
    with server("workers.relay", own_settings), server("workers.relay", own_settings):
        await eventually(lambda: _leads(owner))
        for _ in range(4):
            writing = asyncio.create_task(write(services, games=10, appends=5))
            await eventually(lambda: _leads(owner))
            await cut_off(owner, "shanghai relay")
            written += await writing
        await eventually(lambda: has_told(own_settings, written))
    now = await told(own_settings)
    assert len(now) == len(written)
    assert now == in_order(now)


async def test_a_leader_that_hangs_is_replaced(own_settings: Settings) -> None:
    assert leading._LEADER["idle_session_timeout"] == "5s"
    async with leading_relay(own_settings.database_url) as hung:
        await hung._session.fetch("SET idle_session_timeout = '300ms'")
        assert await _take_lead(own_settings) is not None
        with pytest.raises(Unavailable):
            await hung.save((9, 9))


@pytest.mark.parametrize("step", STEPS)
async def test_a_relay_killed_at_any_step_loses_and_doubles_nothing(
    own_settings: Settings, services: Services, step: str
) -> None:
    games = [new_game() for _ in range(6)]
    for after in range(3):
        await asyncio.gather(*(services.log.append(append(game, after, work=Work("bots", 5_000))) for game in games))
    with server("tests.infra.dying_relay", own_settings, step) as dying:
        await eventually(lambda: dying.poll() is not None)
        assert dying.returncode == -signal.SIGKILL
    jobs = MemoryJobs()
    async with relaying(own_settings, jobs):
        written = [(game, version) for version in (1, 2, 3) for game in games]
        await eventually(lambda: has_told(own_settings, written))
        if step != "saved":  # then they have been handed out before
            await eventually(lambda: set(jobs.handed_out) == set(games))
    now = await told(own_settings)
    assert len(now) == len(written)
    assert now == in_order(now)


async def test_a_superseded_relay_cannot_save_its_checkpoint(own_settings: Settings, owner: asyncpg.Connection) -> None:
    async with leading_relay(own_settings.database_url) as old:
        await owner.execute("UPDATE relay_checkpoint SET epoch = epoch + 1")
        with pytest.raises(Superseded):
            await old.save((9, 9))


async def test_a_killed_relay_leaves_no_gap(own_settings: Settings, services: Services) -> None:
    written: list[tuple[str, int]] = []
    for times in range(1, 3):
        with server("workers.relay", own_settings):
            written += await write(services, games=5, appends=4)
            await eventually(partial(has_told_so_many, own_settings, times * 80 - 40))
            written += await write(services, games=5, appends=4)
    with server("workers.relay", own_settings):
        await eventually(lambda: has_told(own_settings, written))
    assert len(await told(own_settings)) == len(written)


async def _take_lead(settings: Settings) -> tuple[int, int]:
    async with leading_relay(settings.database_url) as log:
        return await log.checkpoint()


async def _leads(owner: asyncpg.Connection) -> bool:
    lock = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = $1"
    return bool(await owner.fetchval(lock, RELAY_LOCK))
