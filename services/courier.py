"""Visiting webhooks: each in its turn, many at once, none twice at once, so that a slow one holds up its player alone.

There are two ways with places of their own: one for webhooks of players who are known and whose visits were all over
soon of late, one for the others. So however many accounts have servers that are silent, they wait for each other; and
who adds a webhook anew for each message is known by then.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct, field

from services.ports import Unavailable

AT_ONCE = 64  # visits on each way; most of the time each waits for its receiver
WAITING = 10_000  # webhooks on each way; what is above, the sweep names again
SOON_S = 1.0  # a visit that takes longer is slow
SLOW_FOR_S = 300.0  # so long its player's others are taken for slow: as the longest pause of a webhook that fails
KNOWN = 50_000  # webhooks whose player is known, and players who are slow; beyond that the oldest are forgotten

V = TypeVar("V")

_log = logging.getLogger(__name__)


class _Way(Struct):
    waiting: dict[str, None] = field(default_factory=dict)  # in order
    under_way: set[str] = field(default_factory=set)


class Courier:
    """The visits of one process.

    visit: sends something to a webhook and names its player, since there may be more; None where there was nothing.
    """

    def __init__(
        self,
        visit: Callable[[str], Awaitable[str | None]],
        *,
        at_once: int = AT_ONCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._visit = visit
        self._at_once = at_once
        self._clock = clock
        self._prompt = _Way()
        self._other = _Way()
        self._named_again: set[str] = set()
        self._players: dict[str, str] = {}  # by webhook
        self._slow: dict[str, float] = {}  # players, and when they were
        self._news = asyncio.Event()

    def take(self, webhook_id: str) -> None:
        """Has a webhook visited, after those that wait already; called in the event loop."""
        ways = self._prompt, self._other
        way = self._prompt if self._is_prompt(webhook_id) else self._other
        if any(webhook_id in each.under_way for each in ways):
            self._named_again.add(webhook_id)
        elif not any(webhook_id in each.waiting for each in ways) and len(way.waiting) < WAITING:
            way.waiting[webhook_id] = None
            self._news.set()

    async def run(self) -> None:
        """Visits until cancelled; what is under way then is cancelled too."""
        async with asyncio.TaskGroup() as visits:
            while True:
                await self._news.wait()
                self._news.clear()
                for way in (self._prompt, self._other):
                    while way.waiting and len(way.under_way) < self._at_once:
                        webhook_id = next(iter(way.waiting))
                        del way.waiting[webhook_id]
                        way.under_way.add(webhook_id)
                        visits.create_task(self._go(way, webhook_id))

    async def _go(self, way: _Way, webhook_id: str) -> None:
        player_id, began = None, self._clock()
        try:
            player_id = await self._visit(webhook_id)
        except Unavailable as lost:
            _log.warning("webhook %s is left to the sweep: %s", webhook_id, lost)
        except Exception as error:  # noqa: BLE001 - one webhook must not hold up the others
            _log.error("%s at webhook %s", type(error).__name__, webhook_id)  # its text may tell cards
        if player_id is not None:
            _keep(self._players, webhook_id, player_id)
            if self._clock() - began > SOON_S:
                _keep(self._slow, player_id, self._clock())
        way.under_way.discard(webhook_id)
        if player_id is not None or webhook_id in self._named_again:
            self._named_again.discard(webhook_id)
            self.take(webhook_id)
        self._news.set()

    def _is_prompt(self, webhook_id: str) -> bool:
        player_id = self._players.get(webhook_id)
        return player_id is not None and self._clock() - self._slow.get(player_id, -SLOW_FOR_S) >= SLOW_FOR_S


def _keep(known: dict[str, V], key: str, value: V) -> None:
    """Keeps a value as the latest."""
    known.pop(key, None)
    known[key] = value
    if len(known) > KNOWN:
        del known[next(iter(known))]
