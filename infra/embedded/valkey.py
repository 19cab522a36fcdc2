"""A Valkey (or Redis) of our own on a unix socket."""

import contextlib
import signal
import socket
import time
from pathlib import Path

from infra.embedded.binaries import valkey_program
from infra.embedded.running import Running, StartFailed, named_in, start, wait_until, works_in

SERVER_SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "appendonly": "yes",
    "appendfsync": "everysec",  # Postgres is the truth; a lost second is handed out again
    "save": "",
    "maxmemory-policy": "noeviction",
}
FORMER_BOUND_S = 5.0


def start_redis(data: Path, run: Path, *, log: Path | None = None) -> Running:
    """Starts Valkey with its append-only file in `data`, listening on `run`/redis.sock only.

    Default of `log`: in `run`. Errors: StartFailed, EngineMissing.
    """
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    pid_file = data.absolute() / "redis.pid"
    _wait_for_the_former(pid_file, data)
    path = run.absolute() / "redis.sock"
    path.unlink(missing_ok=True)  # left by a killed server
    options = [part for name, value in SERVER_SETTINGS.items() for part in (f"--{name}", value)]
    running = start(
        "redis",
        [valkey_program(), *options, "--unixsocket", path, "--dir", data.absolute(), "--pidfile", pid_file],
        log=log or run / "redis.log",
        url=f"unix://{path}",
        orphan_signal=signal.SIGTERM,
    )
    try:
        return wait_until(running, lambda: _answers(path))
    except StartFailed as failure:
        raise StartFailed(f"{failure}; {data} may be removed: all in it is made again") from None


def _wait_for_the_former(pid_file: Path, data: Path) -> None:
    """Waits for an orphan that is on its way out: two servers must not write one append-only file."""
    deadline = time.monotonic() + FORMER_BOUND_S
    while time.monotonic() < deadline and pid_file.exists():
        if not works_in(named_in(pid_file.read_text(errors="replace")), data):
            pid_file.unlink()  # it was killed
        time.sleep(0.01)


def _answers(path: Path) -> bool:
    """Is true once the server has read its file: until then it answers LOADING."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(str(path))
        client.sendall(b"PING\r\n")
        return client.recv(16).startswith(b"+PONG")
    return False
