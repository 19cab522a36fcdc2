"""What the goals of the event store measure of ours: appends of many tasks or of one, races, and loading."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain, islice
from random import Random

import uvloop

from domain.events import CardDrawn, Event
from domain.evolve import fold
from infra.postgres.database import Database
from infra.postgres.lane import Lane
from infra.postgres.log import PostgresLog
from services.codec import encode_event
from services.ids import new_uuid, public_id
from services.ports import Append, KeyedRequest, NewEvent, VersionConflict, Work
from tests.domain.games import at_random, whole_game

PAYLOAD_BYTES = 300
CONFLICTS = 0.02
LOADED = 400  # events: most of a game among people

_EMPTY = CardDrawn(0, "stock", "", 50)
EVENT = CardDrawn(0, "stock", "x" * (PAYLOAD_BYTES - len(encode_event(_EMPTY)[2])), 50)


def appends_per_s(url: str, *, tasks: int, events: int, whole: bool, conflicts: float = 0, seconds: float) -> float:
    """Lets tasks append to games of their own. whole: with receipts and work; conflicts: the share of races."""
    return uvloop.run(_appends_per_s(url, tasks, events, whole, conflicts, seconds))


async def _appends_per_s(url: str, tasks: int, events: int, whole: bool, conflicts: float, seconds: float) -> float:
    count, luck = 0, Random(tasks)

    async def work() -> None:
        nonlocal count
        game, after = public_id("gam", new_uuid()), 0
        while time.perf_counter() < end:
            if conflicts and luck.random() < conflicts:
                written = await _race(log, rival, game, after, events, whole)
                after += written * events
                count += written
            else:
                await log.append(_append(game, after, events, whole))
                count += 1
                after += events

    async with AsyncExitStack() as exits:
        log, rival = [await exits.enter_async_context(opened_log(url)) for _ in range(2)]
        began = time.perf_counter()
        end = began + seconds
        await asyncio.gather(*(work() for _ in range(tasks)))
        return count / (time.perf_counter() - began)


async def _race(log: PostgresLog, rival: PostgresLog, game: str, after: int, events: int, whole: bool) -> int:
    """Has two processes write one version; the loser reads the other's events and writes after them."""
    racers = [(one, _append(game, after, events, whole)) for one in (log, rival)]
    results = await asyncio.gather(*(one.append(append) for one, append in racers), return_exceptions=True)
    for (one, _), result in zip(racers, results, strict=True):
        if isinstance(result, VersionConflict):
            tail = await one.read(game, after)
            await one.append(_append(game, after + len(tail), events, whole))
        elif isinstance(result, BaseException):
            raise result
    return len(racers)


def loads_per_s(url: str, *, seconds: float) -> float:
    """Reads a game of 400 events again and again, decoded and folded, from the middle one of several games."""
    return uvloop.run(_loads_per_s(url, seconds))


async def _loads_per_s(url: str, seconds: float) -> float:
    async with opened_log(url) as log:
        games = [await _stored_game(log, seed) for seed in range(5)]
        times = []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for game in games:
                began = time.perf_counter()
                fold(recorded.event for recorded in await log.read(game))
                times.append(time.perf_counter() - began)
        return 1 / statistics.median(times)


async def _stored_game(log: PostgresLog, seed: int) -> str:
    game, after = public_id("gam", new_uuid()), 0
    events = some_events(seed)
    for first in range(0, LOADED, 4):
        command = new_uuid()
        new = [NewEvent(event, "bot", 1, command, n) for n, event in enumerate(events[first : first + 4])]
        await log.append(Append(game, after, tuple(new)))
        after += len(new)
    return game


def some_events(seed: int) -> list[Event]:
    """Plays the first 400 events of a game."""
    played = whole_game("davis", 4, seed, at_random(Random(seed), share=0.1))
    return list(islice(chain.from_iterable(events for _, events in played), LOADED))


@asynccontextmanager
async def opened_log(url: str) -> AsyncIterator[PostgresLog]:
    """Is a log as a process has it, with all connections made and the statements prepared."""
    database, lane = Database(url, size=4, name="bench"), Lane(url, name="bench append")
    log = PostgresLog(database, lane)
    await log.append(_append(public_id("gam", new_uuid()), 0, 1, whole=True))
    await asyncio.gather(*(log.read(public_id("gam", new_uuid())) for _ in range(4)))
    yield log
    await lane.close()
    await database.close()


def _append(game: str, after: int, events: int, whole: bool) -> Append:
    command = new_uuid()
    new = tuple(NewEvent(EVENT, "player", 1, command, ordinal) for ordinal in range(events))
    if not whole:
        return Append(game, after, new)
    request = KeyedRequest("ply_0123456789abcdefghjkmnpqrs", "makeMove", command.hex, bytes(32))
    return Append(game, after, new, Work("turn_timer", 60_000), request)
