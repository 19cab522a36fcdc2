"""The way back from backups: a data folder as it was at a moment, checked before anybody uses it."""

import asyncio
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
from msgspec import Struct

from infra.backups import LOG, BackupRefused, Say, copies, run
from infra.embedded.engines import short_folder
from infra.embedded.postgres import start_postgres
from infra.embedded.running import StartFailed
from infra.sql import statements

_SQL = statements("recovery")
_BOUND_S = 24 * 3600.0


class Recovered(Struct, frozen=True):
    """What a recovered log holds, and in which ways it is not whole."""

    games: int
    events: int
    last_at: datetime | None
    faults: list[str]


def recover(folder: Path, data: Path, at: datetime | None, *, say: Say) -> Recovered:
    """Makes the data folder from the newest copy before the moment and the log that follows it.

    Shape: what was committed up to the moment is there, nothing later; the cluster begins a new timeline, so the
    bus begins a new generation. Errors: BackupRefused; the new folder is then not there.
    """
    copy = _copy_before(folder, at)
    if (data / "postgres").exists():
        raise BackupRefused(f"{data / 'postgres'} is there already: recover into a new folder")
    say(f"from {copy.name}")
    began, cluster = time.monotonic(), data / "postgres.recovering"
    shutil.rmtree(cluster, ignore_errors=True)
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    run("pg_verifybackup", "--quiet", str(copy))
    shutil.copytree(copy, cluster, symlinks=True)
    (cluster / "recovery.signal").touch()
    recovered = _replay(cluster, folder / LOG, at)
    cluster.rename(data / "postgres")
    say(f"recovered and checked in {time.monotonic() - began:.1f} s")
    return recovered


def _copy_before(folder: Path, at: datetime | None) -> Path:
    before = [path for moment, path in copies(folder).items() if at is None or moment <= at]
    if not before:
        raise BackupRefused(f"{folder} has no copy" + (f" from before {at.astimezone(UTC)}" if at else ""))
    return before[-1]


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
    with short_folder() as sockets:
        try:
            postgres = start_postgres(cluster, sockets, settings=settings, bound_s=_BOUND_S)
        except StartFailed as failed:
            shutil.rmtree(cluster)
            raise BackupRefused(str(failed)) from None
        try:
            return asyncio.run(looked_at(postgres.url))
        finally:
            postgres.stop(bound_s=60)


async def looked_at(url: str) -> Recovered:
    """Counts what a log holds, and looks for what none may have. Errors: those of asyncpg. Cost: reads it once."""
    connection = await asyncpg.connect(url)
    try:
        faults = [f"{row['what']}: {row['count']}" for row in await connection.fetch(_SQL["faults"])]
        return Recovered(**dict(await connection.fetchrow(_SQL["contents"])), faults=faults)
    finally:
        await connection.close()
