"""Months of the log in files: taken out when all their games are over, and put back as they were.

Reading a month holds nobody back, and whatever writes is a short transaction: a lock that is not free is tried again.
"""

import asyncio
import gzip
import hashlib
import os
import re
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
from msgspec import Struct

from domain.events import GameCancelled, GameFinished
from infra.postgres.database import LOST_AT_FIRST, connect, lost_is_unavailable
from infra.postgres.leading import ARCHIVE_LOCK
from infra.sql import statements
from services.codec import TYPE_NUMBERS
from services.ids import public_id
from services.ports import Unavailable

ROLE = "shanghai_operator"
COLUMNS = (
    *("game_id", "version", "xid", "gseq", "type", "schema", "actor", "round", "ordinal", "command_id"),
    *("occurred_at", "payload"),
)

_SQL = statements("archive")
_LEAD = statements("relay")["try_lead"]
_ENDS = [TYPE_NUMBERS[GameFinished], TYPE_NUMBERS[GameCancelled]]
_ROWS_AT_ONCE = 5_000  # a few tenths of a second: so long the relay waits at most
_TRIES, _PAUSE_S = 60, 1.0
# Times are written in one way, whatever the server's own settings are; a month takes its time to be read.
_SETTINGS = {"role": ROLE, "statement_timeout": "0", "timezone": "UTC", "datestyle": "ISO, YMD"}

Say = Callable[[str], None]


class ArchiveRefused(Exception):
    """A month cannot be taken out or put back; the text is one line that says why."""


class Manifest(Struct, frozen=True):
    """What an archive holds, beside its rows. sha256: of the rows as text, before they were compressed."""

    month: str
    games: int
    events: int
    sha256: str
    columns: tuple[str, ...] = COLUMNS

    @property
    def rows(self) -> str:
        """Name of the file with the rows, in the form of COPY."""
        return f"events-{self.month}.copy.gz"


class Contents(Struct):
    """What was found in a file of rows. last_xid: the highest transaction."""

    games: int = 0
    events: int = 0
    last_xid: int = 0
    sha256: str = ""


async def archive(url: str, month: str, folder: Path, say: Say = lambda _: None) -> Path:
    """Writes a month to files, reads them back, takes it out of the log and gives its manifest.

    One that was cut short is finished by the next. Errors: ArchiveRefused, and nothing has changed.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # noqa: ASYNC240 - nothing else runs in this command
    async with _operating(url, month) as work:
        manifest_file = folder / f"events-{month}.json"
        state = await work.row("state", month)
        if state["of_log"]:
            await work.refuse_unready()
            manifest = await work.write(folder, manifest_file)
            say(f"{manifest.events} events of {manifest.games} games are in {folder / manifest.rows}")
            await work.patiently("detach", month, manifest.games, manifest.events, manifest.sha256)
        elif not (state["booked"] and state["kept"]):
            raise ArchiveRefused(f"{month} was archived before" if state["booked"] else f"the log has no month {month}")
        await work.refuse_late_events(await work.booked(manifest_file))
        while (await work.row("unlist", *work.bounds, _ROWS_AT_ONCE))[0]:
            pass
        await work.patiently("drop", month)
    return manifest_file


async def restore(url: str, manifest_file: Path) -> Manifest:
    """Puts an archived month back, every row as it was; its games are listed after a rebuild of the read models.

    Errors: ArchiveRefused, and the log is as before.
    """
    manifest, contents = read_archive(manifest_file)
    async with _operating(url, manifest.month) as work:
        state = await work.row("state", manifest.month)
        if state["of_log"]:
            raise ArchiveRefused(f"{manifest.month} is part of the log already")
        if state["booked"]:
            await work.booked(manifest_file)
        if (await work.row("younger_cluster", str(contents.last_xid)))[0]:
            raise ArchiveRefused("the events come from an older cluster: their transactions are ahead of this one's")
        await work.patiently("drop", manifest.month)
        await work.patiently("make", manifest.month)
        await work.fill(manifest_file.parent / manifest.rows, manifest)
        if not await work.holds(manifest):
            raise ArchiveRefused(f"{manifest.month} was not filled whole: run the command again")
        await work.patiently("attach", manifest.month)
    return manifest


def read_archive(manifest_file: Path) -> tuple[Manifest, Contents]:
    """Reads an archive from end to end. Errors: ArchiveRefused where it does not hold what its manifest says."""
    try:
        manifest = msgspec.json.decode(manifest_file.read_bytes(), type=Manifest)
        contents = look_into(manifest_file.parent / manifest.rows)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ArchiveRefused(f"{manifest_file} cannot be read: {error}") from None
    if (contents.games, contents.events, contents.sha256) != (manifest.games, manifest.events, manifest.sha256):
        raise ArchiveRefused(f"{manifest.rows} is damaged: it does not hold what {manifest_file.name} says")
    return manifest, contents


def look_into(rows: Path) -> Contents:
    """Reads a file of rows from end to end."""
    found, digest, game = Contents(), hashlib.sha256(), b""
    with gzip.open(rows) as file:
        for line in file:
            digest.update(line)
            game_id, _, xid, _ = line.split(b"\t", 3)
            found.games += game_id != game
            found.events += 1
            found.last_xid = max(found.last_xid, int(xid))
            game = game_id
    found.sha256 = digest.hexdigest()
    return found


class _Work:
    """One connection that works on one month."""

    def __init__(self, connection: asyncpg.Connection, month: str, bounds: tuple[UUID, UUID]) -> None:
        self.connection = connection
        self.month = month
        self.bounds = bounds
        self.table = f"event_{month.replace('-', '_')}"

    async def row(self, statement: str, *arguments: Any) -> Any:
        return await self.connection.fetchrow(_SQL[statement], *arguments)

    async def patiently(self, statement: str, *arguments: Any) -> None:
        """Runs a statement that gives up when it would have to wait; tried again for a minute."""
        for _ in range(_TRIES):
            try:
                await self.connection.fetch(_SQL[statement], *arguments)
            except asyncpg.LockNotAvailableError:
                await asyncio.sleep(_PAUSE_S)
            except asyncpg.CheckViolationError as error:
                raise ArchiveRefused(f"the default partition holds events of {self.month}: {error}") from None
            else:
                return
        raise ArchiveRefused("somebody reads the log without a pause: try again when no dump is under way")

    async def refuse_unready(self) -> None:
        """Refuses a month that is not over, or has a game that is not, or events that not everybody was told."""
        if not (await self.row("is_past", self.month))[0]:
            raise ArchiveRefused(f"{self.month} is not over yet")
        if unfinished := await self.row("unfinished", *self.bounds, _ENDS):
            raise ArchiveRefused(f"not all games of {self.month} are over: {public_id('gam', unfinished[0])}")
        if untold := await self.row("untold", *self.bounds):
            raise ArchiveRefused(f"relay or projector are behind: game {public_id('gam', untold[0])} waits for them")

    async def write(self, folder: Path, manifest_file: Path) -> Manifest:
        """Writes rows and manifest, each whole or not at all, and reads the rows back."""
        games, events = await self.row("size", *self.bounds)
        new, digest = folder / f"events-{self.month}.new", hashlib.sha256()
        with gzip.open(new, "wb", compresslevel=6) as file:

            async def take(piece: bytes) -> None:
                digest.update(piece)
                file.write(piece)

            query = (
                f"SELECT {', '.join(COLUMNS)} FROM event WHERE game_id >= $1 AND game_id < $2 ORDER BY game_id, version"  # noqa: S608
            )
            await self.connection.copy_from_query(query, *self.bounds, output=take, format="text")
        manifest = Manifest(self.month, games, events, digest.hexdigest())
        found = look_into(new)
        if (found.games, found.events, found.sha256) != (games, events, manifest.sha256):
            raise ArchiveRefused(f"{new} does not hold what was written to it")
        _keep(new, folder / manifest.rows)
        new.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        _keep(new, manifest_file)
        return manifest

    async def booked(self, manifest_file: Path) -> Manifest:
        """Gives the manifest of a month that was taken out. Refuses files of another archive of it."""
        manifest, _ = read_archive(manifest_file)
        book = await self.row("book", self.month)
        if tuple(book) != (manifest.games, manifest.events, manifest.sha256):
            raise ArchiveRefused(f"{manifest_file} is not what {self.month} was archived to")
        return manifest

    async def refuse_late_events(self, manifest: Manifest) -> None:
        """Puts the month back where something was appended while it was written."""
        if not await self.holds(manifest):
            await self.patiently("attach", self.month)
            raise ArchiveRefused(f"something happened in {self.month} meanwhile; it is part of the log as before")

    async def holds(self, manifest: Manifest) -> bool:
        """Tells whether the month's own table has as many games and events as were written."""
        count = "SELECT count(*) FILTER (WHERE version = 1), count(*) FROM "
        return tuple(await self.connection.fetchrow(count + self.table)) == (manifest.games, manifest.events)

    async def fill(self, rows: Path, manifest: Manifest) -> None:
        """Copies the rows into the month's own table, some at a time."""
        with gzip.open(rows) as file:
            for lines in _in_pieces(file):
                source = BytesIO(b"".join(lines))
                await self.connection.copy_to_table(self.table, source=source, columns=manifest.columns, format="text")


@asynccontextmanager
async def _operating(url: str, month: str) -> AsyncIterator[_Work]:
    """Is a connection as the operator, one at a time. Errors: ArchiveRefused, also for a database out of reach."""
    if not re.fullmatch(r"[0-9]{4}-(0[1-9]|1[0-2])", month):
        raise ArchiveRefused(f"{month} is no month: it is written 2026-08")
    try:
        with lost_is_unavailable(lost=LOST_AT_FIRST):
            connection = await connect(url, name="shanghai archive", settings=_SETTINGS)
            try:
                if not await connection.fetchval(_LEAD, ARCHIVE_LOCK):
                    raise ArchiveRefused("another month is being archived or restored")
                bounds = await connection.fetchrow(_SQL["bounds"], month)
                yield _Work(connection, month, tuple(bounds))
            finally:
                connection.terminate()
    except Unavailable as lost:
        raise ArchiveRefused(f"the database cannot be used; run the command again when it can: {lost}") from None


def _keep(new: Path, file: Path) -> None:
    """Gives a written file its name, so that it survives whatever comes."""
    with new.open("rb+") as written:
        os.fsync(written.fileno())
    new.rename(file)
    folder = os.open(file.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _in_pieces(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    while piece := list(islice(lines, _ROWS_AT_ONCE)):
        yield piece
