"""What only one process need tell of the whole server: the leading clock reads it and exports it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from infra.beside import beside
from infra.jobs import ClosableJobs
from infra.postgres.database import Database
from infra.postgres.relay import lag
from infra.postgres.rows import WORK_KINDS
from infra.presence import Presence
from infra.settings import Settings
from infra.sql import statements
from infra.watching.disk import disk_readings
from infra.watching.numbers import Reading, reading, reading_of
from infra.watching.waiting import LOOK_S as WAITING_S
from infra.watching.waiting import Waiting
from services.ports import Unavailable

OVERDUE_S = 1.0  # a second is the sweep's own time for a repetition
STALLED_S = 30.0  # far beyond everything that repairs itself
_LOOK_S = 1.0
_COUNT_S = 15.0  # live games: one pass over their work rows
_SIZE_S = 60.0

_SQL = statements("numbers")


class Cluster:
    """The numbers as they were seen last; NaN, or nothing, where they cannot be read."""

    def __init__(
        self,
        fetch: Callable[..., Awaitable[list[Any]]],
        queue: Callable[[], Awaitable[int]],
        processes: Callable[[], Awaitable[dict[str, bool]]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._queue = queue
        self._processes = processes
        self._clock = clock
        self._barrier, self._barrier_at = 0, clock()
        self._counted_at = self._sized_at = -_SIZE_S
        self.seen: dict[str, float] = {}
        self.overdue: dict[str, float] = {}
        self.live: dict[str, float] = {}
        self.alive: dict[str, float] = {}

    async def look(self) -> None:
        """Reads once: the quick ones always, the others when their time has come."""
        try:
            await self._look_into_database()
        except Unavailable:
            self.seen, self.overdue, self.live = {}, {}, {}
            self._counted_at = self._sized_at = -_SIZE_S
        try:
            self.seen["queue"] = await self._queue()
        except Unavailable:
            self.seen.pop("queue", None)
        self.alive = {name: float(is_alive) for name, is_alive in (await self._processes()).items()}

    async def _look_into_database(self) -> None:
        now = self._clock()
        behind = await lag(self._fetch)
        self.seen |= {"relay_lag": max(0.0, behind.seconds), "held_back": float(behind.is_held_back)}
        [[projector_lag_s, barrier, is_held]] = await self._fetch(_SQL["late"])
        if barrier != self._barrier or not is_held:
            self._barrier, self._barrier_at = barrier, now
        self.seen |= {"projector_lag": max(0.0, projector_lag_s), "barrier_age": now - self._barrier_at}
        late = await self._fetch(_SQL["overdue"], OVERDUE_S, STALLED_S)
        self.overdue = dict.fromkeys(WORK_KINDS.values(), 0.0) | {WORK_KINDS[kind]: games for kind, games, _, _ in late}
        self.seen["stalled"] = sum(stalled for _, _, stalled, _ in late)
        self.seen["longest"] = max((longest_s for *_, longest_s in late), default=0.0)
        if now - self._counted_at >= _COUNT_S:
            [[waiting, playing]] = await self._fetch(_SQL["live"])
            self.live, self._counted_at = {"waiting": waiting, "playing": playing}, now
        if now - self._sized_at >= _SIZE_S:
            [[size, is_astray]] = await self._fetch(_SQL["size"])
            self.seen |= {"size": size, "astray": float(is_astray)}
            self._sized_at = now

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Is what is exported of it."""
        one = partial(reading_of, lambda: self.seen)
        return (
            one("shanghai_relay_lag_seconds", "relay_lag", "How long the oldest event waits for the bus"),
            one("shanghai_relay_held_back", "held_back", "1 while an open writing transaction holds the relay back"),
            one("shanghai_barrier_age_seconds", "barrier_age", "How long the oldest writing transaction is open"),
            one("shanghai_projector_lag_seconds", "projector_lag", "How long the oldest event waits for the lists"),
            one("shanghai_overdue_longest_seconds", "longest", "By how much the longest overdue work is late"),
            one("shanghai_games_stalled", "stalled", f"Games whose work is late by more than {STALLED_S:.0f} s"),
            one("shanghai_queue_length", "queue", "Jobs that wait in the broker"),
            one("shanghai_database_bytes", "size", "Size of the database"),
            one("shanghai_events_astray", "astray", "1 while event_default, which stays empty, holds events"),
            Reading("gauge", "shanghai_overdue", "Games whose work is late", lambda: self.overdue, "kind"),
            Reading("gauge", "shanghai_games_live", "Games that are not over", lambda: self.live, "status"),
            Reading("gauge", "shanghai_alive", "1 for processes that have reported", lambda: self.alive, "process"),
        )


@asynccontextmanager
async def cluster_numbers(settings: Settings, jobs: ClosableJobs) -> AsyncIterator[None]:
    """Reads and exports while the block runs, on connections of its own: a slow count disturbs nobody."""
    database = Database(settings.database_url, size=2, name="shanghai clock numbers")
    presence = Presence(settings.limits_url)
    cluster, waiting = Cluster(database.fetch, jobs.length, presence.processes), Waiting(database.fetch)

    async def watch(look: Callable[[], Awaitable[None]], each_s: float) -> None:
        while True:
            await look()
            await asyncio.sleep(each_s)

    try:
        async with beside(watch(cluster.look, _LOOK_S)), beside(watch(waiting.look, WAITING_S)):
            with reading(*cluster.readings, *waiting.readings, *disk_readings(settings.disk_folder)):
                yield
    finally:
        await presence.close()
        await database.close()
