"""The clock: due work is handed out until somebody has done it, whatever has been lost on the way."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from services.handouts import HandOuts
from services.ports import WorkList

PAUSE_S = 0.1
# A row that stays due is handed out again after a second, then two, four, five, five, and so on, unless too
# many jobs wait for workers.
AGAIN_S, AGAIN_AT_MOST_S = 1.0, 5.0
WATCH_S = 1.0
FORGET_S = 5.0
UPKEEP_S = 3_600.0
_AT_ONCE = 5_000


class Sweep:
    """One leadership of the clock.

    upkeep: called at the start and every hour; watch: every second; beat: whenever the clock is seen to be alive.
    """

    def __init__(
        self,
        work: WorkList,
        hand_outs: HandOuts,
        *,
        upkeep: Callable[[], Awaitable[object]],
        watch: Callable[[], Awaitable[object]],
        beat: Callable[[], None] = lambda: None,
    ) -> None:
        self._work = work
        self._hand_outs = hand_outs
        self._upkeep = upkeep
        self._watch = watch
        self._beat = beat
        self._handed_out: dict[tuple[str, int], tuple[float, float]] = {}  # by due row: when again, the pause after it
        self._forgotten_at = self._kept_up_at = self._watched_at = -UPKEEP_S

    async def run(self) -> None:
        """Sweeps until Unavailable is raised by the work list."""
        while True:
            await self.step(time.monotonic())
            self._beat()
            await asyncio.sleep(PAUSE_S)

    async def step(self, now: float) -> None:
        """Hands out what is due now and deletes what is overtaken, the latter now and then."""
        due = await self._work.due(_AT_ONCE)
        before, self._handed_out = self._handed_out, {}
        again: list[str] = []
        for work in due:
            row = work.game_id, work.version
            again_at, pause_s = before.get(row, (now, AGAIN_S))
            if now >= again_at:
                (again.append if row in before else self._hand_outs.hand_out)(work.game_id)
                again_at, pause_s = now + pause_s, min(2 * pause_s, AGAIN_AT_MOST_S)
            self._handed_out[row] = again_at, pause_s
        if again:
            self._hand_outs.repeat(again, len(due))
        if now - self._watched_at >= WATCH_S:
            self._watched_at = now
            await self._watch()
        if now - self._forgotten_at >= FORGET_S:
            self._forgotten_at = now
            while await self._work.forget_overtaken(_AT_ONCE) == _AT_ONCE:
                pass
        if now - self._kept_up_at >= UPKEEP_S:
            self._kept_up_at = now
            await self._upkeep()
