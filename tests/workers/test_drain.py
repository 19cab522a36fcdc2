"""A worker told to stop while bots think: it finishes what it has begun, and the next one does the rest."""

import signal
from functools import partial

import pytest
from msgspec.structs import replace

from infra.jobs import RedisJobs
from infra.settings import Settings
from infra.wiring import Services
from tests.engines import eventually
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


async def _has_ended(process: Process) -> bool:
    return process.poll() is not None


async def _moved(services: Services, before: dict[str, int]) -> int:
    return sum([await head(services, game) > version for game, version in before.items()])


async def _all_moved(services: Services, before: dict[str, int]) -> bool:
    return await _moved(services, before) == len(before)
