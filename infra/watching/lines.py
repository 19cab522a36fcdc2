"""The lines of answered requests, written past the standard logging: that costs more than many an answer."""

import asyncio
import os
import sys
import time
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct, to_builtins

from infra.settings import Settings
from infra.watching.logs import is_json

LATE_S = 0.1

_encode = msgspec.json.Encoder().encode


class RequestLines:
    """Writes a line for each request to standard error, as the settings want them.

    Lines are written together, a tenth of a second late at most: a system call for each would cost more than all else.
    """

    def __init__(self, settings: Settings, out: BinaryIO | None = None) -> None:
        self._out = out or sys.stderr.buffer
        self._is_json = is_json(settings)
        self._from = ("debug", "info", "warning", "error").index(settings.log_level)
        self._head = b'{"timestamp":"%%b","event":"request","process":"api","pid":%d,' % os.getpid()
        self._second, self._written = -1, b""
        self._waiting: list[bytes] = []

    def is_wanted(self, status: int, *, is_probe: bool) -> bool:
        """Tells whether a line is written: of probes only for who asks for everything, of faults for almost all."""
        rank = 2 if status >= 500 else 0 if is_probe else 1
        return rank >= self._from

    def write(self, request: Struct) -> None:
        """Writes a line soon, with the fields of `request`; called in the event loop."""
        if not self._waiting:
            asyncio.get_running_loop().call_later(LATE_S, self.close)
        if self._is_json:
            self._waiting.append(self._head % self._now() + _encode(request)[1:])
        else:
            self._waiting.append(_for_people(self._now(), request))

    def close(self) -> None:
        """Writes what waits. A standard error that takes nothing must stop nobody's game."""
        if self._waiting:
            together, self._waiting = b"\n".join(self._waiting) + b"\n", []
            with suppress(OSError):
                self._out.write(together)
                self._out.flush()

    def _now(self) -> bytes:
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second, self._written = second, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)).encode()
        return b"%b.%03dZ" % (self._written, int(now % 1 * 1000))


def _for_people(now: bytes, request: Struct) -> bytes:
    """Writes what is known in the order of the fields."""
    fields: dict[str, Any] = to_builtins(request)
    level, ms, whole_ms = fields.pop("level"), fields.pop("ms"), fields.pop("whole_ms", None)
    spent = f"{ms} ms" if whole_ms is None else f"{ms} ms, {whole_ms} ms in all"
    told = " ".join([f"{name}={value}" for name, value in fields.items() if value != ""])
    return now + f" [{level:<9}] request {told} {spent}".encode()
