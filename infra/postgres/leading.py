"""Being the one leader of a kind: a lock that lives and dies with the connection that does the leader's work."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import asyncpg

from infra.postgres.database import ANSWER_S, SESSION, connect, lost_is_unavailable
from infra.sql import statements
from services.ports import Unavailable

# Any numbers of our own, one for each kind of leader.
RELAY_LOCK = 0x53480001
CLOCK_LOCK = 0x53480002
PROJECTOR_LOCK = 0x53480003
REBUILD_LOCK = 0x53480004
ARCHIVE_LOCK = 0x53480005
ANNOUNCER_LOCK = 0x53480006

_SQL = statements("relay")
_STANDBY_S = 0.25  # so soon a standby notices that the leader is gone
_LEADER = {
    # Leaders read a little, often: every plan goes by an index, however the statistics may look.
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "idle_session_timeout": "5s",  # one that says nothing for so long hangs: the lock goes to another
    "synchronous_commit": "off",  # what leaders write may be lost: it is found out again
}

StandsBy: TypeAlias = Callable[[], None]


class Superseded(Unavailable):
    """Another one leads by now."""


class Session:
    """One connection, never another: with it the lock is lost, and every call raises Unavailable.

    Calls wait for each other.
    """

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._turn = asyncio.Lock()

    async def fetch(self, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        """Runs a statement."""
        async with self._turn:
            with lost_is_unavailable():
                rows: list[asyncpg.Record] = await self._connection.fetch(statement, *arguments)
                return rows

    async def listen(self, channel: str, heard: Callable[..., None]) -> None:
        """Calls `heard` for every notification."""
        with lost_is_unavailable():
            await self._connection.add_listener(channel, heard)


@asynccontextmanager
async def leading(
    url: str, lock: int, *, name: str, role: str = SESSION["role"], stands_by: StandsBy = lambda: None
) -> AsyncIterator[Session]:
    """Waits until this process is the leader and is so as long as the session lives. Errors: Unavailable.

    role: what the session acts as, whoever logs in. stands_by: called each time that another one leads.
    """
    connection = await connect(url, name=name, settings={**_LEADER, "role": role}, answer_s=ANSWER_S)
    try:
        session = Session(connection)
        await _wait_for_lead(session, lock, stands_by)
        yield session
    finally:
        connection.terminate()


async def _wait_for_lead(session: Session, lock: int, stands_by: StandsBy) -> None:
    """Asks again and again: a statement that waits for the lock would hold a snapshot, and so keep old rows alive."""
    while True:
        [[is_leader]] = await session.fetch(_SQL["try_lead"], lock)
        if is_leader:
            return
        stands_by()
        await asyncio.sleep(_STANDBY_S)
