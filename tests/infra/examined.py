"""An installation as the doctor examines it, and one that has nothing to complain of."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from infra.beside import beside
from infra.doctor import roll, running
from infra.doctor.examination import examine
from infra.doctor.finding import Finding
from infra.postgres.leading import leading
from infra.presence import PROCESSES, reporting
from infra.roll import on_the_roll
from infra.settings import Settings


def owners(settings: Settings) -> str:
    return urlsplit(settings.database_url)._replace(netloc="postgres@").geturl()


async def execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()


async def look(settings: Settings, data: Path | None = None, api: str | None = None) -> dict[str, Finding]:
    """Examines, and gives the findings by what was looked at."""
    found = [finding async for finding in examine(settings, data, api)]
    assert len({finding.what for finding in found}) == len(found)
    assert all(finding.todo for finding in found if finding.level != "ok")
    return {finding.what: finding for finding in found}


@asynccontextmanager
async def all_alive(settings: Settings) -> AsyncIterator[None]:
    async with AsyncExitStack() as exits:
        beats = [await exits.enter_async_context(reporting(settings.limits_url, process)) for process in PROCESSES]
        for kind in roll.KINDS:
            await exits.enter_async_context(on_the_roll(settings.limits_url, kind, lambda: "works"))

        async def go_on() -> None:
            while True:
                for beat in beats:
                    beat()
                await asyncio.sleep(0.05)

        await exits.enter_async_context(beside(go_on()))
        yield


@asynccontextmanager
async def all_led(settings: Settings) -> AsyncIterator[None]:
    async with AsyncExitStack() as exits:
        for lock in running.LEADERS:
            await exits.enter_async_context(leading(settings.database_url, lock, name="test"))
        yield
