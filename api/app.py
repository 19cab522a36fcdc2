"""One API process: the house on its engines, behind one HTTP server."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from api.access import watched
from api.cors import allowing
from api.house import CALLERS_KNOWN_S, House
from api.numbers import Notes, readings_of
from api.open_streams import Streams
from api.proxies import behind
from api.routes import application
from api.server import Server
from infra.limits import RedisCounter, RedisLimit
from infra.settings import Settings
from infra.watching.counted import CountedTables
from infra.watching.lines import RequestLines
from infra.watching.numbers import numbers_page, reading
from infra.watching.watched import watched_api
from infra.wiring import Services, open_services
from services.attendance import AtTables
from services.feed import Feed
from services.following import Following
from services.limits import Policy, Quotas
from services.ports import FeedEntry, Unavailable

# A process takes such a part of the quota at once.
LEASES: dict[Policy, int] = {"reads": 10, "moves": 10, "strangers": 10}

_log = logging.getLogger(__name__)


async def run(settings: Settings) -> None:
    """Serves until a signal comes."""
    async with (
        open_services(settings, name="shanghai api") as services,
        opened_house(services, settings) as house,
        watched_api(settings, services.relay_lag),
    ):
        notes = Notes(RequestLines(settings), services.traces)
        app = allowing(watched(application(house), notes.take), settings.cors_origins)
        app = behind(app, settings.trusted_proxies, settings.forwarded_header)
        with contextlib.closing(notes), reading(*readings_of(house, services.lane_depth)):
            await Server(app, settings.host, settings.port, house.streams.drain).serve()


@asynccontextmanager
async def opened_house(services: Services, settings: Settings) -> AsyncIterator[House]:
    """Is the house on these services, its feed following the bus."""
    tables = CountedTables(services.log)

    def offer(entry: FeedEntry) -> None:
        if entry.recorded is not None:
            tables.offer(entry.recorded)
        following.poke()

    quotas = Quotas(**{name: getattr(settings, name) for name in Quotas.__struct_fields__})
    counter = RedisCounter(settings.limits_url)
    at_tables = AtTables(services.attendance, tables)
    feed, following = Feed(services.log, offer), Following(services.order)
    house = House(
        tables=tables,
        secrets=services.secrets,
        accounts=services.accounts,
        reservations=services.reservations,
        invites=services.invites,
        webhooks=services.webhooks,
        lobby=services.lobby,
        tickets=services.tickets,
        desk=services.desk,
        now=services.work.now,
        feed=feed,
        following=following,
        at_tables=at_tables,
        own_games=services.own_games,
        stream_tickets=services.stream_tickets,
        quotas=quotas,
        limits={
            name: RedisLimit(counter, name, quota=quota, window_s=window_s, lease=quota // LEASES.get(name, quota))
            for name, (quota, window_s) in quotas.policies.items()
        },
        processes=services.processes,
        relay_lag=services.relay_lag,
        numbers=numbers_page,
        sends_anywhere=settings.webhook_targets == "any",
        streams=Streams(per_token=quotas.streams_per_token, per_address=quotas.streams_per_address),
    )
    async with (
        contextlib.aclosing(counter),
        _in_background(feed.run(services.bus)),
        _in_background(following.run()),
        _in_background(at_tables.run()),
        _in_background(_dismiss_revoked(house)),
    ):
        yield house


async def _dismiss_revoked(house: House) -> None:
    """Ends the streams of tokens that speak for nobody any more, and of tickets used again, in whichever process."""
    while True:
        await asyncio.sleep(CALLERS_KNOWN_S)
        with contextlib.suppress(Unavailable):
            if await house.streams.dismiss_revoked(house.accounts):
                house.callers.forget()  # or such a client would come back at once
            await house.streams.dismiss_replaced(house.stream_tickets)


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
