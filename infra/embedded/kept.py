"""Keeps processes running: a dead one is started again, one that dies over and over stops everything."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from infra.embedded import CannotRun
from infra.embedded.running import Running, StartFailed
from infra.embedded.soundness import end_of

WINDOW_S = 60.0
DEATHS_TO_GIVE_UP = 5  # in one window
_LAST_LINES = 5
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0  # a crash is mended at once, a broken start is not hammered

Say = Callable[[str], None]
Start = Callable[[], Running]


class GaveUp(CannotRun):
    """A process died too often; the text names it and its log."""


@dataclass(kw_only=True)
class Kept:
    """A process that is to run as long as the stack does: how it is started, what runs now, when it died."""

    start: Start
    running: Running
    deaths: list[float] = field(default_factory=list)
    restart_at: float | None = None


def keep(start: Start) -> Kept:
    """Starts a process that `watch` will keep running."""
    return Kept(start=start, running=start())


def watch(processes: Iterable[Kept], *, say: Say, until: Callable[[], bool], every_s: float = 0.1) -> None:
    """Keeps the processes running until `until`, asked every `every_s`. Errors: GaveUp."""
    kept = list(processes)
    while not until():
        for process in kept:
            revive(process, now=time.monotonic(), say=say)
        time.sleep(every_s)


def revive(kept: Kept, *, now: float, say: Say) -> None:
    """Notes a death once, then starts the process again when its pause is over. Errors: GaveUp."""
    if kept.running.process.poll() is None:
        return
    if kept.restart_at is None:
        kept.deaths = [*(death for death in kept.deaths if death > now - WINDOW_S), now]
        kept.restart_at = now + _pause_s(kept)
        say(f"{kept.running.name} ended ({_how(kept.running)}), starting it again")
    if now >= kept.restart_at:
        kept.restart_at = None
        try:
            kept.running = kept.start()
        except StartFailed as failure:  # the next look finds the dead one again: one more death
            say(str(failure))


def _pause_s(kept: Kept) -> float:
    if len(kept.deaths) >= DEATHS_TO_GIVE_UP:
        name, log = kept.running.name, kept.running.log
        last = "\n".join(end_of(log)[-_LAST_LINES:])
        raise GaveUp(f"{name} died {len(kept.deaths)} times in a minute; the end of {log}:\n{last}")
    return float(min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 3 ** (len(kept.deaths) - 1)))


def _how(running: Running) -> str:
    code = running.process.returncode
    return f"signal {-code}" if code < 0 else f"exit code {code}"
