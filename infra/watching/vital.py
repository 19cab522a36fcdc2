"""Whether a process lives and is of use, as its own port tells it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal, TypeAlias

from infra.beside import beside

Role: TypeAlias = Literal["works", "leads", "stands_by"]

BELIEVED_S = 10.0  # longer than any statement or reconnection takes, shorter than an operator's patience
_TURN_S = 0.5


class Vital:
    """When a process was last seen turning its loop, and last seen doing its duty; any thread may ask.

    It is of use while it works or leads, and while it stands by with a connection of its own.
    """

    def __init__(self, process: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.process = process
        self._clock = clock
        self._turned_at = clock()
        self._role: Role | None = None
        self._seen_at = 0.0

    def turned(self) -> None:
        """Is called by the loop, whatever it can reach."""
        self._turned_at = self._clock()

    def works(self) -> None:
        """Is called by a process of which many work at once, at each sign that it can."""
        self._seen("works")

    def leads(self) -> None:
        """Is called by a leader at each sign of its work."""
        self._seen("leads")

    def stands_by(self) -> None:
        """Is called whenever the database has answered that another one leads."""
        self._seen("stands_by")

    def lost(self) -> None:
        """Is called by a process that has lost what it works with."""
        self._role = None

    @property
    def is_live(self) -> bool:
        """Tells whether the loop turns; otherwise only a restart helps."""
        return self._clock() - self._turned_at < BELIEVED_S

    @property
    def role(self) -> Role | None:
        """Names what the process is doing; None while it reaches nothing."""
        return self._role if self._role and self._clock() - self._seen_at < BELIEVED_S else None

    def _seen(self, role: Role) -> None:
        self._role, self._seen_at = role, self._clock()


@asynccontextmanager
async def turning(vital: Vital, late: Callable[[float], object] = lambda _: None) -> AsyncIterator[None]:
    """Notes twice a second that the running loop turns; `late` is told by how many seconds it came too late."""

    async def turn() -> None:
        while True:
            vital.turned()
            due = time.monotonic() + _TURN_S
            await asyncio.sleep(_TURN_S)
            late(max(0.0, time.monotonic() - due))

    async with beside(turn()):
        yield
