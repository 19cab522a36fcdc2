"""The log as its leading relay reads it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from infra.postgres.leading import RELAY_LOCK, Session, StandsBy, Superseded, leading
from infra.postgres.poke import CHANNEL
from infra.postgres.rows import WORK_KINDS
from infra.sql import statements
from services.lag import Lag
from services.relay import POINTERS, LogEntry, Position

_SQL = statements("relay")
_GENERATION = statements("log")["generation"]
_REPLAYED_AT_MOST = 20_000  # no stream of the bus is kept longer


class YoungerCluster(Exception):
    """The rows come from a cluster that had counted more transactions than this one; the text has the repair."""


class PostgresRelayLog:
    """A RelayLog on the very connection that holds the leader's lock."""

    def __init__(self, session: Session, generation: str, epoch: int, checkpoint: Position) -> None:
        self.generation = generation
        self._session = session
        self._epoch = epoch
        self._checkpoint = checkpoint
        self._poke = asyncio.Event()

    async def checkpoint(self) -> Position:
        return self._checkpoint

    async def batch(self, after: Position, limit: int) -> list[LogEntry]:
        self._poke.clear()
        rows = await self._session.fetch(_SQL["batch"], *after, limit, POINTERS)
        return [
            LogEntry(xid, gseq, game, version, told)
            if kind is None
            else LogEntry(xid, gseq, game, version, told, WORK_KINDS.get(kind, "nothing"), due_s)
            for xid, gseq, game, version, told, kind, due_s in rows
        ]

    async def replay_start(self, checkpoint: Position, seconds: int) -> Position:
        rows = await self._session.fetch(_SQL["replay_start"], *checkpoint, seconds, _REPLAYED_AT_MOST)
        return (rows[0]["xid"], rows[0]["gseq"] - 1) if rows else checkpoint

    async def save(self, checkpoint: Position) -> None:
        if not await self._session.fetch(_SQL["save"], self._epoch, *checkpoint):
            raise Superseded("another relay has taken over")

    async def poked(self, timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s):
                await self._poke.wait()
        except TimeoutError:
            return False
        return True

    def hear(self, *_: Any) -> None:
        """Is called for each poke."""
        self._poke.set()


@asynccontextmanager
async def leading_relay(url: str, *, stands_by: StandsBy = lambda: None) -> AsyncIterator[PostgresRelayLog]:
    """Waits for the leadership and takes over the checkpoint. Errors: Unavailable, YoungerCluster."""
    async with leading(url, RELAY_LOCK, name="shanghai relay", stands_by=stands_by) as session:
        [[is_younger]] = await session.fetch(_SQL["younger_cluster"])
        if is_younger:
            raise YoungerCluster(
                "the events come from a cluster that had counted more transactions: run `shanghai relay --repair` once"
            )
        [[epoch, xid, gseq]] = await session.fetch(_SQL["take_over"])
        log = PostgresRelayLog(session, await generation(session.fetch), epoch, (xid, gseq))
        await session.listen(CHANNEL, log.hear)
        yield log


async def lag(fetch: Callable[..., Awaitable[list[Any]]]) -> Lag:
    """Reads how far the relay is behind the log, whether or not one is at work."""
    rows = await fetch(_SQL["lag"])
    return Lag(*rows[0]) if rows else Lag(0.0, is_held_back=False)


async def generation(fetch: Callable[..., Awaitable[list[Any]]]) -> str:
    """Names what the positions of this log belong to: cluster, timeline and database."""
    [[name]] = await fetch(_GENERATION)
    return str(name)
