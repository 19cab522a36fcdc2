"""A Valkey (or Redis) of our own on a unix socket."""

import contextlib
import signal
import socket
from pathlib import Path

from infra.embedded.binaries import valkey_program
from infra.embedded.running import Running, start, wait_until

SERVER_SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "appendonly": "yes",
    "appendfsync": "everysec",  # Postgres is the truth; a lost second is handed out again
    "save": "",
    "maxmemory-policy": "noeviction",
}


def start_redis(data: Path, run: Path, *, log: Path | None = None) -> Running:
    """Starts Valkey with its append-only file in `data`, listening on `run`/redis.sock only.

    Default of `log`: in `run`. Errors: StartFailed, EngineMissing.
    """
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = run.absolute() / "redis.sock"
    path.unlink(missing_ok=True)  # left by a killed server
    options = [part for name, value in SERVER_SETTINGS.items() for part in (f"--{name}", value)]
    running = start(
        "redis",
        [valkey_program(), *options, "--unixsocket", path, "--dir", data.absolute()],
        log=log or run / "redis.log",
        url=f"unix://{path}",
        orphan_signal=signal.SIGTERM,
    )
    return wait_until(running, lambda: _answers(path))


def _answers(path: Path) -> bool:
    """Is true once the server has read its file: until then it answers LOADING."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(str(path))
        client.sendall(b"PING\r\n")
        return client.recv(16).startswith(b"+PONG")
    return False
