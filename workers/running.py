"""Runs an asyncio process until it is told to stop."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, NoReturn

import uvloop

from infra.settings import Settings, settings_or_exit
from infra.watching.logs import configure_logs
from infra.watching.port import PortRefused
from services.ports import Unavailable

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_RETRY_S = 0.2

_log = logging.getLogger(__name__)


def run(
    main: Callable[[Settings], Coroutine[Any, Any, None]], process: str, *, refusals: tuple[type[Exception], ...] = ()
) -> int:
    """Runs with the environment's settings to the end, or to SIGINT or SIGTERM, which cancel it; gives the exit code.

    refusals: errors that an operator can mend; they become one line and exit code 1.
    """
    settings = settings_or_exit()
    configure_logs(settings, process)
    code = 0
    mendable: tuple[type[Exception], ...] = (PortRefused, *refusals)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_until_stopped(main(settings)))
    except* mendable as refused:
        code = 1
        for refusal in refused.exceptions:
            logging.getLogger("shanghai").error("%s", refusal)
    return code


async def keep_leading(lead: Callable[[], Awaitable[None]], lost: str) -> NoReturn:
    """Leads or stands by, for ever; whatever `lead` loses, it begins anew. lost: what the log says then."""
    while True:
        try:
            await lead()
        except Unavailable as error:
            _log.warning("%s: %s", lost, error)
            await asyncio.sleep(_RETRY_S)


async def _until_stopped(main: Coroutine[Any, Any, None]) -> None:
    running = asyncio.ensure_future(main)
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, running.cancel)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)  # it was held back since the command `shanghai`
    with suppress(asyncio.CancelledError):
        await running
