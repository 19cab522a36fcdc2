"""The lines of answered requests, written past the standard logging: that costs more than many an answer."""

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct, to_builtins

from infra.settings import Settings
from infra.watching.logs import is_json

_encode = msgspec.json.Encoder().encode


class RequestLines:
    """Writes a line for each request to standard error, as the settings want them."""

    def __init__(self, settings: Settings, out: BinaryIO | None = None) -> None:
        self._out = out or sys.stderr.buffer
        self._line = _json_line if is_json(settings) else _text_line
        self._from = ("debug", "info", "warning", "error").index(settings.log_level)

    def is_wanted(self, status: int, *, is_probe: bool) -> bool:
        """Tells whether a line is written: of probes only for who asks for everything, of faults for almost all."""
        rank = 2 if status >= 500 else 0 if is_probe else 1
        return rank >= self._from

    def write(self, requests: Iterable[tuple[float, Struct]]) -> None:
        """Writes lines with the time and the fields of each request, with one system call where one is enough.

        A standard error that takes nothing must stop nobody's game.
        """
        together = b"".join([self._line(_timestamp(at), request) for at, request in requests])
        with suppress(OSError):
            self._out.write(together)
            self._out.flush()


def _timestamp(at: float) -> bytes:
    return b"%b.%03dZ" % (_to_the_second(int(at)), int(at % 1 * 1000))


@lru_cache(maxsize=2)
def _to_the_second(at: int) -> bytes:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)).encode()


def _json_line(timestamp: bytes, request: Struct) -> bytes:
    return _HEAD % (timestamp, os.getpid()) + _encode(request)[1:] + b"\n"


_HEAD = b'{"timestamp":"%b","event":"request","process":"api","pid":%d,'


def _text_line(timestamp: bytes, request: Struct) -> bytes:
    """Writes what is known in the order of the fields."""
    fields: dict[str, Any] = to_builtins(request)
    level, ms, whole_ms = fields.pop("level"), fields.pop("ms"), fields.pop("whole_ms", None)
    spent = f"{ms} ms" if whole_ms is None else f"{ms} ms, {whole_ms} ms in all"
    told = " ".join([f"{name}={value}" for name, value in fields.items() if value != ""])
    return timestamp + f" [{level:<9}] request {told} {spent}\n".encode()
