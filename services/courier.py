"""Visiting webhooks: each in its turn, many at once, none twice at once, so that a slow one holds up itself alone."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from services.ports import Unavailable

AT_ONCE = 128  # visits; most of the time each waits for its receiver
WAITING = 10_000  # webhooks; what is above, the sweep names again

_log = logging.getLogger(__name__)


class Courier:
    """The visits of one process. visit: sends something to a webhook, and tells whether there may be more."""

    def __init__(self, visit: Callable[[str], Awaitable[bool]], *, at_once: int = AT_ONCE) -> None:
        self._visit = visit
        self._at_once = at_once
        self._waiting: dict[str, None] = {}  # in order
        self._under_way: set[str] = set()
        self._named_again: set[str] = set()
        self._news = asyncio.Event()

    def take(self, webhook_id: str) -> None:
        """Has a webhook visited, after those that wait already; called in the event loop."""
        if webhook_id in self._under_way:
            self._named_again.add(webhook_id)
        elif len(self._waiting) < WAITING:
            self._waiting[webhook_id] = None
            self._news.set()

    async def run(self) -> None:
        """Visits until cancelled; what is under way then is cancelled too."""
        async with asyncio.TaskGroup() as visits:
            while True:
                await self._news.wait()
                self._news.clear()
                while self._waiting and len(self._under_way) < self._at_once:
                    webhook_id = next(iter(self._waiting))
                    del self._waiting[webhook_id]
                    self._under_way.add(webhook_id)
                    visits.create_task(self._go(webhook_id))

    async def _go(self, webhook_id: str) -> None:
        is_more = False
        try:
            is_more = await self._visit(webhook_id)
        except Unavailable as lost:
            _log.warning("webhook %s is left to the sweep: %s", webhook_id, lost)
        except Exception as error:  # noqa: BLE001 - one webhook must not hold up the others
            _log.error("%s at webhook %s", type(error).__name__, webhook_id)  # its text may tell cards
        self._under_way.discard(webhook_id)
        if is_more or webhook_id in self._named_again:
            self._named_again.discard(webhook_id)
            self.take(webhook_id)
        self._news.set()
