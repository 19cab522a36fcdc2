"""Handing jobs out without waiting for the broker."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from services.ports import Jobs, Unavailable

TOGETHER = 500  # of those that wait go to the broker in one message: a few hundred KiB
OTHERS = 1_000  # so many jobs may wait at the broker beside those of the games that are due: new ones, repeated ones

_log = logging.getLogger(__name__)


class HandOuts:
    """A queue before the broker: who hands out never waits, and a game that is queued already is not queued again.

    What the broker cannot take is dropped: the sweep repeats whatever is still due.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._waiting: dict[str, None] = {}  # in order
        self._again: tuple[Sequence[str], int] = ((), 0)
        self._has_waiting = asyncio.Event()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._is_lost = False

    def hand_out(self, game_id: str, *, delay_s: float = 0) -> None:
        """Has a game tended soon, or after the delay; a hand-out of this game that waits for its time is forgotten."""
        self.forget(game_id)
        if delay_s > 0:
            self._timers[game_id] = asyncio.get_running_loop().call_later(delay_s, self._when_time_is_up, game_id)
        else:
            self._queue(game_id)

    def repeat(self, game_ids: Sequence[str], due: int) -> None:
        """Has some games tended again, the first before the others, as long as not too many jobs wait for workers.

        due: how many games are due. Where many more jobs wait than that, these games are among them, nearly surely.
        """
        self._again = game_ids, due
        self._has_waiting.set()

    def forget(self, game_id: str) -> None:
        """Forgets a hand-out that waits for its time: something else has happened at the game."""
        if timer := self._timers.pop(game_id, None):
            timer.cancel()

    async def run(self) -> None:
        """Hands out what is queued until cancelled."""
        while True:
            await self._has_waiting.wait()
            self._has_waiting.clear()
            await self._queue_again()
            while self._waiting:
                game_ids = list(islice(self._waiting, TOGETHER))
                for game_id in game_ids:
                    del self._waiting[game_id]
                await self._tell_broker(game_ids)

    def _when_time_is_up(self, game_id: str) -> None:
        del self._timers[game_id]
        self._queue(game_id)

    def _queue(self, game_id: str) -> None:
        self._waiting[game_id] = None
        self._has_waiting.set()

    async def _queue_again(self) -> None:
        (game_ids, due), self._again = self._again, ((), 0)
        if game_ids:
            with self._broker_may_be_away():
                room = due + OTHERS - await self._jobs.length() - len(self._waiting)
                self._waiting |= dict.fromkeys(game_ids[: max(0, room)])

    async def _tell_broker(self, game_ids: Sequence[str]) -> None:
        with self._broker_may_be_away():
            await self._jobs.hand_out(*game_ids)

    @contextmanager
    def _broker_may_be_away(self) -> Iterator[None]:
        try:
            yield
        except Unavailable as lost:
            if not self._is_lost:
                _log.warning("the broker is away, the sweep repeats what it misses: %s", lost)
            self._is_lost = True
        else:
            self._is_lost = False
