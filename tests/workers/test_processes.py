"""Worker, relay, clock and projector as processes, and what becomes of the work when they die."""

import os
import signal
from base64 import b64encode
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import pytest

from infra.bus.wire import Wire
from infra.embedded.engines import short_folder
from infra.embedded.valkey import start_redis
from infra.jobs import QUEUE, CeleryJobs, ClosableJobs, RedisJobs
from infra.postgres.database import Database
from infra.postgres.leading import CLOCK_LOCK
from infra.presence import BELIEVED_MS, Presence, key_of, reporting
from infra.settings import Settings
from infra.wiring import Services, open_services
from services.ports import Unavailable, Work
from tests.appends import append, new_game
from tests.engines import eventually, with_redis
from tests.infra.telling import redis
from tests.processes import Process, server
from tests.stack_watching import descendants, is_running
from tests.workers.tables import head, started_game

pytestmark = pytest.mark.xdist_group("processes")

Start = Callable[[str], Process]
WORKER = "workers"
EVERYBODY = (WORKER, "workers.relay", "workers.clock", "workers.projector")


@pytest.mark.parametrize("client", [RedisJobs, CeleryJobs])
async def test_a_worker_does_a_job_from_either_client(
    services: Services, settings: Settings, start: Start, client: Callable[[str], ClosableJobs]
) -> None:
    start(WORKER)
    game, jobs = await started_game(services), client(settings.broker_url)
    before = await head(services, game)
    await jobs.hand_out(game)
    await eventually(lambda: has_moved(services, game, before))
    dealt = await head(services, game)
    await jobs.hand_out(game)
    await eventually(lambda: has_moved(services, game, dealt))
    await jobs.close()


async def test_jobs_are_done_after_a_pool_process_was_killed(services: Services, start: Start) -> None:
    worker = start(WORKER)
    for _ in range(2):
        game = await started_game(services)
        before = await head(services, game)
        await services.jobs.hand_out(game)
        await eventually(lambda game=game, before=before: has_moved(services, game, before))  # type: ignore[misc]
        for child in descendants(worker.pid):
            os.kill(child, signal.SIGKILL)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the tie between processes is Linux's")
async def test_a_killed_worker_leaves_no_process_behind(services: Services, start: Start) -> None:
    worker = start(WORKER)
    await eventually(lambda: _is_alive(services, "worker"))
    pool = descendants(worker.pid)
    assert pool
    worker.kill()
    await eventually(lambda: not any(map(is_running, pool)))


async def test_a_worker_told_to_stop_ends_well_and_soon(services: Services, start: Start) -> None:
    worker = start(WORKER)
    await eventually(lambda: _is_alive(services, "worker"))
    worker.send_signal(signal.SIGTERM)
    await eventually(lambda: worker.poll() is not None)
    assert worker.returncode == 0


async def test_the_clock_alone_gets_due_work_done_and_tells_that_the_relay_is_down(
    services: Services, start: Start, capfd: pytest.CaptureFixture[str]
) -> None:
    start(WORKER)
    start("workers.clock")
    game = await started_game(services)
    before = await head(services, game)
    await eventually(lambda: has_moved(services, game, before))
    assert "s behind: it is down, or Redis is" in capfd.readouterr().err


async def test_of_several_clocks_one_leads_and_another_takes_over(
    services: Services, settings: Settings, start: Start
) -> None:
    clocks = [start("workers.clock"), start("workers.clock")]
    database = Database(settings.database_url, size=1, name="test")
    for _ in range(2):  # one of them kills the leader
        await eventually(lambda: _clocks_are(database, leading=1, standing_by=1))
        clocks.pop(0).kill()
        game = new_game()
        await services.log.append(append(game, work=Work("bots", 0)))
        await eventually(lambda game=game: _is_handed_out(settings, game))  # type: ignore[misc]
        clocks.append(start("workers.clock"))
    await database.close()


async def test_a_table_of_bots_plays_on_its_own(services: Services, start: Start) -> None:
    for process in EVERYBODY:
        start(process)
    await eventually(lambda: _are_all_alive(services))
    game = await started_game(services)
    await eventually(lambda: has_moved(services, game, 100))


async def test_everybody_comes_back_to_a_broker_that_was_away(settings: Settings) -> None:
    with short_folder() as run, ExitStack() as exits:
        redis = start_redis(run / "redis", run)
        other = with_redis(settings, redis.url)
        for process in EVERYBODY:
            exits.enter_context(server(process, other))
        async with open_services(other) as services:
            await eventually(lambda: _are_all_alive(services))
            redis.stop()
            with pytest.raises(Unavailable):
                await services.jobs.hand_out("gam_nobody")
            assert not any((await services.processes()).values())
            game = await started_game(services)
            redis = start_redis(run / "redis", run)
            await eventually(lambda: has_moved(services, game, 100))
            await eventually(lambda: _are_all_alive(services))
        redis.stop()


async def test_a_report_from_before_is_not_believed(settings: Settings) -> None:
    """It may be from before a crash of the whole server."""
    async with AsyncExitStack() as exits:
        for _ in range(50):
            await redis(settings, "SET", key_of("relay"), 1, "PX", BELIEVED_MS)
            late = Presence(settings.bus_url)
            exits.push_async_callback(late.close)
            assert not await _says(late, "relay")
        beat = await exits.enter_async_context(reporting(settings.bus_url, "relay"))
        beat()
        await eventually(lambda: _says(late, "relay"))


async def has_moved(services: Services, game: str, before: int) -> bool:
    return await head(services, game) > before


async def _clocks_are(database: Database, *, leading: int, standing_by: int) -> bool:
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'shanghai clock'"
    locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = $1"
    [[there], [leads]] = [*await database.fetch(sessions), *await database.fetch(locks, CLOCK_LOCK)]
    return bool(leads == leading and there == leading + standing_by)


async def _is_handed_out(settings: Settings, game: str) -> bool:
    wire = await Wire.open(settings.bus_url)
    try:
        messages = await wire.call("LRANGE", QUEUE, 0, -1)
    finally:
        await wire.close()
    return any(b64encode(f'[["{game}"],{{}},{{}}]'.encode()) in message for message in messages)


async def _says(presence: Presence, process: str) -> bool:
    return (await presence.processes())[process]


async def _is_alive(services: Services, process: str) -> bool:
    return (await services.processes())[process]


async def _are_all_alive(services: Services) -> bool:
    return all((await services.processes()).values())
