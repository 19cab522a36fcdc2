"""Brings a database to this version's schema: numbered SQL files, applied forward only and once."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import asyncpg

_FOLDER = Path(__file__).parent
_LOCK = 0x5348414E  # any number of our own: migrations of one database wait for each other
_MONTHS_AHEAD = 2
_LOCK_MS, _PAUSE_S, _TRIES = 1_000, 2.0, 100

_BOOK = """
CREATE TABLE IF NOT EXISTS schema_migration (
    name       text        PRIMARY KEY,
    sha256     text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


class MigrationChanged(RuntimeError):
    """A file differs from what was applied under its name."""


class NewerSchema(RuntimeError):
    """The database was migrated by a newer version of this program."""


async def migrate(database_url: str, *, refuses_newer: bool = False) -> list[str]:
    """Applies what is missing, each file in a transaction of its own, and gives the names applied now.

    Several at once are safe: the later ones wait. Also makes the coming months' partitions of `event`. For a table that
    somebody reads for long, as a dump does, it waits in short turns of a second and some minutes in all: whoever asks
    for the table meanwhile queues behind the waiting one.
    Errors: MigrationChanged and NewerSchema before anything is applied; those of asyncpg; OSError without a database.
    """
    connection = await asyncpg.connect(database_url, server_settings={"application_name": "shanghai migrate"})
    try:
        await connection.execute("SELECT pg_advisory_lock($1)", _LOCK)
        if refuses_newer:
            await _refuse_newer(connection)
        await connection.execute(f"SET lock_timeout = {_LOCK_MS}")
        applied = await _apply_missing(connection)
        await _patiently(lambda: connection.execute("SELECT make_event_partitions($1)", _MONTHS_AHEAD))
    finally:
        await connection.close()
    return applied


async def _refuse_newer(connection: asyncpg.Connection) -> None:
    await connection.execute(_BOOK)
    names = {row["name"] for row in await connection.fetch("SELECT name FROM schema_migration")}
    if unknown := sorted(names - {path.name for path in _FOLDER.glob("[0-9]*.sql")}):
        raise NewerSchema(f"the database is of a newer version ({unknown[-1]} was applied): upgrade this program")


async def _apply_missing(connection: asyncpg.Connection) -> list[str]:
    await connection.execute(_BOOK)
    book = {row["name"]: row["sha256"] for row in await connection.fetch("SELECT * FROM schema_migration")}
    files = {path.name: path.read_text() for path in sorted(_FOLDER.glob("[0-9]*.sql"))}
    for name, text in files.items():
        if name in book and book[name] != _sha256(text):
            raise MigrationChanged(
                f"{name} was applied to this database with other content: restore the file "
                "and put the change into a new migration"
            )
    missing = [name for name in files if name not in book]
    for name in missing:
        await _patiently(partial(_apply, connection, name, files[name]))
    return missing


async def _apply(connection: asyncpg.Connection, name: str, text: str) -> None:
    async with connection.transaction():
        await connection.execute(text)
        await connection.execute("INSERT INTO schema_migration (name, sha256) VALUES ($1, $2)", name, _sha256(text))


async def _patiently(step: Callable[[], Awaitable[object]]) -> None:
    """Does something that may have to wait for a lock. Errors: LockNotAvailableError after all turns."""
    for _ in range(_TRIES - 1):
        try:
            await step()
        except asyncpg.LockNotAvailableError:
            await asyncio.sleep(_PAUSE_S)
        else:
            return
    await step()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
