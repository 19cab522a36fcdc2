"""A worker tells in one place what its pool processes do, and forgets nothing when one of them dies."""

import os
import signal

import pytest
from msgspec.structs import replace

from infra.embedded.ports import free_port
from infra.settings import Settings
from infra.wiring import open_services
from tests.engines import eventually
from tests.exported import number, scraped, summed
from tests.processes import server
from tests.stack_watching import descendants
from tests.workers.tables import head, started_game

pytestmark = pytest.mark.xdist_group("processes")


async def test_what_pool_processes_did_is_told_by_their_worker_also_when_one_was_killed(settings: Settings) -> None:
    own = replace(settings, metrics_port=free_port())
    with server("workers", own) as worker:
        async with open_services(settings) as services:

            async def are_done(games: list[str]) -> bool:
                return all([await head(services, game) > 10 for game in games])

            async def are_told(jobs: int) -> bool:
                return number("shanghai_job_seconds_count", scraped(own.metrics_port), outcome="done") >= jobs

            games: list[str] = []
            for count in (1, 2):
                games.append(await started_game(services))
                for _ in range(3):
                    await services.jobs.hand_out(games[-1])
                await eventually(lambda: are_done(games))
                await eventually(lambda count=count: are_told(3 * count))  # type: ignore[misc]
                assert number("shanghai_pool_memory_bytes", scraped(own.metrics_port)) > 1_000_000
                for child in descendants(worker.pid):
                    os.kill(child, signal.SIGKILL)
            told = scraped(own.metrics_port)
            assert number("shanghai_job_seconds_count", told, outcome="done") == 6
            assert summed("shanghai_bot_thinking_seconds_count", told) > 0
            assert number("shanghai_events_total", told) > 0
