"""Who watches a game is told how far it has come, by the bus or by the log, and is forgotten when they leave."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from services import feed
from services.feed import Feed
from services.memory import MemoryBus, MemoryLog
from services.ports import FeedEntry, Unavailable
from tests.api.world import until


class Log(MemoryLog):
    """A log that knows how far games have come, unless it is away. asked: for which it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.come: dict[str, int] = {}
        self.is_away = False
        self.asked: list[set[str]] = []

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        self.asked.append(set(game_ids))
        if self.is_away:
            raise Unavailable("away")
        return {game_id: self.come[game_id] for game_id in game_ids if game_id in self.come}


class Watcher:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def hear(self, head: int) -> None:
        self.told.append(head)


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def bus(log: Log) -> MemoryBus:
    return MemoryBus(log)


@pytest.fixture
def offered() -> list[FeedEntry]:
    """What was brought into memory."""
    return []


@pytest.fixture
async def running(
    log: Log, bus: MemoryBus, offered: list[FeedEntry], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Feed]:
    monkeypatch.setattr(feed, "RECHECK_S", 0.01)
    those = Feed(log, offered.append)
    task = asyncio.create_task(those.run(bus))
    await until(lambda: bool(bus.queues))
    yield those
    task.cancel()
    await asyncio.wait({task})


async def test_what_is_known_is_told_once_and_an_older_word_of_it_never(log: Log, running: Feed) -> None:
    anna = Watcher()
    with running.watch("gam_a", anna):
        for head in (3, 2, 4):
            log.come["gam_a"] = head
            log.asked.clear()
            await until(lambda: len(log.asked) > 2)
        assert (anna.told, running.head("gam_a")) == ([3, 4], 4)


async def test_what_the_bus_brings_is_in_memory_when_it_is_told(
    bus: MemoryBus, running: Feed, offered: list[FeedEntry]
) -> None:
    anna = Watcher()
    batch = [FeedEntry("gam_a", 1, None), FeedEntry("gam_b", 7, None), FeedEntry("gam_a", 2, None)]
    with running.watch("gam_a", anna):
        bus.queues[0].put_nowait(batch)
        await until(lambda: anna.told == [2])
    assert offered == batch


async def test_who_has_left_is_told_nothing_and_what_nobody_watches_is_not_asked_for(log: Log, running: Feed) -> None:
    anna, boris = Watcher(), Watcher()
    with running.watch("gam_b", boris):
        with running.watch("gam_a", anna), running.watch("gam_a", boris):
            await until(lambda: log.asked[-1:] == [{"gam_a", "gam_b"}])
        with running.watch("gam_a", boris):
            log.come["gam_a"] = 1
            await until(lambda: boris.told == [1])
        await until(lambda: log.asked[-1] == {"gam_b"})
    assert anna.told == []


async def test_a_log_that_was_away_is_asked_again(log: Log, running: Feed) -> None:
    anna = Watcher()
    log.is_away, log.come["gam_a"] = True, 1
    with running.watch("gam_a", anna):
        await until(lambda: bool(log.asked))
        log.is_away = False
        await until(lambda: anna.told == [1])
