"""The relay: committed events, in the order of their commits, from the log to the bus; and the jobs that follow.

The bus refuses what it has already, so reading again from an older position doubles nothing; a job handed out twice
is harmless. So the checkpoint may lag behind, and whatever fails is repeated from there.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Literal, Protocol, TypeAlias
from uuid import UUID

from msgspec import Struct

from domain.events import RoundDealt, StockRenewed
from services.codec import TYPE_NUMBERS
from services.due import SWEEP_MS
from services.handouts import HandOuts
from services.ids import public_id
from services.ports import Unavailable, WorkKind

Position: TypeAlias = tuple[int, int]
"""A place in the log's order of commits: transaction, sequence number."""

POINTERS = (TYPE_NUMBERS[RoundDealt], TYPE_NUMBERS[StockRenewed])
"""Types of events that travel without their content, a whole deck: whoever may see of it reads the log."""

BATCH = 2_000
REPLAYED_S = 60  # what the bus may have lost when its connection was lost
SPIN_S = 0.003  # so long after an event or a poke the log is read again and again: others often follow
HOT_S = 0.025  # so long after it the log is read every millisecond
HOT_PAUSE_S = 0.001
IDLE_PAUSE_S = 0.05  # without a poke
SAVE_S = 0.2
_RETRY_S = 0.1
_KNOWN_GAMES = 100_000

_log = logging.getLogger(__name__)


class LogEntry(Struct, frozen=True, gc=False):
    """A stored event as the relay passes it on: where it stands, whose it is (the id's bytes) and what the bus tells.

    work: what its append asks for, if this is its last event; due_s: so long after the event.
    """

    xid: int
    gseq: int
    game: bytes
    version: int
    told: bytes
    work: WorkKind | Literal["nothing"] | None = None
    due_s: float | None = None


class OrderBroken(Exception):
    """The log's order has a hole within a game: a fault of the program, or rows written behind its back."""


class RelayLog(Protocol):
    """The log as its one leading relay reads it. Every call raises Unavailable when the leadership is lost."""

    generation: str

    async def checkpoint(self) -> Position:
        """Gives the position that was saved last."""
        ...

    async def batch(self, after: Position, limit: int) -> list[LogEntry]:
        """Reads in order what was committed after a position and cannot be preceded by anything still under way."""
        ...

    async def replay_start(self, checkpoint: Position, seconds: int) -> Position:
        """Gives a position before the events of the last seconds before the checkpoint."""
        ...

    async def save(self, checkpoint: Position) -> None:
        """Saves the position; later relays start there."""
        ...

    async def poked(self, timeout_s: float) -> bool:
        """Waits for word of a commit; false where none came in time."""
        ...


class Publisher(Protocol):
    """The writing end of the bus."""

    async def connect(self, generation: str) -> None:
        """Opens the bus anew; raises Unavailable."""
        ...

    async def publish(self, entries: Sequence[LogEntry]) -> None:
        """Adds entries, ignoring those that the bus has; raises Unavailable, then connect before the next try."""
        ...


class Relay:
    """One leadership: runs until the log is lost. `beat` is called whenever the relay is seen to be alive."""

    def __init__(
        self, log: RelayLog, bus: Publisher, hand_outs: HandOuts, beat: Callable[[], None] = lambda: None
    ) -> None:
        self._log = log
        self._bus = bus
        self._hand_outs = hand_outs
        self._beat = beat
        self._read: Position = (0, 0)  # published up to here on this connection of the bus
        self._done: Position = (0, 0)  # published and handed out
        self._saved: Position = (0, 0)
        self._saved_at = 0.0
        self._is_bus_lost = False
        self._versions: dict[bytes, int] = {}

    async def run(self) -> None:
        """Relays until Unavailable is raised by the log, or OrderBroken."""
        self._done = self._saved = await self._log.checkpoint()
        while True:
            try:
                await self._bus.connect(self._log.generation)
            except Unavailable as lost:
                await self._wait_for_bus(lost)
                continue
            self._read = await self._log.replay_start(self._done, REPLAYED_S)
            await self._run_on_this_bus()

    async def _run_on_this_bus(self) -> None:
        """Relays until the bus is lost. While a batch is published the next one is read."""
        news_at = 0.0
        reading = asyncio.create_task(self._log.batch(self._read, BATCH))
        try:
            while True:
                self._beat()
                entries = await reading
                if entries or await self._is_poked(time.monotonic() - news_at):
                    news_at = time.monotonic()
                read = _position(entries[-1]) if entries else self._read
                reading = asyncio.create_task(self._log.batch(read, BATCH))
                if entries and not await self._is_published(entries):
                    await reading
                    return
                await self._save()
        finally:
            reading.cancel()

    async def _is_poked(self, quiet_s: float) -> bool:
        """Waits for a poke, not at all right after an event, and the longer the quieter it has been."""
        return quiet_s > SPIN_S and await self._log.poked(HOT_PAUSE_S if quiet_s < HOT_S else IDLE_PAUSE_S)

    async def _is_published(self, entries: Sequence[LogEntry]) -> bool:
        try:
            await self._bus.publish(entries)
        except Unavailable as lost:
            await self._wait_for_bus(lost)
            return False
        self._is_bus_lost = False
        self._follow_up(entries)
        return True

    def _follow_up(self, entries: Sequence[LogEntry]) -> None:
        is_again = _position(entries[0]) <= self._done
        new = [entry for entry in entries if _position(entry) > self._done] if is_again else entries
        self._read = _position(entries[-1])
        self._done = max(self._done, self._read)
        self._check_versions(new)
        for entry in {entry.game: entry for entry in new if entry.work is not None}.values():
            self._hand_out(entry)

    def _hand_out(self, entry: LogEntry) -> None:
        game_id = public_id("gam", UUID(bytes=entry.game))
        delay_s = hand_out_delay_s(entry)
        if delay_s is None:
            self._hand_outs.forget(game_id)
        else:
            self._hand_outs.hand_out(game_id, delay_s=delay_s)

    def _check_versions(self, entries: Sequence[LogEntry]) -> None:
        versions = self._versions
        for entry in entries:
            game, version = entry.game, entry.version
            before = versions.get(game)
            if before is not None and version != before + 1:
                raise OrderBroken(f"game {UUID(bytes=game)}: version {version} came after version {before}")
            versions[game] = version
        for game in list(islice(versions, max(0, len(versions) - _KNOWN_GAMES))):
            del versions[game]  # the one that was met first; should it go on, its next event is believed

    async def _save(self) -> None:
        if self._done != self._saved and time.monotonic() > self._saved_at + SAVE_S:
            await self._log.save(self._done)
            self._saved, self._saved_at = self._done, time.monotonic()

    async def _wait_for_bus(self, lost: Unavailable) -> None:
        """Waits a little; the saving shows that this relay still leads, and the log that it still lives."""
        if not self._is_bus_lost:
            _log.warning("the bus is away: %s", lost)
        self._is_bus_lost = True
        await self._log.save(self._done)
        await asyncio.sleep(_RETRY_S)


def _position(entry: LogEntry) -> Position:
    return (entry.xid, entry.gseq)


def hand_out_delay_s(entry: LogEntry) -> float | None:
    """Tells how long after its event a job is handed out; None where that is left to the clock.

    A job that is due at once has a row that is due SWEEP_MS later; what it is due later than that is politeness.
    """
    if entry.due_s is None:
        return None
    if entry.work == "close_claims":
        return 0.0 if entry.due_s <= 0 else None
    return max(0.0, entry.due_s - SWEEP_MS / 1000) if entry.work in ("bots", "deal", "score") else None
