"""A Postgres of our own on a unix socket."""

import contextlib
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from infra.embedded.binaries import as_ordinary_user, postgres_folder
from infra.embedded.running import START_BOUND_S, Running, StartFailed, named_in, start, wait_until, works_in

# For a small machine and a quick start; durability is Postgres's own default: fsync and full commits.
SERVER_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "huge_pages": "off",
    "jit": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
RESTART_BOUND_S = 5.0  # what is left of a killed server ends by itself within this time


def start_postgres(
    data: Path,
    run: Path,
    *,
    log: Path | None = None,
    settings: Mapping[str, str] | None = None,
    bound_s: float = START_BOUND_S,
) -> Running:
    """Starts Postgres on the cluster in `data`, made at the first start, listening on a socket in `run` only.

    `run`: a short path, since a socket's path ends at about 100 characters; default of `log`: in `run`.
    `settings` go over SERVER_SETTINGS. The only user is the superuser `postgres`, the database `postgres`.
    `bound_s`: of the start; a recovery takes as long as its log is.
    A cluster whose server was killed starts too. Errors: StartFailed, EngineMissing.
    """
    log = log or run / "postgres.log"
    if not (data / "PG_VERSION").exists():
        make_cluster(data, log=log)
    options = [f"-c{name}={value}" for name, value in {**SERVER_SETTINGS, **(settings or {})}.items()]
    command = [
        *as_ordinary_user([data, run], signal.SIGINT),
        str(postgres_folder() / "postgres"),
        *("-D", str(data.absolute()), "-k", str(run.absolute()), *options),
    ]
    deadline = time.monotonic() + RESTART_BOUND_S
    while True:
        _forget_dead_server(data, run)
        try:
            return _start(command, data=data, run=run, log=log, bound_s=bound_s)
        except StartFailed:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)  # the killed server's sessions may still be on their way out


def database_url(run: Path) -> str:
    """Gives the address of the Postgres whose socket is in a folder."""
    return f"postgresql://postgres@/postgres?host={run}"


def make_cluster(data: Path, *, log: Path) -> None:
    """Makes an empty cluster: all of it or nothing, so that a start cut short can be repeated."""
    new = data.with_name(data.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True, mode=0o700)
    command = [
        *as_ordinary_user([new], signal.SIGKILL),
        str(postgres_folder() / "initdb"),
        *("--pgdata", str(new.absolute()), "--username", "postgres", "--encoding", "UTF8", "--locale", "C"),
        *("--auth-local", "trust", "--auth-host", "reject", "--no-instructions"),
    ]
    made = start("initdb", command, log=log)
    wait_until(made, lambda: made.process.poll() == 0, bound_s=60)
    new.rename(data)


def _start(command: Sequence[str], *, data: Path, run: Path, log: Path, bound_s: float) -> Running:
    running = start(
        "postgres",
        command,
        log=log,
        url=database_url(run.absolute()),
        stop_signal=signal.SIGINT,  # fast shutdown: sessions are ended, nothing is lost
        orphan_signal=signal.SIGINT,
    )
    return wait_until(running, lambda: _is_ready(data / "postmaster.pid", running.pid), bound_s)


def _is_ready(lock: Path, pid: int) -> bool:
    """Reads the server's own word, as pg_ctl does: the last line of its lock file."""
    lines = _lines(lock) or []
    return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"


def _forget_dead_server(data: Path, run: Path) -> None:
    """Removes lock files whose process is another one by now, or a zombie: Postgres cannot tell."""
    for lock in (data / "postmaster.pid", run / ".s.PGSQL.5432.lock"):
        lines = _lines(lock)
        if lines is not None and not works_in(named_in("\n".join(lines)), data):
            lock.unlink(missing_ok=True)


def _lines(lock: Path) -> list[str] | None:
    with contextlib.suppress(FileNotFoundError):
        return lock.read_text(errors="replace").splitlines()
    return None
