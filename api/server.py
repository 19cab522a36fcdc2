"""One HTTP server process that says goodbye to its streams before it ends."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import uvicorn

from api.connections import Connection

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
ENDS_WITHIN_S = 4  # after a signal; open streams have gone by then, and requests under way are cut off


class Server(uvicorn.Server):
    """A uvicorn server for the running loop. A signal ends it in good order and is not passed on."""

    def __init__(self, app: Any, host: str, port: int, drain: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=host,
                port=port,
                loop="none",
                http=Connection,
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                proxy_headers=False,  # it would believe whoever comes from this machine; see proxies.py
                server_header=False,
                timeout_graceful_shutdown=ENDS_WITHIN_S,
            )
        )
        self._drain = drain
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen."""
        await super().startup(sockets)
        self.is_up.set()

    async def on_tick(self, counter: int) -> bool:
        """Looks after the connections, every second; uvicorn calls it ten times as often."""
        if counter % 10 == 0:
            for connection in tuple(self.server_state.connections):
                cast("Connection", connection).end_overdue()
        return await super().on_tick(counter)

    def stop(self) -> None:
        """Ends the server: no new connections, a goodbye on every stream, answers under way completed."""
        self.should_exit = True
        self._drain()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Has the signals stop the server; in another thread than the main one nobody gets them."""
        loop = asyncio.get_running_loop()
        signals = STOP_SIGNALS if threading.current_thread() is threading.main_thread() else ()
        for number in signals:
            loop.add_signal_handler(number, self.stop)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)  # it was held back since the command `shanghai`
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)
