"""The way back from backups: a data folder as it was at a moment, checked before anybody uses it."""

import asyncio
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
from msgspec import Struct

from infra.backups import LOG, BackupRefused, Say, copies, first_segment, run
from infra.embedded.binaries import changes_user, hand_over
from infra.embedded.engines import short_folder
from infra.embedded.postgres import start_postgres
from infra.embedded.running import StartFailed
from infra.sql import statements

_SQL = statements("recovery")
_SEGMENT_BYTES = 16 << 20  # unless initdb was told otherwise
_SEGMENT = re.compile(r"[0-9A-F]{24}(\.partial)?$")
_BOUND_S = 24 * 3600.0
_TOO_SHORT = "recovery ended before configured recovery target was reached"  # as Postgres says it


class Recovered(Struct, frozen=True):
    """What a recovered log holds, and in which ways it is not whole."""

    games: int
    events: int
    last_at: datetime | None
    faults: list[str]


def recover(folder: Path, data: Path, at: datetime | None, *, say: Say) -> Recovered:
    """Makes the data folder from the newest copy before the moment and the log that follows it.

    Shape: what was committed up to the moment is there, nothing later; the cluster begins a new timeline, so the
    bus begins a new generation. Errors: BackupRefused, OSError; the new folder is then not there.
    """
    copy = _copy_before(folder, at)
    if at is None:  # to an earlier moment Postgres itself tells whether it has got there
        _refuse_hole(copy, folder / LOG)
    if (data / "postgres").exists():
        raise BackupRefused(f"{data / 'postgres'} is there already: recover into a new folder")
    say(f"from {copy.name}")
    began, cluster = time.monotonic(), data / "postgres.recovering"
    shutil.rmtree(cluster, ignore_errors=True)
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    run("pg_verifybackup", "--quiet", str(copy))
    try:
        shutil.copytree(copy, cluster, symlinks=True)
        (cluster / "recovery.signal").touch()
        with _readable(folder / LOG, copy, data) as log:
            recovered = _replay(cluster, log, at)
    except OSError:
        shutil.rmtree(cluster, ignore_errors=True)  # it may be what has filled the disk
        raise
    cluster.rename(data / "postgres")
    say(f"recovered and checked in {time.monotonic() - began:.1f} s")
    return recovered


def _copy_before(folder: Path, at: datetime | None) -> Path:
    before = [path for moment, path in copies(folder).items() if at is None or moment <= at]
    if not before:
        raise BackupRefused(f"{folder} has no copy" + (f" from before {at.astimezone(UTC)}" if at else ""))
    return before[-1]


def _refuse_hole(copy: Path, log: Path) -> None:
    """Refuses a log with a file missing in between: Postgres would take what comes before for all of it."""
    paths = [path for folder in (copy / "pg_wal", log) if folder.is_dir() for path in folder.iterdir()]
    paths = [path for path in paths if _SEGMENT.match(path.name)]
    in_row = (1 << 32) // max((path.stat().st_size for path in paths), default=_SEGMENT_BYTES)

    def number(name: str) -> int:  # whatever the timeline
        return int(name[8:16], 16) * in_row + int(name[16:24], 16)

    first = number(first_segment(copy))
    there = {found for path in paths if (found := number(path.name)) >= first}
    if holes := sorted({*range(first, max(there, default=first))} - there):
        row, place = divmod(holes[0], in_row)
        raise BackupRefused(
            f"{log} lacks the file …{row:08X}{place:08X} and has later ones: --at a moment before it can be reached"
        )


@contextmanager
def _readable(log: Path, copy: Path, data: Path) -> Iterator[Path]:
    """Is the log where the recovering Postgres can read it: where it runs as another user, a copy of what it will read.

    It would take a log that it may not read for one that has ended, and stop at the copy.
    """
    if not changes_user() or not log.is_dir():
        yield log
        return
    own = data / "log.recovering"
    shutil.rmtree(own, ignore_errors=True)
    try:
        own.mkdir(mode=0o700)
        for file in sorted(log.iterdir()):
            if file.suffix == ".history" or file.name[8:24] >= first_segment(copy)[8:24]:
                shutil.copyfile(file, own / file.name)
        hand_over(own)
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)


def _replay(cluster: Path, log: Path, at: datetime | None) -> Recovered:
    """Has a Postgres of its own read the log up to the moment, looks at what it has then, and stops it."""
    quoted = str(log.absolute()).replace("%", "%%").replace('"', '\\"')
    settings = {
        # The segment that was being written has another name; what it has not got is zeros, as in a new one.
        "restore_command": f'cp "{quoted}/%f" "%p" || cp "{quoted}/%f.partial" "%p"',
        "recovery_target_action": "promote",
        "hot_standby": "off",  # ready is then said at the end of the recovery only
        "synchronous_standby_names": "",
        **({"recovery_target_time": at.isoformat(" ")} if at else {}),
    }
    said = cluster.parent / "recovery.log"  # stays where it fails
    with short_folder() as sockets:
        try:
            postgres = start_postgres(cluster, sockets, log=said, settings=settings, bound_s=_BOUND_S)
        except StartFailed as failed:
            shutil.rmtree(cluster)
            if at and _TOO_SHORT in str(failed):
                raise BackupRefused(
                    f"the log ends before {at.astimezone(UTC)}: without --at it is read to its end"
                ) from None
            raise BackupRefused(str(failed)) from None
        try:
            return asyncio.run(looked_at(postgres.url))
        finally:
            postgres.stop(bound_s=60)
            said.unlink()


async def looked_at(url: str) -> Recovered:
    """Counts what a log holds, and looks for what none may have. Errors: those of asyncpg. Cost: reads it once."""
    connection = await asyncpg.connect(url)
    try:
        faults = [f"{row['what']}: {row['count']}" for row in await connection.fetch(_SQL["faults"])]
        return Recovered(**dict(await connection.fetchrow(_SQL["contents"])), faults=faults)
    finally:
        await connection.close()
