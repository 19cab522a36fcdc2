"""The process `clock`: leads or stands by, for ever."""

import asyncio
import logging
import sys
from functools import partial

from infra.jobs import DELIVER, ClosableJobs, open_jobs
from infra.postgres.announcing import leading_announcer
from infra.postgres.leading import CLOCK_LOCK, leading
from infra.postgres.relay import lag
from infra.postgres.work import PostgresWork
from infra.settings import Settings
from infra.watching.cluster import cluster_numbers
from infra.watching.counted import CountedJobs
from infra.watching.process import Watched, watched_leader
from services.announcing import Announcer
from services.codec import UnknownEvent
from services.handouts import HandOuts
from services.lag import LagWatch
from services.ports import Unavailable
from services.sweep import Sweep
from workers.running import run

_RETRY_S = 0.2
_RETRY_UNKNOWN_S = 5.0

_log = logging.getLogger(__name__)


async def clock(settings: Settings) -> None:
    """Sweeps whenever this process is the leader, and announces events to webhooks whenever it leads in that."""
    jobs = CountedJobs(open_jobs(settings.broker_url))
    hand_outs = HandOuts(jobs)
    try:
        async with watched_leader(settings, "clock") as watched, asyncio.TaskGroup() as group:
            group.create_task(hand_outs.run())
            group.create_task(announce(settings))
            while True:
                try:
                    await _lead(settings, jobs, hand_outs, watched)
                except Unavailable as lost:
                    _log.warning("the work list is away: %s", lost)
                    await asyncio.sleep(_RETRY_S)
    finally:
        await jobs.close()


async def announce(settings: Settings) -> None:
    """Turns events into deliveries whenever this process leads in that."""
    jobs = open_jobs(settings.broker_url, DELIVER)
    hand_outs = HandOuts(jobs)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(hand_outs.run())
            while True:
                try:
                    async with leading_announcer(settings.database_url) as log:
                        await Announcer(log, hand_outs).run()
                except Unavailable as lost:
                    _log.warning("webhooks wait, the log is away: %s", lost)
                    await asyncio.sleep(_RETRY_S)
                except UnknownEvent as newer:
                    _log.error("webhooks wait for a newer clock: %s", newer)
                    await asyncio.sleep(_RETRY_UNKNOWN_S)
    finally:
        await jobs.close()


async def _lead(settings: Settings, jobs: ClosableJobs, hand_outs: HandOuts, watched: Watched) -> None:
    """Waits for the leadership and sweeps until it is lost. Errors: Unavailable."""
    url, stands_by = settings.database_url, watched.stands_by
    async with (
        leading(url, CLOCK_LOCK, name="shanghai clock", stands_by=stands_by) as session,
        cluster_numbers(settings, jobs),
    ):
        work = PostgresWork(session)
        watch = LagWatch(partial(lag, session.fetch)).look
        await Sweep(work, hand_outs, upkeep=work.keep_up, watch=watch, beat=watched.beat).run()


if __name__ == "__main__":
    sys.exit(run(clock, "clock"))
