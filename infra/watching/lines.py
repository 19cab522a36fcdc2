"""The lines of answered requests, written past the standard logging: that costs more than many an answer."""

import os
import sys
import time
from typing import BinaryIO

import msgspec
from msgspec import Struct

from infra.settings import Settings
from infra.watching.logs import is_json

_encode = msgspec.json.Encoder().encode


class RequestLine(Struct, omit_defaults=True, gc=False):
    """One answered request. ms: until the answer began; whole_ms: until it ended, where that is another time."""

    timestamp: str
    level: str
    process: str
    pid: int
    event: str
    request_id: str
    method: str
    operation: str
    route: str
    status: int
    ms: float
    whole_ms: float | None = None
    problem: str | None = None
    game_id: str | None = None
    move_id: str | None = None
    player_id: str | None = None


class RequestLines:
    """Writes a line for each request to standard error, as the settings want them."""

    def __init__(self, settings: Settings, out: BinaryIO | None = None) -> None:
        self._out = out or sys.stderr.buffer
        self._is_json = is_json(settings)
        self._from = ("debug", "info", "warning", "error").index(settings.log_level)
        self._pid = os.getpid()
        self._second, self._written = -1, ""

    def is_wanted(self, status: int, *, is_probe: bool) -> bool:
        """Tells whether a line is written: of probes only for who asks for everything, of faults for almost all."""
        rank = 2 if status >= 500 else 0 if is_probe else 1
        return rank >= self._from

    def write(self, line: RequestLine) -> None:
        """Writes a line. A standard error that takes nothing must stop nobody's game."""
        line.timestamp, line.pid = self._now(), self._pid
        try:
            self._out.write((_encode(line) if self._is_json else _for_people(line)) + b"\n")
            self._out.flush()
        except OSError:
            return

    def _now(self) -> str:
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second, self._written = second, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._written}.{int(now % 1 * 1000):03}Z"


def _for_people(line: RequestLine) -> bytes:
    parts = (
        line.timestamp,
        f"[{line.level:<7}]",
        line.method or "-",
        line.route or "-",
        str(line.status),
        f"{line.ms} ms",
        *(each for each in (line.problem, line.request_id, line.game_id, line.move_id, line.player_id) if each),
    )
    return " ".join(parts).encode()
