"""One examination: everything that can be looked at, in order; what is out of reach is told once."""

from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import asyncpg

from infra.doctor import bus, database, machine, roll, running
from infra.doctor.finding import Finding, bad
from infra.postgres.database import LOST_AT_FIRST
from infra.settings import Settings
from services.ports import Unavailable


async def examine(settings: Settings, data: Path | None = None, api: str | None = None) -> AsyncIterator[Finding]:
    """Looks at an installation and changes nothing.

    data: the folder of a running `shanghai up`, where it is one. api: the address of an API process to ask too.
    """
    yield machine.look_at_python()
    yield machine.look_at_variables()
    if data is not None:
        yield machine.look_at_room("data folder's disk", data)
        for finding in machine.look_at_rights(data):
            yield finding
    async for finding in _database(settings, is_embedded=data is not None):
        yield finding
    for finding in await bus.look_at_engines(settings):
        yield finding
    for finding in await roll.look_at_roll(settings, await _database_ahead_s(settings)):
        yield finding
    if data is not None:
        yield await running.look_at_ports(data)
    if api is not None:
        yield await running.look_at_api(api)


async def _database(settings: Settings, *, is_embedded: bool) -> AsyncIterator[Finding]:
    try:
        session = await database.open_session(settings.database_url)
    except (*LOST_AT_FIRST, asyncpg.PostgresError, OSError) as error:
        yield bad("postgres", f"cannot be reached: {_words(error)}", "start it, or mend SHANGHAI_DATABASE_URL")
        return
    try:
        for finding in await database.look_at_server(session):
            yield finding
        for finding in await database.look_at_logins(session, is_embedded=is_embedded):
            yield finding
        schema = await database.look_at_schema(session)
        yield schema
        yield await database.look_at_disk(session)
        if schema.level == "bad":
            return
        await session.execute("SET ROLE shanghai_app")
        for finding in await database.look_at_log(session):
            yield finding
        yield await database.look_at_key(session, settings.secret_key)
        yield await running.look_at_leaders(session)
        for finding in await running.look_at_play(settings):
            yield finding
    except (asyncpg.PostgresError, Unavailable) as error:
        todo = "grant it shanghai_app" if isinstance(error, asyncpg.InsufficientPrivilegeError) else "look at its log"
        yield bad("database", f"refuses: {_words(error)}", todo)
    finally:
        await session.close()


async def _database_ahead_s(settings: Settings) -> float | None:
    """Measures by how much Postgres's clock is ahead of this machine's; None where it does not answer."""
    with suppress(*LOST_AT_FIRST, asyncpg.PostgresError, OSError):
        session = await database.open_session(settings.database_url)
        try:
            return await database.ahead_s(session)
        finally:
            await session.close()
    return None


def _words(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
