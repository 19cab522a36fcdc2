"""A worker told to stop while bots think: it finishes what it has begun, and the next one does the rest."""

import signal
from functools import partial

import pytest
from msgspec.structs import replace

from infra.embedded.engines import short_folder
from infra.embedded.valkey import start_redis
from infra.jobs import RedisJobs
from infra.settings import Settings
from infra.wiring import Services
from tests.engines import eventually, with_redis
from tests.processes import Process, server
from tests.wire import opened
from tests.workers.deadly_wire import DeadlyWire
from tests.workers.tables import head, play_until, started_game

GAMES = 6  # more than a worker takes at once

pytestmark = pytest.mark.xdist_group("processes")


class GentleWire(DeadlyWire):
    """Tells the process at the moment, and lets the append go on."""

    def _strikes(self) -> bool:
        super()._strikes()
        return False


async def test_no_job_is_lost_when_a_worker_is_told_to_stop_while_a_bot_moves(
    services: Services, settings: Settings
) -> None:
    games = [await started_game(services) for _ in range(GAMES)]
    for game in games:
        await play_until(services, game, "bots")
    before = {game: await head(services, game) for game in games}
    for game in games:
        await services.jobs.hand_out(game)
    async with opened(GentleWire(), settings.database_url) as wire:
        with server("workers", replace(settings, database_url=wire.url)) as leaving:
            wire.arm("sent", partial(leaving.send_signal, signal.SIGTERM))
            await eventually(lambda: _has_ended(leaving))
            assert leaving.returncode == 0
    jobs = RedisJobs(settings.broker_url)
    moved = await _moved(services, before)
    assert moved >= 1  # what was under way
    assert await jobs.length() == GAMES - moved
    with server("workers", settings):
        await eventually(lambda: _all_moved(services, before))
    assert await jobs.length() == 0
    await jobs.close()


async def test_a_worker_that_loses_its_broker_in_the_middle_writes_its_jobs_to_no_file(
    services: Services, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    games = [await started_game(services) for _ in range(GAMES)]
    for game in games:
        await play_until(services, game, "bots")
    told: list[str] = []
    with short_folder() as run:
        redis = start_redis(run / "redis", run)
        other = with_redis(settings, redis.url)
        jobs = RedisJobs(other.broker_url)
        await jobs.hand_out(*games)
        async with opened(GentleWire(), settings.database_url) as wire:
            wire.arm("sent", redis.stop)
            with server("workers", replace(other, database_url=wire.url)):
                await eventually(lambda: _says(capfd, told, "the broker is away"))
        await jobs.close()
    assert "FILE" not in "".join(told)


async def _has_ended(process: Process) -> bool:
    return process.poll() is not None


async def _says(capfd: pytest.CaptureFixture[str], told: list[str], words: str) -> bool:
    told.append(capfd.readouterr().err)
    return any(words in each for each in told)


async def _moved(services: Services, before: dict[str, int]) -> int:
    return sum([await head(services, game) > version for game, version in before.items()])


async def _all_moved(services: Services, before: dict[str, int]) -> bool:
    return await _moved(services, before) == len(before)
