"""What a worker's pool process does beside its jobs: it sends webhooks, on a thread and an event loop of its own.

A job only names a webhook and returns at once, so that no bot waits for a stranger's server. What is under way when
the process ends is sent again by another one when its lease is over.
"""

import asyncio
import threading
from contextlib import suppress

import uvloop

from infra.outbound import GuardedSender
from infra.settings import Settings
from infra.watching.counted_webhooks import CountedDeliveries, CountedSender
from infra.wiring import open_services
from services.courier import Courier
from services.delivering import Delivering
from services.tables import Tables

_CONNECTIONS = 4
_MEMORY_BYTES = 16 << 20
_START_S = 5.0
_STOP_S = 2.0


class Sending:
    """The sending thread of one process; it starts with the first webhook, and again should it have failed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._thread: threading.Thread | None = None
        self._open: tuple[asyncio.AbstractEventLoop, asyncio.Task[None], Courier] | None = None

    def take(self, webhook_id: str) -> None:
        """Has a webhook visited soon."""
        if self._thread is None or not self._thread.is_alive():
            is_up = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(is_up,), name="webhooks", daemon=True)
            self._thread.start()
            is_up.wait(_START_S)
        if self._open is not None:
            loop, _, courier = self._open
            loop.call_soon_threadsafe(courier.take, webhook_id)

    def close(self) -> None:
        """Ends the thread, and with it what is under way."""
        if self._thread is not None and self._open is not None:
            loop, visits, _ = self._open
            loop.call_soon_threadsafe(visits.cancel)
            self._thread.join(_STOP_S)

    def _run(self, is_up: threading.Event) -> None:
        with suppress(asyncio.CancelledError), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._visits(is_up))

    async def _visits(self, is_up: threading.Event) -> None:
        settings = self._settings
        sender = CountedSender(GuardedSender(is_anywhere=settings.webhook_targets == "any"))
        async with open_services(settings, name="shanghai webhooks", connections=_CONNECTIONS) as services:
            tables = Tables(services.log, memory_bytes=_MEMORY_BYTES)
            deliveries = CountedDeliveries(services.deliveries)
            courier = Courier(Delivering(deliveries, tables, services.accounts, sender).visit)
            task = asyncio.current_task()
            assert task is not None
            self._open = asyncio.get_running_loop(), task, courier
            is_up.set()
            try:
                await courier.run()
            finally:
                self._open = None
