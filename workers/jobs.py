"""What a pool process of the Celery worker does: it tends games, one at a time.

Each process has one event loop, one set of connections and its own games in memory, all opened at its first job.
"""

import asyncio
import ctypes
import os
import signal
import sys
import time
from contextlib import AsyncExitStack

import uvloop

from infra.settings import Settings
from infra.watching.counted import CountedTables, timed_choice
from infra.watching.numbers import JOBS
from infra.wiring import Services, open_services
from services.outcomes import Busy
from services.ports import Unavailable
from services.tending import tend
from workers.at_hand import take_up

_CONNECTIONS = 2
_MEMORY_BYTES = 64 << 20  # some fifty whole games, so that a job reads only the tail
_PR_SET_PDEATHSIG = 1


class Desk:
    """One process's event loop with everything that a job needs."""

    def __init__(self, settings: Settings) -> None:
        self._exits = AsyncExitStack()
        self._runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self._services = self._runner.run(self._open(settings))
        self._tables = CountedTables(self._services.log, memory_bytes=_MEMORY_BYTES)

    def tend(self, game_id: str) -> None:
        """Does what is due at a game."""
        began, outcome = time.perf_counter(), "failed"
        try:
            take_up(game_id)
            self._runner.run(self._tend(game_id))
            outcome = "done"
        except (Busy, Unavailable):
            outcome = "left"
            raise
        finally:
            JOBS.labels(outcome).observe(time.perf_counter() - began)

    def close(self) -> None:
        """Closes connections and loop."""
        with self._runner:
            self._runner.run(self._exits.aclose())

    async def _open(self, settings: Settings) -> Services:
        return await self._exits.enter_async_context(
            open_services(settings, name="shanghai worker", connections=_CONNECTIONS)
        )

    async def _tend(self, game_id: str) -> None:
        began, traces = time.time_ns(), self._services.traces
        try:
            await tend(self._tables, self._services.secrets, game_id, now=self._services.work.now, choose=timed_choice)
        finally:
            await self._services.settle()  # the loop stands still between jobs
            if traces is not None:
                traces.worked(game_id, self._tables.in_memory(game_id).events, began, time.time_ns())


def die_with(parent: int) -> None:
    """Has the kernel end this process when `parent`, which forked it, has ended: also by kill -9. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended before the tie was there
            os.kill(os.getpid(), signal.SIGKILL)
