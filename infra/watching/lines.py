"""The lines of answered requests, written past the standard logging: that costs more than many an answer."""

import sys
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import BinaryIO

import msgspec
from msgspec import Struct

from infra.settings import Settings
from infra.watching.logs import is_json

_encode_lines = msgspec.json.Encoder().encode_lines


class RequestLine(Struct, omit_defaults=True, frozen=True, gc=False):
    """A line as programs read it.

    operation, route: empty where no operation has such a path; status 0: nothing was answered. ms: until the answer
    began; whole_ms: until its end, where that is later, as a stream's; problem: the code.
    """

    timestamp: str
    event: str
    process: str
    pid: int
    level: str
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

    def __str__(self) -> str:
        """Tells people what is known."""
        asked = f" method={self.method} operation={self.operation} route={self.route}" if self.operation else ""
        problem = f" problem={self.problem}" if self.problem else ""
        game = f" game_id={self.game_id}" if self.game_id else ""
        move = f" move_id={self.move_id}" if self.move_id else ""
        player = f" player_id={self.player_id}" if self.player_id else ""
        spent = f"{self.ms} ms" if self.whole_ms is None else f"{self.ms} ms, {self.whole_ms} ms in all"
        known = f"{asked} status={self.status}{problem}{game}{move}{player}"
        return f"{self.timestamp} [{self.level:<9}] {self.event} request_id={self.request_id}{known} {spent}"


class RequestLines:
    """Writes a line for each request to standard error, as the settings want them."""

    def __init__(self, settings: Settings, out: BinaryIO | None = None) -> None:
        self._out = out or sys.stderr.buffer
        self._written = _encode_lines if is_json(settings) else _text
        self._from = ("debug", "info", "warning", "error").index(settings.log_level)

    def is_wanted(self, status: int, *, is_probe: bool) -> bool:
        """Tells whether a line is written: of probes only for who asks for everything, of faults for almost all.

        status: 0 where nothing was answered, which is a fault too.
        """
        rank = 2 if not 0 < status < 500 else 0 if is_probe else 1
        return rank >= self._from

    def write(self, lines: Iterable[RequestLine]) -> None:
        """Writes lines. A standard error that takes nothing must stop nobody's game."""
        with suppress(OSError):
            self._out.write(self._written(lines))
            self._out.flush()


def timestamp(at: float) -> str:
    """Writes a moment of the clock as lines have it."""
    return _timestamp(int(at * 1000))


@lru_cache(maxsize=256)
def _timestamp(ms: int) -> str:
    """Some answers share each millisecond."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _text(lines: Iterable[RequestLine]) -> bytes:
    return "".join([f"{line}\n" for line in lines]).encode()
