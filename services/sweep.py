"""The clock: due work is handed out until somebody has done it, whatever has been lost on the way."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from services.handouts import HandOuts
from services.ports import WorkList

PAUSE_S = 0.1
AGAIN_S = 1.0  # one game is handed out at most so often
FORGET_S = 5.0
UPKEEP_S = 3_600.0
_AT_ONCE = 5_000


class Sweep:
    """One leadership of the clock.

    upkeep: called at the start and every hour. beat: called whenever the clock is seen to be alive.
    """

    def __init__(
        self,
        work: WorkList,
        hand_outs: HandOuts,
        *,
        upkeep: Callable[[], Awaitable[object]],
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self._work = work
        self._hand_outs = hand_outs
        self._upkeep = upkeep
        self._beat = beat
        self._handed_out: dict[str, float] = {}  # game to time
        self._forgotten_at = self._kept_up_at = -UPKEEP_S

    async def run(self) -> None:
        """Sweeps until Unavailable is raised by the work list."""
        while True:
            await self.step(time.monotonic())
            self._beat()
            await asyncio.sleep(PAUSE_S)

    async def step(self, now: float) -> None:
        """Hands out what is due now and deletes what is overtaken, the latter now and then."""
        due = await self._work.due(_AT_ONCE)
        self._handed_out = {game: then for game, then in self._handed_out.items() if now - then < AGAIN_S}
        for work in due:
            if work.game_id not in self._handed_out:
                self._handed_out[work.game_id] = now
                self._hand_outs.hand_out(work.game_id)
        if now - self._forgotten_at >= FORGET_S:
            self._forgotten_at = now
            while await self._work.forget_overtaken(_AT_ONCE) == _AT_ONCE:
                pass
        if now - self._kept_up_at >= UPKEEP_S:
            self._kept_up_at = now
            await self._upkeep()
