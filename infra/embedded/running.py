"""One child process: started tied to this one, watched until it is ready, stopped within a bound."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.embedded import CannotRun, tether
from infra.embedded.soundness import reason_in
from infra.settings import environment

START_BOUND_S = 600.0  # as long as a recovery or a migration may take; who has ended is told at once


class StartFailed(CannotRun):
    """A process ended or stayed silent while it was to become ready; the text has its complaint and names its log."""


@dataclass(frozen=True, kw_only=True)
class Running:
    """A started process; `url` is where an engine is reached and empty for other processes.

    log_began: where in its log, which earlier ones have written too, it begins.
    """

    name: str
    url: str
    log: Path
    log_began: int
    process: subprocess.Popen[bytes]
    stop_signal: signal.Signals

    @property
    def pid(self) -> int:
        """Is the process itself, not a wrapper: kill -9 of it is a crash of the engine."""
        return self.process.pid

    def ask_to_stop(self) -> None:
        """Sends the signal that ends this process in good order."""
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)

    def stop(self, bound_s: float = 5.0) -> None:
        """Ends the process in good order, or by KILL after `bound_s`."""
        self.ask_to_stop()
        try:
            self.process.wait(bound_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start(
    name: str,
    command: Sequence[str | Path],
    *,
    log: Path,
    url: str = "",
    variables: Mapping[str, str] | None = None,
    stop_signal: signal.Signals = signal.SIGTERM,
    orphan_signal: signal.Signals = signal.SIGKILL,
) -> Running:
    """Starts a command in a session of its own, its output added to `log`; Ctrl-C reaches only the parent.

    It gets `orphan_signal` when the thread that called this ends, however it ends.
    """
    tied = [
        sys.executable,
        "-ISs",
        tether.__file__,
        str(os.getpid()),
        str(int(orphan_signal)),
        *map(str, command),
    ]
    with log.open("ab") as output:
        log_began = output.tell()
        process = subprocess.Popen(
            tied,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=environment(variables or {}),
        )
    return Running(name=name, url=url, log=log, log_began=log_began, process=process, stop_signal=stop_signal)


def wait_until(running: Running, is_ready: Callable[[], bool], bound_s: float = START_BOUND_S) -> Running:
    """Returns once `is_ready`; a process that ends first, or takes longer than `bound_s`, is StartFailed."""
    deadline = time.monotonic() + bound_s
    while True:
        has_ended = running.process.poll() is not None  # looked at first: one that ends as it should is ready by that
        if is_ready():
            return running
        if has_ended or time.monotonic() > deadline:
            running.stop(0)
            raise StartFailed(
                f"{running.name} did not start: {reason_in(running.log, running.log_began)} (more in {running.log})"
            )
        time.sleep(0.005)


def works_in(pid: int, folder: Path) -> bool:
    """Tells whether a living process has `folder` as its own, as the engines do; a zombie has none.

    Elsewhere than on Linux nobody can tell, and the answer is yes.
    """
    if not Path("/proc/self").exists():
        return True
    try:
        return Path(f"/proc/{pid}/cwd").samefile(folder)
    except OSError:
        return False


def named_in(lock: str) -> int:
    """Reads the process that a lock file names first; 0, which is nobody's, where the file is damaged."""
    first = lock.split("\n", 1)[0].strip()
    return int(first) if first.isdecimal() else 0
