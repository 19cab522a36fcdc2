"""The games in play: each kept in memory, judged here and written to the log; the log alone is the truth.

Commands are decided on the game in memory; if that answer is a refusal or the append loses, the tail of the log is
read and they are decided again. Whoever reads a game here never sees less than was acknowledged anywhere.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from domain.commands import TableCommand
from domain.decide import unfold
from domain.events import Passed
from domain.refusals import Refused
from domain.state import Game, State
from services.due import next_work
from services.heads import Heads
from services.hot import Hot
from services.outcomes import Busy, Denied, GameNotFound, KeyReused, Outcome
from services.ports import Actor, Append, GameLog, KeyedRequest, KeyUsed, NewEvent, Recorded, VersionConflict
from services.receipts import outcome_of

TRIES = 8
MEMORY_BYTES = 256 << 20  # some hundred whole games, or thousands that have just begun


class Draft:
    """The events that a plan wants to append, and the game as it would be after them."""

    __slots__ = ("events", "hot", "state")

    def __init__(self, hot: Hot) -> None:
        self.hot = hot
        self.state: State = hot.state
        self.events: list[NewEvent] = []

    @property
    def game(self) -> Game:
        """The game after the events so far."""
        if not isinstance(self.state, Game):
            raise GameNotFound
        return self.state

    def carry_out(self, command: TableCommand, actor: Actor, command_id: UUID) -> None:
        """Lets a command happen; raises Refused where the rules forbid it.

        What follows from a pass is the table's doing: its actor would tell which seat has passed.
        """
        events, game = unfold(command, self.state)
        number = None if game.round is None else game.round.number
        for ordinal, event in enumerate(events):
            self.events.append(NewEvent(event, actor, number, command_id, ordinal))
            if isinstance(event, Passed):
                actor = "table"
        self.state = game


Plan = Callable[[Draft], None]


class Tables:
    """All games, of which those last used are kept in memory, as many as go into `memory_bytes`.

    A game that is not there costs one read of its whole log, a few milliseconds. now: what delayed spectators see
    follows it.
    """

    def __init__(
        self, log: GameLog, *, memory_bytes: int = MEMORY_BYTES, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.log = log
        self.now = now
        self._heads = Heads(log)
        self._memory_bytes = memory_bytes
        self._used_bytes = 0
        self._hot: OrderedDict[str, Hot] = OrderedDict()

    @property
    def in_use(self) -> tuple[int, int]:
        """How many games are in memory, and the bytes that they take, nearly."""
        return len(self._hot), self._used_bytes

    async def fresh(self, game_id: str) -> Hot:
        """Gives a game as the log has it now; raises GameNotFound."""
        hot = self.in_memory(game_id)
        await self._read_tail(game_id, hot)
        if not hot.events:
            self._forget(game_id)
            raise GameNotFound
        return hot

    def offer(self, recorded: Recorded) -> None:
        """Takes an event from the feed, so that a game in memory need not read it from the log."""
        hot = self._hot.get(recorded.game_id)
        if hot is not None:
            self._record(recorded.game_id, hot, (recorded,))

    def known(self, game_id: str) -> Hot | None:
        """Gives a game that is known in this process, without asking anybody, and without using it."""
        hot = self._hot.get(game_id)
        return hot if hot is not None and hot.events else None

    def in_memory(self, game_id: str) -> Hot:
        """Gives a game as it is known in this process, without asking the log; it may know no event yet."""
        hot = self._hot.get(game_id)
        if hot is None:
            hot = self._hot[game_id] = Hot()
            self._used_bytes += hot.size
        self._hot.move_to_end(game_id)
        return hot

    async def carry_out(self, game_id: str, plan: Plan, request: KeyedRequest | None = None) -> Outcome:
        """Appends what the plan decides, or the recorded outcome of the same request.

        Errors: Refused, Denied, KeyReused, Busy, Unavailable. What a refused plan drafted is forgotten. A refusal, and
        that there is nothing to do, is final where the game was read since the call, however fast it goes on.
        """
        hot = self.in_memory(game_id)
        hot.commands += 1
        try:
            async with hot.lock:
                return await self._carry_out(game_id, hot, plan, request)
        finally:
            hot.commands -= 1

    async def _carry_out(self, game_id: str, hot: Hot, plan: Plan, request: KeyedRequest | None) -> Outcome:
        is_fresh = False
        for _ in range(TRIES):
            draft = Draft(hot)
            try:
                plan(draft)
            except (Refused, Denied):
                if not is_fresh and (is_fresh := await self._read_tail(game_id, hot)):
                    continue
                if before := await self._replayed(game_id, request):
                    return before
                if not hot.events:
                    self._forget(game_id)
                raise
            if not draft.events:
                if not is_fresh and (is_fresh := await self._read_tail(game_id, hot)):
                    continue
                before = await self._replayed(game_id, request)
                return before or Outcome(UUID(int=0), hot.version + 1, hot.version)
            try:
                return await self._append(game_id, hot, draft, request)
            except VersionConflict:
                is_fresh = True
                await self._read_tail(game_id, hot)
            except KeyUsed:
                if before := await self._replayed(game_id, request):
                    return before
        raise Busy

    async def _append(self, game_id: str, hot: Hot, draft: Draft, request: KeyedRequest | None) -> Outcome:
        append = Append(game_id, hot.version, tuple(draft.events), next_work(draft.game, hot.when), request)
        occurred_at = await self.log.append(append)
        recorded = [
            Recorded(game_id, version, new.event, new.actor, new.round, new.command_id, occurred_at)
            for version, new in enumerate(append.events, append.after + 1)
        ]
        self._record(game_id, hot, recorded, draft.state)
        return outcome_of(append)

    async def _replayed(self, game_id: str, request: KeyedRequest | None) -> Outcome | None:
        """Finds what the same request has written before. Errors: KeyReused."""
        if request is None:
            return None
        receipt = await self.log.receipt(game_id, request.principal, request.operation, request.key)
        if receipt is None:
            return None
        if receipt.fingerprint != request.fingerprint:
            raise KeyReused
        await self.fresh(game_id)
        return Outcome(receipt.command_id, receipt.first_version, receipt.last_version, replayed=True)

    async def _read_tail(self, game_id: str, hot: Hot) -> bool:
        """Reads what the log has beyond the game in memory; those who come together read together."""
        before = hot.version
        head = await self._heads.head(game_id) if before else None
        if head is not None and head <= before:
            return False
        if hot.reading is not None:  # it may have begun before this call, and bring less than there was then
            await asyncio.shield(hot.reading)
            if head is None and hot.version:
                head = await self._heads.head(game_id)
            if head is not None and head <= hot.version:
                return hot.version > before
        await asyncio.shield(self._reading(game_id, hot))
        return hot.version > before

    def _reading(self, game_id: str, hot: Hot) -> asyncio.Task[None]:
        """Gives the reading under way, or begins one; it goes on to its end whoever gives up waiting for it."""
        if hot.reading is None:
            hot.reading = asyncio.create_task(self._read(game_id, hot))
            hot.reading.add_done_callback(lambda done: done.cancelled() or done.exception())
        return hot.reading

    async def _read(self, game_id: str, hot: Hot) -> None:
        try:
            self._record(game_id, hot, await self.log.read(game_id, hot.version))
        finally:
            hot.reading = None

    def _record(self, game_id: str, hot: Hot, told: Sequence[Recorded], state: State | None = None) -> None:
        before = hot.size
        hot.record(told, state)
        if self._hot.get(game_id) is hot:  # it may have been forgotten while its log was read
            self._used_bytes += hot.size - before
            self._keep_within_memory()

    def _keep_within_memory(self) -> None:
        """Forgets what was not used for the longest time; the last used game stays, and who has a command under way."""
        while self._used_bytes > self._memory_bytes:
            last = next(reversed(self._hot))
            idle = (game_id for game_id, hot in self._hot.items() if game_id != last and not hot.commands)
            oldest = next(idle, None)
            if oldest is None:
                return
            self._forget(oldest)

    def _forget(self, game_id: str) -> None:
        if hot := self._hot.pop(game_id, None):
            self._used_bytes -= hot.size
