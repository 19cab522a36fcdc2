"""What a relay remembers and says, on a log and a bus that a test makes."""

import asyncio
from collections.abc import Sequence

import pytest

from services import relay
from services.handouts import HandOuts
from services.ids import new_uuid
from services.memory import MemoryJobs
from services.ports import Unavailable, WorkKind
from services.relay import LogEntry, Position, Relay
from tests.engines import eventually


class Log:
    """Gives each entry once, in order."""

    generation = "one"

    def __init__(self) -> None:
        self.entries: list[LogEntry] = []

    def happens(self, game: bytes, version: int, work: WorkKind | None = None, due_s: float | None = None) -> None:
        place = len(self.entries) + 1
        self.entries.append(LogEntry(place, place, game, version, b"", work, due_s))

    async def checkpoint(self) -> Position:
        return (0, 0)

    async def batch(self, after: Position, limit: int) -> list[LogEntry]:
        return [entry for entry in self.entries if (entry.xid, entry.gseq) > after][:limit]

    async def replay_start(self, checkpoint: Position, seconds: int) -> Position:
        return checkpoint

    async def save(self, checkpoint: Position) -> None:
        pass

    async def poked(self, timeout_s: float) -> bool:
        await asyncio.sleep(0)
        return False


class Bus:
    """Counts what it is told. is_away: it takes nothing; tries: how often it was tried."""

    def __init__(self) -> None:
        self.is_away = False
        self.tries = self.told = 0

    async def connect(self, generation: str) -> None:
        self._try()

    async def publish(self, entries: Sequence[LogEntry]) -> None:
        self._try()
        self.told += len(entries)

    def _try(self) -> None:
        self.tries += 1
        if self.is_away:
            raise Unavailable("away")


async def test_that_the_bus_is_away_is_said_once_each_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(relay, "_RETRY_S", 0)
    log, bus, game = Log(), Bus(), new_uuid().bytes
    running = asyncio.create_task(Relay(log, bus, HandOuts(MemoryJobs())).run())
    for version in (1, 2):
        bus.is_away, bus.tries = True, 0
        log.happens(game, version)
        await eventually(lambda: bus.tries > 3)
        bus.is_away = False
        await eventually(lambda: bus.told == len(log.entries))
        assert caplog.text.count("the bus is away") == version
    running.cancel()
    await asyncio.wait({running})


async def test_so_many_games_are_remembered_and_what_is_left_to_the_clock_is_handed_out_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay, "_KNOWN_GAMES", 2)
    log, bus, hand_outs, games = Log(), Bus(), HandOuts(MemoryJobs()), [new_uuid().bytes for _ in range(4)]
    following = Relay(log, bus, hand_outs)
    running = asyncio.create_task(following.run())
    for game in games:
        log.happens(game, 1, "bots", 3600.0)
    await eventually(lambda: len(hand_outs._timers) == 4)
    assert list(following._versions) == games[2:]
    for game in games:
        log.happens(game, 2, "turn_timer", 60.0)
    await eventually(lambda: not hand_outs._timers)
    running.cancel()
    await asyncio.wait({running})
