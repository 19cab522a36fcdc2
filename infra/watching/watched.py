"""A process that can be watched: its port, its loop, its report of being alive."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import get_args

from msgspec import Struct
from prometheus_client.metrics_core import GaugeMetricFamily

from infra.presence import reporting
from infra.roll import on_the_roll
from infra.settings import Settings
from infra.watching.numbers import LOOP_LAG, numbers_page, written
from infra.watching.port import Page, health_pages, serving
from infra.watching.vital import Role, Vital, turning
from services.ports import Unavailable

_REACHED_WITHIN_S = 2.0


class Watched(Struct, frozen=True):
    """What a leader calls: `beat` at each sign of its work, `stands_by` while another one leads."""

    beat: Callable[[], None]
    stands_by: Callable[[], None]


@asynccontextmanager
async def watched_leader(settings: Settings, process: str) -> AsyncIterator[Watched]:
    """Serves the port of a process of which one leads, and reports the leader to the API. Errors: PortRefused."""
    vital = Vital(process)
    with serving(settings.metrics_host, settings.metrics_port, pages_of(vital)):
        async with (
            turning(vital, LOOP_LAG.observe),
            on_the_roll(settings.limits_url, process, lambda: vital.role),
            reporting(settings.limits_url, process) as report,
        ):

            def beat() -> None:
                vital.leads()
                report()

            yield Watched(beat, vital.stands_by)


@asynccontextmanager
async def watched_api(settings: Settings, reach: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """Serves the port of an API process, which is of use while `reach` gets an answer. Errors: PortRefused."""
    vital = Vital("api")
    loop = asyncio.get_running_loop()

    async def look() -> None:
        with suppress(Unavailable):
            await reach()
            vital.works()

    def ready() -> tuple[int, str, bytes]:
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(look(), loop).result(_REACHED_WITHIN_S)
        return pages["/health/ready"]()

    pages = pages_of(vital)
    with serving(settings.metrics_host, settings.metrics_port, {**pages, "/health/ready": ready}):
        async with turning(vital, LOOP_LAG.observe), on_the_roll(settings.limits_url, "api", lambda: None):
            yield


def pages_of(vital: Vital) -> Mapping[str, Page]:
    """Is everything that the port of a process serves: its health, and its numbers with what it is and does."""

    def numbers() -> tuple[int, str, bytes]:
        status, media_type, text = numbers_page()
        roles = GaugeMetricFamily("shanghai_process", "1 for what this process is and does", labels=["process", "role"])
        for role in get_args(Role):
            roles.add_metric([vital.process, role], float(vital.role == role))
        return status, media_type, text + written(roles)

    return {**health_pages(vital), "/metrics": numbers}
