"""The folder of a worker's numbers, which its forked processes share; those that killed workers left are removed."""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "shanghai-worker-"
_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - there where all else may only be read

_WRITER = re.compile(r"_(\d+)\.db$")  # the library names the process that writes a file


@contextmanager
def shared_folder(place: Path | None = None) -> Iterator[Path]:
    """Is a new folder, removed at the end; those that killed processes of this user have left are removed first.

    place: by default in memory, where there is such a place. What is held is locked, whichever process numbers
    its holder sees; a folder in which a living process writes is left alone too, since earlier versions locked none.
    """
    place = place or (_IN_MEMORY if _IN_MEMORY.is_dir() else Path(tempfile.gettempdir()))
    for left in place.glob(PREFIX + "*"):
        _remove_if_dead(left)
    folder, held = _new(place)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def _new(place: Path) -> tuple[Path, int]:
    """Makes one and locks it; another start that found it in between has removed it, and the next is tried."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        with suppress(FileNotFoundError):
            held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(held, fcntl.LOCK_EX)
            if folder.exists():
                return folder, held
            os.close(held)


def _remove_if_dead(folder: Path) -> None:
    try:
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if os.fstat(held).st_uid == os.geteuid() and not any(map(_is_alive, _writers(folder))):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    except (BlockingIOError, FileNotFoundError):
        return  # its worker lives, or another start has removed it
    finally:
        os.close(held)


def _writers(folder: Path) -> set[int]:
    return {int(found[1]) for path in folder.iterdir() if (found := _WRITER.search(path.name))}


def _is_alive(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False
