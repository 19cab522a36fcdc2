"""A way to Postgres on which a process meets its end at one moment of an append: before it arrives, or after it is
committed and before anybody hears of it.
"""

import asyncio
from collections.abc import Callable
from typing import Literal, TypeAlias

from tests.wire import READY, Wire

Moment: TypeAlias = Literal["sent", "committed"]

_PARSE, _BIND = b"P", b"B"  # how a message begins that prepares a statement, and one that carries it out
_APPEND = b"INSERT INTO event"
_UNDER_WAY = b""  # a note that no statement's name can be: an append was carried out on this connection


class DeadlyWire(Wire):
    """kill: called once, at the moment, in the next append."""

    def __init__(self) -> None:
        super().__init__()
        self.moment: Moment = "sent"
        self.kill: Callable[[], None] | None = None
        self.has_struck = asyncio.Event()

    def arm(self, moment: Moment, kill: Callable[[], None]) -> None:
        self.moment, self.kill = moment, kill

    def sent(self, chunk: bytes, notes: set[bytes]) -> bool:
        if chunk.startswith(_PARSE) and _APPEND in chunk:
            notes.add(chunk[5 : chunk.index(0, 5)])
        if not (chunk.startswith(_BIND) and any(name in chunk for name in notes if name)):
            return True
        notes.add(_UNDER_WAY)
        return not (self.moment == "sent" and self._strikes())

    def answered(self, chunk: bytes, notes: set[bytes]) -> bool:
        is_done = _UNDER_WAY in notes and chunk.endswith(READY)
        return not (is_done and self.moment == "committed" and self._strikes())

    def _strikes(self) -> bool:
        if self.kill is None:
            return False
        self.kill()
        self.kill = None
        self.has_struck.set()
        return True
