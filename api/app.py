"""One API process: the house on its engines, behind one HTTP server."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from api.house import CALLERS_KNOWN_S, House
from api.routes import application
from api.server import Server
from infra.limits import RedisLimit
from infra.settings import Settings
from infra.wiring import Services, open_services
from services.feed import Feed
from services.ports import FeedEntry, Unavailable
from services.tables import Tables

_log = logging.getLogger(__name__)


async def run(settings: Settings) -> None:
    """Serves until a signal comes."""
    async with open_services(settings, name="shanghai api") as services, opened_house(services, settings) as house:
        await Server(application(house), settings.host, settings.port, house.streams.drain).serve()


@asynccontextmanager
async def opened_house(services: Services, settings: Settings) -> AsyncIterator[House]:
    """Is the house on these services, its feed following the bus."""
    tables = Tables(services.log)

    def offer(entry: FeedEntry) -> None:
        if entry.recorded is not None:
            tables.offer(entry.recorded)

    guests = RedisLimit(settings.limits_url, "guests", quota=settings.guests_per_minute, window_s=60)
    feed = Feed(services.log, offer)
    house = House(
        tables=tables,
        secrets=services.secrets,
        accounts=services.accounts,
        reservations=services.reservations,
        invites=services.invites,
        lobby=services.lobby,
        feed=feed,
        guests=guests,
        processes=services.processes,
        relay_lag=services.relay_lag,
    )
    async with (
        contextlib.aclosing(guests),
        _in_background(feed.run(services.bus)),
        _in_background(_dismiss_deleted(house)),
    ):
        yield house


async def _dismiss_deleted(house: House) -> None:
    """Ends the streams of players who were deleted, by whichever process."""
    while True:
        await asyncio.sleep(CALLERS_KNOWN_S)
        with contextlib.suppress(Unavailable):
            await house.streams.dismiss_deleted(house.accounts)


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs something beside the block; should it fail, the process is of no use and ends."""
    block = asyncio.current_task()
    assert block is not None

    def end(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            _log.critical("what runs beside the server failed", exc_info=error)
            block.cancel()

    task = asyncio.create_task(work)
    task.add_done_callback(end)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
