"""The one way of a process's appends into the log: a statement at a time, which takes all that have come meanwhile."""

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import asyncpg

from infra.postgres.database import ANSWER_S, NotDone, connect, lost_is_unavailable
from infra.postgres.rows import Row
from infra.sql import statements
from infra.watching.numbers import BATCH
from services.ports import Overloaded, Unavailable

TOGETHER = 128  # appends in one statement: more would hold back the relay and gain nothing
WAITING = 8 * TOGETHER  # what is written in a few tenths of a second; who comes later had better come again
_SENT_AGAIN_S = 5.0  # so long appends with an unknown outcome are sent again
_PAUSE_S = 0.1

_SETTINGS = {
    # One plan does for one append and for a hundred; making it anew costs more than the statement.
    "plan_cache_mode": "force_generic_plan",
    # Nothing may cancel an append that waits for a synchronous standby: Postgres would show it to everybody, though it
    # may yet be lost with the primary. Only a wait for another append ends by itself.
    "statement_timeout": "0",
    "lock_timeout": "5s",
}
_SQL = statements("log")
_AT_WORK = statements("sessions")["at_work"]
_GAME_IN_KEY = re.compile(r"\(game_id, [^()]*\)=\(([0-9a-f-]{36}), ")


class Beaten(Exception):
    """The game's head is another one, or the log has this command, key or version already; nothing was written now.

    is_unknown: the append was sent before and got no answer: it may have been beaten by itself.
    """

    def __init__(self, *, is_unknown: bool) -> None:
        super().__init__()
        self.is_unknown = is_unknown


class _Waiting:
    """An append whose writer waits. is_unknown: it was sent and got no answer."""

    __slots__ = ("game", "is_unknown", "outcome", "row")

    def __init__(self, row: Row) -> None:
        self.row = row
        self.game: UUID = row[0]
        self.outcome: asyncio.Future[datetime | Exception] = asyncio.get_running_loop().create_future()
        self.is_unknown = False

    def end(self, outcome: datetime | Exception) -> None:
        if not self.outcome.done():  # a cancelled writer waits no more
            self.outcome.set_result(outcome)

    def beaten(self) -> None:
        self.end(Beaten(is_unknown=self.is_unknown))

    def given_up(self, lost: Unavailable) -> None:
        self.end((Unavailable if self.is_unknown else NotDone)(*lost.args))


class Lane:
    """A connection of its own and the appends that wait for it; `committed` is called after each statement.

    A statement goes on to its end whoever is cancelled: an append is given up only before it was sent.
    """

    def __init__(self, url: str, *, name: str, committed: Callable[[], None] = lambda: None) -> None:
        self._url = url
        self._name = name
        self._committed = committed
        self._connection: asyncpg.Connection | None = None
        self._left = 0  # the server's process of an append that was left alone
        self._waiting: deque[_Waiting] = deque()
        self._sending: asyncio.Task[None] | None = None

    async def write(self, row: Row) -> datetime:
        """Writes the append in `row` and gives its time.

        Errors: Beaten; Overloaded or NotDone: it was not written; another Unavailable: nobody knows.
        """
        if len(self._waiting) >= WAITING:
            raise Overloaded
        one = _Waiting(row)
        self._waiting.append(one)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_all())
        outcome = await one.outcome
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    @property
    def depth(self) -> int:
        """How many appends wait for the statement under way to end."""
        return len(self._waiting)

    async def settle(self) -> None:
        """Returns when no append is under way any more, those of cancelled writers included."""
        if self._sending is not None:
            await asyncio.wait({self._sending})

    async def close(self) -> None:
        """Brings to its end what is under way and closes the connection."""
        await self.settle()
        self._disconnect()

    async def _send_all(self) -> None:
        while batch := self._next_batch():
            try:
                await self._send(batch, time.monotonic() + _SENT_AGAIN_S)
            except Exception as fault:  # noqa: BLE001  it is raised where an append waits for its outcome
                for one in batch:
                    one.end(fault)
            await asyncio.sleep(0)  # who was answered may write again at once: all of them go together

    def _next_batch(self) -> list[_Waiting]:
        """Takes what waits, one append for each game, in the order of games; a game's next ones keep their turn."""
        batch: dict[UUID, _Waiting] = {}
        later: list[_Waiting] = []
        while self._waiting and len(batch) < TOGETHER:
            one = self._waiting.popleft()
            if one.outcome.done():
                continue
            if batch.setdefault(one.game, one) is not one:
                later.append(one)
        self._waiting.extendleft(reversed(later))
        return [batch[game] for game in sorted(batch)]

    async def _send(self, batch: list[_Waiting], deadline: float) -> None:
        """Sends a batch until each append is written, beaten or given up.

        With each sending the heads are read anew, so that everybody beaten meanwhile is told so together.
        """
        while batch:
            try:
                at, written = await self._statement(batch)
            except Unavailable as lost:
                if not await self._may_send_again(batch, lost, deadline):
                    return
            except asyncpg.PostgresError as refusal:
                losers = _losers(batch, refusal)
                if not losers:
                    for one in batch:
                        await self._send([one], deadline)
                    return
                for one in losers:
                    one.beaten() if isinstance(refusal, asyncpg.UniqueViolationError) else one.end(refusal)
                batch = [one for one in batch if one not in losers]
            else:
                self._committed()
                for one in batch:
                    one.end(at) if one.game in written else one.beaten()
                return

    async def _statement(self, batch: list[_Waiting]) -> tuple[datetime, frozenset[UUID]]:
        """Sends one statement. One without an answer is left alone, connection and all, not cancelled."""
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._connect()
        BATCH.observe(len(batch))
        leaving = asyncio.get_running_loop().call_later(ANSWER_S, self._leave, self._connection)
        try:
            with lost_is_unavailable():
                [[at, written]] = await self._connection.fetch(_SQL["append"], [one.row for one in batch])
        finally:
            leaving.cancel()
        return at, frozenset(written)

    def _leave(self, connection: asyncpg.Connection) -> None:
        self._left = connection.get_server_pid()
        connection.terminate()

    async def _connect(self) -> asyncpg.Connection:
        """Opens a connection, unless an append that was left alone still holds a session of the server."""
        connection = await connect(self._url, name=self._name, settings=_SETTINGS)
        try:
            with lost_is_unavailable(NotDone):
                is_at_work = await connection.fetch(_AT_WORK, [self._left], timeout=ANSWER_S)
            if is_at_work:
                raise NotDone("an append still waits for a synchronous standby")
        except Unavailable:
            connection.terminate()
            raise
        self._left = 0
        return connection

    async def _may_send_again(self, batch: list[_Waiting], lost: Unavailable, deadline: float) -> bool:
        """Tells whether to try again, after a pause; otherwise everybody is told, also those who wait behind.

        What has an unknown outcome is sent again: the unique keys let it in once.
        """
        self._disconnect()
        for one in batch:
            one.is_unknown = one.is_unknown or not isinstance(lost, NotDone)
        if batch[0].is_unknown and time.monotonic() < deadline:
            await asyncio.sleep(_PAUSE_S)
            return True
        while self._waiting:
            batch.append(self._waiting.popleft())
        for one in batch:
            one.given_up(lost)
        return False

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None


def _losers(batch: list[_Waiting], refusal: Exception) -> list[_Waiting]:
    """Finds those of a batch who are to blame for a refusal; none where that shows only one by one.

    A violated key names its game in the DETAIL; the constraint's name would be its partition's own.
    """
    if len(batch) == 1:
        return batch
    found = _GAME_IN_KEY.search(getattr(refusal, "detail", None) or "")
    return [one for one in batch if found and one.game == UUID(found[1])]
