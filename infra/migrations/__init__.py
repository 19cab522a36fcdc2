"""Brings a database to this version's schema: numbered SQL files, applied forward only and once."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

import asyncpg

_FOLDER = Path(__file__).parent
_LOCK = 0x5348414E  # any number of our own: migrations of one database wait for each other
MONTHS_AHEAD = 2  # of which the partitions of `event` are there
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
        await connection.execute(f"SET lock_timeout = {_LOCK_MS}")
        await connection.execute(_BOOK)
        book = {row["name"]: row["sha256"] for row in await connection.fetch("SELECT * FROM schema_migration")}
        if refuses_newer:
            _refuse_newer(book)
        applied = await _apply_missing(connection, book)
        await _patiently(lambda: connection.execute("SELECT make_event_partitions($1)", MONTHS_AHEAD))
    finally:
        await connection.close()
    return applied


def files() -> dict[str, str]:
    """Gives the text of each migration by its name, in the order in which they are applied."""
    return {path.name: path.read_text() for path in sorted(_FOLDER.glob("[0-9]*.sql"))}


def checksum(text: str) -> str:
    """Gives what is kept of the text of a migration that was applied."""
    return hashlib.sha256(text.encode()).hexdigest()


def _refuse_newer(book: Mapping[str, str]) -> None:
    if unknown := sorted(book.keys() - files().keys()):
        raise NewerSchema(f"the database is of a newer version ({unknown[-1]} was applied): upgrade this program")


async def _apply_missing(connection: asyncpg.Connection, book: Mapping[str, str]) -> list[str]:
    texts = files()
    for name, text in texts.items():
        if name in book and book[name] != checksum(text):
            raise MigrationChanged(
                f"{name} was applied to this database with other content: restore the file "
                "and put the change into a new migration"
            )
    missing = [name for name in texts if name not in book]
    for name in missing:
        await _patiently(partial(_apply, connection, name, texts[name]))
    return missing


async def _apply(connection: asyncpg.Connection, name: str, text: str) -> None:
    async with connection.transaction():
        await connection.execute(text)
        await connection.execute("INSERT INTO schema_migration (name, sha256) VALUES ($1, $2)", name, checksum(text))


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
