"""What the tests of the embedded stack look at: processes, log lines, deadlines."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

import httpx

from infra.embedded.engines import SHORT_FOLDER
from infra.embedded.ports import free_port


def eventually(is_so: Callable[[], bool], *, within_s: float = 30.0, what: str = "") -> None:
    """Waits for a fact, looked at every 10 ms."""
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Tells a living process from a zombie, which the machine's first process may be slow to collect."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def descendants(pid: int) -> set[int]:
    """Names all living processes below one."""
    below: set[int] = set()
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                below |= {child} | descendants(child)
    return {child for child in below if is_running(child)}


def crash(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Command:
    """A `shanghai` command in a child process, its lines read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._coming: Queue[str] = Queue()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def line(self, start: str, *, within_s: float = 60.0) -> str:
        """Waits for a line that starts so, and gives the rest of it."""
        deadline = time.monotonic() + within_s
        while True:
            with suppress(Empty):
                self.lines.append(self._coming.get(timeout=0.05))
                if self.lines[-1].startswith(start):
                    return self.lines[-1].removeprefix(start).strip()
                continue
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.lines}"
            assert time.monotonic() < deadline, f"no line {start!r} within {within_s} s: {self.lines}"

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._reader.join()
        while not self._coming.empty():
            self.lines.append(self._coming.get())
        if self.process.stdout:
            self.process.stdout.close()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._coming.put(line.rstrip("\n"))


@contextmanager
def command(*arguments: str | Path) -> Iterator[Command]:
    """Runs python with these arguments from the repository's folder, standard error among its output."""
    started = Command(
        subprocess.Popen(
            [sys.executable, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
    )
    try:
        yield started
    finally:
        started.end()


@contextmanager
def up(data: Path) -> Iterator[tuple[Command, str]]:
    """A server that is ready, and its address; its sockets' folder is removed even if it is killed."""
    with command("-m", "infra.cli", "up", "--port", str(free_port()), "--data", data) as server:
        try:
            yield server, server.line("ready")
        finally:
            server.end()
            if (data / "run").is_symlink():
                left = (data / "run").readlink()
                assert str(left).startswith(SHORT_FOLDER)
                shutil.rmtree(left, ignore_errors=True)


def is_ready(base_url: str) -> bool:
    """Tells whether the server says that all is there."""
    try:
        answer = httpx.get(f"{base_url}/health/ready", timeout=2).json()
    except (httpx.HTTPError, ValueError):
        return False
    return bool(answer["status"] == "ok")


def shanghai(*arguments: str | Path) -> str:
    """Runs a command and gives what it says, errors included."""
    told = subprocess.run(
        [sys.executable, "-m", "infra.cli", *map(str, arguments)],
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return told.stdout
