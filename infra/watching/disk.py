"""How much room is left where the database lies; Postgres stops the moment it finds none for its own log."""

import os
from collections.abc import Callable
from pathlib import Path

from infra.watching.numbers import Reading


def disk_readings(folder: str) -> tuple[Reading, ...]:
    """Is the room on a folder's disk, as whoever is not root finds it; nothing where no folder is named."""
    if not folder:
        return ()

    def seen(number: Callable[[os.statvfs_result], float]) -> float:
        try:
            return number(os.statvfs(Path(folder)))
        except OSError:
            return float("nan")

    return (
        Reading(
            "gauge", "shanghai_disk_free_bytes", "Room left where the database lies",
            lambda: seen(lambda disk: disk.f_bavail * disk.f_frsize),
        ),
        Reading(
            "gauge", "shanghai_disk_free_ratio", "Room left where the database lies, as a share of its disk",
            lambda: seen(_share),
        ),
    )  # fmt: skip


def _share(disk: os.statvfs_result) -> float:
    """Leaves out what is reserved for root, as df does."""
    usable = disk.f_blocks - disk.f_bfree + disk.f_bavail
    return disk.f_bavail / usable if usable else float("nan")
