"""This machine: Python, what the environment names, room on the disk, the clock."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from infra.doctor.finding import Finding, bad, judged, ok, warn
from infra.settings import unknown_variables

OLDEST_PYTHON = (3, 11)
LITTLE_ROOM, NO_ROOM = 2 << 30, 256 << 20  # bytes; Postgres stops the moment it cannot write its own log
SKEW_S, LARGE_SKEW_S = 1.0, 30.0


def look_at_python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    """Looks whether this Python is new enough."""
    found, oldest = ".".join(map(str, version)), ".".join(map(str, OLDEST_PYTHON))
    return judged("python", found, warns=False, fails=version < OLDEST_PYTHON, todo=f"install {oldest} or newer")


def look_at_variables(environ: Mapping[str, str] | None = None) -> Finding:
    """Looks for variables that nothing reads: a misspelled one leaves its default in force."""
    if unknown := unknown_variables(environ):
        return warn("settings", f"nothing reads {', '.join(unknown)}", "compare with `shanghai settings`")
    return ok("settings", "all are known and can be used")


def look_at_room(what: str, folder: Path) -> Finding:
    """Looks how much room is left where a folder lies."""
    try:
        disk = os.statvfs(folder)
    except OSError as error:
        return warn(what, f"{folder} cannot be looked at: {error.strerror}", "look at its disk by other means")
    free = disk.f_bavail * disk.f_frsize
    return judged(
        what,
        f"{free / (1 << 30):.1f} GiB free at {folder}",
        warns=free < LITTLE_ROOM,
        fails=free < NO_ROOM,
        todo="make room, or archive months (`shanghai archive`)",
    )


def look_at_rights(data: Path) -> Iterator[Finding]:
    """Looks whether others may read a data folder or its key."""
    for path in (data, data / "secret.key"):
        if path.exists() and path.stat().st_mode & 0o077 & (0o066 if path == data else 0o077):
            yield bad("data folder", f"others may read {path}", f"chmod go-rwx {path}")
            return
    yield ok("data folder", f"{data} is its owner's alone")


def look_at_clock(what: str, skew_s: float) -> Finding:
    """Judges by how much another clock is ahead of this one."""
    return judged(
        f"clock of {what}",
        f"{abs(skew_s):.2f} s {'ahead of' if skew_s > 0 else 'behind'} this machine's",
        warns=abs(skew_s) > SKEW_S,
        fails=abs(skew_s) > LARGE_SKEW_S,
        todo="let both machines follow one time server (NTP)",
    )
