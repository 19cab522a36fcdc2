"""The ports' twins in memory: what use-cases and tests run on where no engine is wanted.

They answer as the adapters in infra/ do; the contract suite runs on both. One event loop, nothing survives.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from services.ports import (
    Append,
    DueWork,
    FeedEntry,
    KeyedRequest,
    KeyUsed,
    Receipt,
    Recorded,
    Unavailable,
    VersionConflict,
    WorkKind,
)
from services.receipts import receipt_of

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Is the present time, aware."""
    return datetime.now(UTC)


class MemoryLog:
    """A GameLog; `work` has the rows of MemoryWorkList, `listeners` are called with each append's events."""

    def __init__(self, now: Clock = utc_now) -> None:
        self.now = now
        self.games: dict[str, list[Recorded]] = {}
        self.receipts: dict[tuple[str, str, str, str], Receipt] = {}
        self.work: dict[tuple[str, int], tuple[WorkKind | None, datetime]] = {}
        self.listeners: list[Callable[[list[Recorded]], None]] = []

    async def read(self, game_id: str, after: int = 0) -> list[Recorded]:
        return self.games.get(game_id, [])[after:]

    async def append(self, append: Append) -> datetime:
        stored = self.games.get(append.game_id, [])
        self._refuse(append, stored)
        at = self.now()
        recorded = [
            Recorded(append.game_id, version, new.event, new.actor, new.round, new.command_id, at)
            for version, new in enumerate(append.events, append.after + 1)
        ]
        self.games[append.game_id] = stored + recorded
        self._keep_receipt(append)
        self._keep_work(append, at)
        for listener in self.listeners:
            listener(recorded)
        return at

    async def receipt(self, game_id: str, principal: str, operation: str, key: str) -> Receipt | None:
        return self.receipts.get((game_id, principal, operation, key))

    async def command_range(self, game_id: str, command_id: UUID) -> tuple[int, int] | None:
        versions = [e.version for e in self.games.get(game_id, []) if e.command_id == command_id]
        return (versions[0], versions[-1]) if versions else None

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        return {game: self.games[game][-1].version for game in game_ids if game in self.games}

    def _refuse(self, append: Append, stored: list[Recorded]) -> None:
        if append.request and _place(append.game_id, append.request) in self.receipts:
            raise KeyUsed
        known = {recorded.command_id for recorded in stored}
        if len(stored) != append.after or any(new.command_id in known for new in append.events):
            raise VersionConflict

    def _keep_receipt(self, append: Append) -> None:
        if append.request:
            self.receipts[_place(append.game_id, append.request)] = receipt_of(append, append.request)

    def _keep_work(self, append: Append, at: datetime) -> None:
        place = (append.game_id, append.after + len(append.events))
        if append.work is None:
            self.work[place] = (None, datetime.max.replace(tzinfo=UTC))
        else:
            delay = timedelta(milliseconds=append.work.delay_ms)
            self.work[place] = (append.work.kind, (append.work.at or at) + delay)


class MemorySecrets:
    """Secrets in a dict."""

    def __init__(self) -> None:
        self.seeds: dict[str, bytes] = {}

    async def keep(self, game_id: str, seed: bytes) -> None:
        self.seeds.setdefault(game_id, seed)

    async def seed(self, game_id: str) -> bytes:
        return self.seeds[game_id]


class MemoryWorkList:
    """The work rows that a MemoryLog's appends left."""

    def __init__(self, log: MemoryLog) -> None:
        self.log = log

    async def due(self, limit: int) -> list[DueWork]:
        now = self.log.now()
        due = [
            (due_at, DueWork(game_id, version, kind))
            for (game_id, version), (kind, due_at) in self.log.work.items()
            if kind is not None and due_at <= now and self._is_newest(game_id, version)
        ]
        return [work for _, work in sorted(due, key=lambda pair: pair[0])][:limit]

    async def now(self) -> datetime:
        return self.log.now()

    async def forget_overtaken(self, limit: int) -> int:
        games = Counter(game for game, _ in self.log.work)
        overtaken = [
            (game, version)
            for (game, version), (kind, _) in sorted(self.log.work.items())
            if not self._is_newest(game, version) or (kind is None and games[game] == 1)
        ][:limit]
        for place in overtaken:
            del self.log.work[place]
        return len(overtaken)

    def _is_newest(self, game_id: str, version: int) -> bool:
        return version == max(other for game, other in self.log.work if game == game_id)


class MemoryJobs:
    """Keeps what was handed out, in order; with `is_lost` the broker is out of reach. taken: so many do not wait."""

    def __init__(self) -> None:
        self.handed_out: list[str] = []
        self.taken = 0
        self.is_lost = False

    async def hand_out(self, *subject_ids: str) -> None:
        if self.is_lost:
            raise Unavailable
        self.handed_out += subject_ids

    async def length(self) -> int:
        if self.is_lost:
            raise Unavailable
        return len(self.handed_out) - self.taken


class MemoryBus:
    """The events of a MemoryLog as they come; `lose` breaks all readings as a vanished bus does.

    pointers: event classes that travel without their content.
    """

    def __init__(self, log: MemoryLog, pointers: tuple[type, ...] = ()) -> None:
        self.pointers = pointers
        self.queues: list[asyncio.Queue[list[FeedEntry] | None]] = []
        log.listeners.append(self._tell)

    def entries(self) -> AsyncIterator[list[FeedEntry]]:
        queue: asyncio.Queue[list[FeedEntry] | None] = asyncio.Queue()
        self.queues.append(queue)
        return self._follow(queue)

    def lose(self) -> None:
        for queue in self.queues:
            queue.put_nowait(None)

    async def _follow(self, queue: asyncio.Queue[list[FeedEntry] | None]) -> AsyncIterator[list[FeedEntry]]:
        try:
            while True:
                try:
                    batch = await asyncio.wait_for(queue.get(), timeout=1)
                except TimeoutError:
                    batch = []
                if batch is None:
                    raise Unavailable
                yield batch
        finally:
            self.queues.remove(queue)

    def _tell(self, recorded: list[Recorded]) -> None:
        batch = [FeedEntry(e.game_id, e.version, None if isinstance(e.event, self.pointers) else e) for e in recorded]
        for queue in self.queues:
            queue.put_nowait(batch)


def _place(game_id: str, request: KeyedRequest) -> tuple[str, str, str, str]:
    return (game_id, request.principal, request.operation, request.key)
