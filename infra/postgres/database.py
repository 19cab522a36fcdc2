"""Connections to Postgres: one pool per process, which outlives the server's restarts."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import asyncpg

from infra.sql import statements
from infra.watching.numbers import DATABASE_FAULTS
from services.ports import Unavailable

# Every session acts as the application's role, whoever logs in, and nothing of it can hang: a writer that stops
# between two statements would hold back the relay of every game.
SESSION = {
    "role": "shanghai_app",
    "statement_timeout": "5s",
    "idle_in_transaction_session_timeout": "2s",
}
_CONNECT_S = 3.0
ANSWER_S = 7.0  # for a server that vanished without a word; a living one gives up after statement_timeout

LOST = (
    OSError,  # refused, reset, no such socket; TimeoutError too
    asyncpg.InterfaceError,  # the connection is closed
    asyncpg.InternalClientError,  # it was lost at a moment of which the driver makes no sense
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,  # shut down, starting up, timed out
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,  # a standby answers
    asyncpg.LockNotAvailableError,  # whoever has the lock waits for a standby
)


# While connecting: neither database nor role is there before the first migration; login, password and what it acts as
# are given by somebody who has yet to do so, or are changed while we run.
LOST_AT_FIRST = (
    *LOST,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidParameterValueError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InsufficientPrivilegeError,
)


# The server's own word that it has undone the statement: no space left, a standby, too slow.
_UNDONE = (
    asyncpg.InsufficientResourcesError,
    asyncpg.LockNotAvailableError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.QueryCanceledError,
)


_SQL = statements("sessions")

_CAUSES: dict[type[Exception], str] = {
    asyncpg.DiskFullError: "disk_full",
    asyncpg.TooManyConnectionsError: "too_many_connections",
    asyncpg.ReadOnlySQLTransactionError: "read_only",
    asyncpg.QueryCanceledError: "too_slow",
    TimeoutError: "too_slow",
}


class LeftAlone(Unavailable):
    """A write had no answer for long: it goes on in a session of its own, and may yet be carried out."""


class NotDone(Unavailable):
    """The statement was not carried out: no connection could be had, or the server was not able to do it."""


@contextmanager
def lost_is_unavailable(
    error: type[Unavailable] = Unavailable, lost: tuple[type[Exception], ...] = LOST
) -> Iterator[None]:
    """Turns whatever means that the server is out of reach into one error."""
    try:
        yield
    except lost as cause:
        # An argument that cannot be sent is an InterfaceError, but the caller's fault; a certificate that is not
        # believed is both a ValueError and an OSError.
        if isinstance(cause, ValueError) and not isinstance(cause, OSError):
            raise
        DATABASE_FAULTS.labels(_cause(cause)).inc()
        raise (NotDone if isinstance(cause, _UNDONE) else error)(f"{type(cause).__name__}: {_words(cause)}") from cause


def _words(fault: Exception) -> object:
    """Gives what the server said first; what comes after it, DETAIL and HINT, may hold a row's values."""
    return fault.args[0] if isinstance(fault, asyncpg.PostgresError) and fault.args else fault


def _cause(fault: Exception) -> str:
    return next((cause for kind, cause in _CAUSES.items() if isinstance(fault, kind)), "lost")


async def connect(
    url: str, *, name: str, settings: Mapping[str, str] | None = None, answer_s: float | None = None
) -> asyncpg.Connection:
    """Opens a connection outside any pool. Errors: NotDone.

    settings: go over SESSION. answer_s: so long a statement may take; None: as long as it takes.
    """
    with lost_is_unavailable(NotDone, LOST_AT_FIRST):
        return await asyncpg.connect(
            url,
            timeout=_CONNECT_S,
            command_timeout=answer_s,
            server_settings={**SESSION, "application_name": name, **(settings or {})},
        )


class Database:
    """A pool for one event loop. It connects when it is used first."""

    def __init__(self, url: str, *, size: int, name: str) -> None:
        self._url = url
        self._size = size
        self._name = name
        self._pool: asyncpg.Pool | None = None
        self._opening = asyncio.Lock()
        self._kept: asyncpg.Connection | None = None
        self._one_at_a_time = asyncio.Lock()
        self._writing: set[asyncio.Task[list[asyncpg.Record]]] = set()
        self._left: set[int] = set()  # the server's processes of writes that were left alone

    async def fetch(self, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        """Runs a statement that may be run twice: where the connection is lost it is tried once more.

        Errors: Unavailable.
        """
        try:
            return await self.run(statement, *arguments)
        except Unavailable:
            return await self._run_anew(statement, *arguments)

    async def fetch_often(self, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        """Is `fetch` for a small question that is asked all the time, by one at a time, on a connection kept for it.

        Taking one from the pool costs as much as the question itself.
        """
        async with self._one_at_a_time:
            try:
                if self._kept is None:
                    self._kept = await connect(self._url, name=self._name, answer_s=ANSWER_S)
                with lost_is_unavailable():
                    rows: list[asyncpg.Record] = await self._kept.fetch(statement, *arguments)
                    return rows
            except Unavailable:
                self._drop_kept()
        return await self._run_anew(statement, *arguments)

    async def run(self, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        """Runs a statement once. Errors: NotDone; another Unavailable, where it may have been carried out."""
        async with self._connection() as connection:
            with lost_is_unavailable():
                rows: list[asyncpg.Record] = await connection.fetch(statement, *arguments)
                return rows

    async def write(self, statement: str, *arguments: Any, again: bool = False) -> list[asyncpg.Record]:
        """Runs a statement whose success somebody is told: no synchronous standby may lack it then.

        again: it may be run twice, where the connection is lost. It goes on to its end whoever is cancelled; one that
        has no answer in ANSWER_S is left alone with its session, since Postgres would show a cancelled one to
        everybody. While any of these waits for its standby, nothing further is written. Errors: as those of `run`.
        """
        writing = asyncio.create_task(self._write(statement, *arguments, again=again))
        self._writing.add(writing)
        writing.add_done_callback(self._has_written)
        return await asyncio.shield(writing)

    async def forget_connections(self) -> None:
        """Has the next statements run on new connections: the idle ones may be dead without knowing it."""
        if self._pool is not None:
            await self._pool.expire_connections()

    async def close(self) -> None:
        """Closes all connections; statements under way are given a moment."""
        self._drop_kept()
        if self._pool is not None:
            try:
                async with asyncio.timeout(2):
                    if self._writing:
                        await asyncio.wait(self._writing)
                    await self._pool.close()
            except LOST:
                self._pool.terminate()

    async def _run_anew(self, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        await self.forget_connections()
        return await self.run(statement, *arguments)

    def _drop_kept(self) -> None:
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.terminate()

    async def _write(self, statement: str, *arguments: Any, again: bool) -> list[asyncpg.Record]:
        await self._refuse_behind_left_ones()
        try:
            return await self._write_once(statement, *arguments)
        except Unavailable as lost:
            await self.forget_connections()
            if not again or isinstance(lost, LeftAlone):
                raise
            return await self._write_once(statement, *arguments)

    async def _write_once(self, statement: str, *arguments: Any) -> list[asyncpg.Record]:
        async with self._connection() as connection:
            leaving = asyncio.get_running_loop().call_later(ANSWER_S, self._leave, connection)
            pid = connection.get_server_pid()
            try:
                with lost_is_unavailable():
                    # The driver's own timeout would cancel it.
                    rows: list[asyncpg.Record] = await connection.fetch(statement, *arguments, timeout=2 * ANSWER_S)
                    return rows
            except Unavailable as lost:
                if pid in self._left:
                    raise LeftAlone(str(lost)) from lost
                raise
            finally:
                leaving.cancel()

    def _leave(self, connection: asyncpg.Connection) -> None:
        self._left.add(connection.get_server_pid())
        connection.terminate()

    async def _refuse_behind_left_ones(self) -> None:
        if asked := set(self._left):  # others may be left while the answer comes
            self._left -= asked - {row["pid"] for row in await self.fetch(_SQL["at_work"], list(asked))}
        if self._left:
            raise NotDone("a write still waits for a synchronous standby")

    def _has_written(self, writing: asyncio.Task[list[asyncpg.Record]]) -> None:
        self._writing.discard(writing)
        if not writing.cancelled():
            writing.exception()  # where the caller was cancelled nobody else takes note of it

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[asyncpg.Connection]:
        pool = self._pool or await self._open()
        # One that is idle is there at once; a timeout around that would cost a small question a fifth more.
        timeout = None if pool.get_idle_size() else ANSWER_S
        with lost_is_unavailable(NotDone, LOST_AT_FIRST):
            connection = await pool.acquire(timeout=timeout)
        try:
            yield connection
        finally:
            with suppress(*LOST):  # what was asked is answered; the pool has given the connection up
                await pool.release(connection, timeout=ANSWER_S)

    async def _open(self) -> asyncpg.Pool:
        async with self._opening:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=self._size,
                    max_queries=10**9,
                    max_inactive_connection_lifetime=0,
                    timeout=_CONNECT_S,
                    command_timeout=ANSWER_S,
                    reset=_leave_as_it_is,
                    server_settings={**SESSION, "application_name": self._name},
                )
            return self._pool


async def _leave_as_it_is(_connection: asyncpg.Connection) -> None:
    """Saves a round trip: no statement here changes its session."""
