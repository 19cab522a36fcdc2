"""The folder that an embedded server lives in: data/{lock, secret.key, metrics.json, postgres/, redis/, logs/, run}."""

import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from infra.embedded import CannotRun
from infra.embedded.engines import SHORT_FOLDER, short_folder
from infra.embedded.soundness import FolderUnusable, told_of


class FolderInUse(CannotRun):
    """Another stack runs on this data folder."""


@contextmanager
def locked(data: Path) -> Iterator[None]:
    """Makes the folder where it is missing and holds it for this process; a crash lets go of it too."""
    with told_of(data):
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        (data / "logs").mkdir(exist_ok=True, mode=0o700)
        lock = (data / "lock").open("a+")
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise FolderInUse(f"{data} is in use by process {file.read().strip() or 'unknown'}") from None
        with told_of(data):
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
        yield


@contextmanager
def socket_folder(data: Path) -> Iterator[Path]:
    """Is a new short folder for the engines' sockets, reached as data/run; a killed stack's is removed."""
    link = data / "run"
    if link.is_symlink():
        left = link.readlink()
        if str(left).startswith(SHORT_FOLDER):
            shutil.rmtree(left, ignore_errors=True)
        link.unlink()
    with short_folder() as folder:
        link.symlink_to(folder)
        try:
            yield folder
        finally:
            link.unlink()


def tell_scraper(data: Path, metrics: Mapping[str, str]) -> None:
    """Writes metrics.json: where each process tells its numbers, as Prometheus reads it (`file_sd_configs`).

    The label is one that no number has: Prometheus would rename the number's own, and alerts would not see it.
    """
    targets = [{"targets": [urlsplit(url).netloc], "labels": {"component": name}} for name, url in metrics.items()]
    new = data / "metrics.json.new"
    new.write_text(json.dumps(targets, indent=1) + "\n")
    new.rename(data / "metrics.json")


def secret_key(data: Path) -> str:
    """Reads data/secret.key, made at the first start: 64 hex digits that only its owner may read.

    Without it the seeds of running games are lost: it belongs to the data and is backed up with it.
    """
    path = data / "secret.key"
    with told_of(data):
        _make_key(path)
        key = path.read_text(errors="replace").strip()
    if not re.fullmatch("[0-9a-fA-F]{64}", key):
        raise FolderUnusable(f"{path} does not hold 64 hex digits: restore it from a backup")
    return key


def _make_key(path: Path) -> None:
    if not path.exists():
        new = path.with_name("secret.key.new")
        new.unlink(missing_ok=True)
        new.touch(mode=0o600)
        with new.open("w") as file:
            file.write(f"{secrets.token_hex(32)}\n")
            file.flush()
            os.fsync(file.fileno())
        new.rename(path)
