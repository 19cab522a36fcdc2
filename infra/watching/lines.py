"""The lines of answered requests, written past the standard logging: that costs more than many an answer."""

import os
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
        """Writes lines with the time and the fields of each request, for people as its `str` tells them.

        A standard error that takes nothing must stop nobody's game.
        """
        together = b"".join([self._line(_timestamp(int(at * 1000)), request) for at, request in requests])
        with suppress(OSError):
            self._out.write(together)
            self._out.flush()


@lru_cache(maxsize=256)
def _timestamp(ms: int) -> bytes:
    """Writes the milliseconds of the clock; some answers share each of them."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3].encode() + b"Z"


def _json_line(timestamp: bytes, request: Struct) -> bytes:
    return _HEAD % (timestamp, os.getpid()) + _encode(request)[1:] + b"\n"


_HEAD = b'{"timestamp":"%b","event":"request","process":"api","pid":%d,'


def _text_line(timestamp: bytes, request: Struct) -> bytes:
    return b"%b %b\n" % (timestamp, str(request).encode())
