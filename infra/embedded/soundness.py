"""Looking at a data folder before anything is started on it: what cannot go well is told in one line."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.embedded import CannotRun
from infra.embedded.binaries import postgres_folder

ROOM_FOR_NEW = 200 << 20  # bytes: an empty cluster with its first log
ROOM_TO_GO_ON = 32 << 20  # a server that cannot write its log stops at once

_TELLING = re.compile(r"(?:FATAL|PANIC|error|Error|CRITICAL)\b:? *(.*)|(.*No space left.*|Bad file format.*)")


class FolderUnusable(CannotRun):
    """The data folder is damaged, full, of another version, or may not be used; the text says what to do."""


@contextmanager
def told_of(data: Path) -> Iterator[None]:
    """Turns what the system says about a data folder into one line. Errors: FolderUnusable."""
    try:
        yield
    except OSError as error:
        raise FolderUnusable(f"cannot use {error.filename or data}: {error.strerror}") from None


def refuse_unsound(data: Path, *, has_key: bool) -> None:
    """Refuses a folder on which the server could not run, or not go on. has_key: the key is not read from it.

    Errors: FolderUnusable, EngineMissing.
    """
    cluster, key = data / "postgres", data / "secret.key"
    with told_of(data):
        disk = os.statvfs(data)
        is_new = not cluster.exists() or not any(cluster.iterdir())
        made_by = "" if is_new else _made_by(cluster)
        is_open = key.exists() and key.stat().st_mode & 0o077 != 0
    free, needed = disk.f_bavail * disk.f_frsize, ROOM_FOR_NEW if is_new else ROOM_TO_GO_ON
    if free < needed:
        raise FolderUnusable(f"only {free >> 20} MiB are free at {data}: Postgres needs {needed >> 20} to start")
    if not is_new and not made_by:
        raise FolderUnusable(
            f"{cluster} is damaged: its PG_VERSION names no version; `shanghai recover` makes a new folder from backups"
        )
    if not is_new and made_by != postgres_version():
        raise FolderUnusable(
            f"{cluster} was made by Postgres {made_by}, and this is {postgres_version()}:"
            " dump it with the old one and restore the dump, or install the old one"
        )
    if is_open and not has_key:
        raise FolderUnusable(f"others may read {key}, which opens every game that goes on: chmod go-rwx {key}")
    if not is_new and not has_key and not key.exists():
        raise FolderUnusable(
            f"{key} is missing: restore it from a backup, since no game there can deal a round without it"
            " (to go on all the same, set SHANGHAI_SECRET_KEY to a new one)"
        )


def _made_by(cluster: Path) -> str:
    """Names the version of Postgres that made a cluster; empty where that cannot be read."""
    version = cluster / "PG_VERSION"
    told = version.read_text(errors="replace").strip() if version.is_file() else ""
    return told if told.isdecimal() else ""


def postgres_version() -> str:
    """Gives the major version of the Postgres that would be started, as a cluster names it."""
    told = subprocess.run([postgres_folder() / "postgres", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"\d+", told.stdout)
    assert found is not None
    return found[0]


def reason_in(log: Path, since: int) -> str:
    """Finds in the end of a log, from byte `since`, why its process has ended: its last complaint, or its last line."""
    lines = [line.strip() for line in end_of(log, since) if line.strip()]
    complaints = [found[1] or found[2] for line in lines if (found := _TELLING.search(line)) and (found[1] or found[2])]
    return next(iter(complaints[-1:] or lines[-1:]), "it said nothing")


def end_of(log: Path, since: int = 0) -> list[str]:
    """Gives the lines in the last 4 KiB of a log, from byte `since` on."""
    with log.open("rb") as file:
        file.seek(max(since, log.stat().st_size - 4096))
        return file.read().decode(errors="replace").splitlines()
