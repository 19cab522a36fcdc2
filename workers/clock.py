"""The process `clock`: leads or stands by, for ever."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from infra.jobs import DELIVER, ClosableJobs, open_jobs
from infra.postgres.announcing import leading_announcer
from infra.postgres.leading import CLOCK_LOCK, leading
from infra.postgres.relay import lag
from infra.postgres.work import PostgresWork
from infra.settings import Settings
from infra.watching.cluster import cluster_numbers
from infra.watching.counted import CountedJobs
from infra.watching.logs import told
from infra.watching.watched import Watched, watched_leader
from infra.wiring import Services, open_services
from services.announcing import Announcer
from services.handouts import HandOuts
from services.lag import LagWatch
from services.matching import PAUSE_S, match
from services.outcomes import Busy
from services.ports import Unavailable
from services.sweep import Sweep
from services.tables import Tables
from workers.running import keep_leading, run

_RETRY_UNKNOWN_S = 5.0
_CONNECTIONS = 2
_MEMORY_BYTES = 4 << 20  # games are opened and left alone

_log = logging.getLogger(__name__)


async def clock(settings: Settings) -> None:
    """Sweeps whenever this process is the leader, and announces events to webhooks whenever it leads in that.

    It finds tables for those who wait in any case.
    """
    jobs = CountedJobs(open_jobs(settings.broker_url))
    hand_outs = HandOuts(jobs)
    try:
        async with (
            watched_leader(settings, "clock") as watched,
            open_services(settings, name="shanghai matcher", connections=_CONNECTIONS) as services,
            asyncio.TaskGroup() as group,
        ):
            group.create_task(hand_outs.run())
            group.create_task(announce(settings))
            group.create_task(_match(services))
            lead = partial(_lead, settings, services, jobs, hand_outs, watched)
            await keep_leading(lead, "the work list is away")
    finally:
        await jobs.close()


async def announce(settings: Settings) -> None:
    """Turns events into deliveries whenever this process leads in that."""
    jobs = open_jobs(settings.broker_url, DELIVER)
    hand_outs = HandOuts(jobs)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(hand_outs.run())
            await keep_leading(partial(_announce, settings, hand_outs), "webhooks wait, the log is away")
    finally:
        await jobs.close()


async def _announce(settings: Settings, hand_outs: HandOuts) -> None:
    """Waits for the leadership and announces until it is lost. Errors: Unavailable."""
    async with _surviving("webhooks wait"), leading_announcer(settings.database_url) as log:
        await Announcer(log, hand_outs).run()


@asynccontextmanager
async def _surviving(what: str) -> AsyncIterator[None]:
    """Lets the rest of the clock go on, whatever goes wrong in the block, which is begun anew.

    Errors: Busy, Unavailable. Of another one is logged what tells no card. UnknownEvent: only a newer version knows it.
    """
    try:
        yield
    except (Busy, Unavailable):
        raise
    except Exception as error:  # noqa: BLE001 - nobody has foreseen it
        _log.error("%s: %s", what, told(error))
        await asyncio.sleep(_RETRY_UNKNOWN_S)


async def _match(services: Services) -> None:
    """Matches for ever. Several clocks may do so at once: one statement seats a table, or leaves it."""
    tables = Tables(services.log, memory_bytes=_MEMORY_BYTES)
    while True:
        try:
            async with _surviving("tables are found later"):
                await match(services.tickets, tables, services.secrets, services.accounts)
        except (Busy, Unavailable) as error:
            _log.warning("tables are found later: %r", error)
        await asyncio.sleep(PAUSE_S)


async def _lead(
    settings: Settings, services: Services, jobs: ClosableJobs, hand_outs: HandOuts, watched: Watched
) -> None:
    """Waits for the leadership and sweeps until it is lost. Errors: Unavailable."""
    url, stands_by = settings.database_url, watched.stands_by
    async with (
        _surviving("the work list waits"),
        leading(url, CLOCK_LOCK, name="shanghai clock", stands_by=stands_by) as session,
        cluster_numbers(settings, jobs),
    ):
        work = PostgresWork(session)
        watch = LagWatch(partial(lag, session.fetch)).look

        async def upkeep() -> None:
            await work.keep_up()
            await services.tickets.forget_old()
            await services.invites.forget_old()

        await Sweep(work, hand_outs, upkeep=upkeep, watch=watch, beat=watched.beat).run()


if __name__ == "__main__":
    sys.exit(run(clock, "clock"))
