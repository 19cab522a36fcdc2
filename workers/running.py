"""Runs an asyncio process until it is told to stop."""

import asyncio
import logging
import signal
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import uvloop

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run(main: Coroutine[Any, Any, None], *, log_level: str, refusals: tuple[type[Exception], ...] = ()) -> int:
    """Runs to the end, or to SIGINT or SIGTERM, which cancel it; gives the exit code.

    refusals: errors that an operator can mend; they become one line and exit code 1.
    """
    logging.basicConfig(
        level=log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr
    )
    code = 0
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_until_stopped(main))
    except* refusals as refused:
        code = 1
        for refusal in refused.exceptions:
            logging.getLogger("shanghai").error("%s", refusal)
    return code


async def _until_stopped(main: Coroutine[Any, Any, None]) -> None:
    running = asyncio.ensure_future(main)
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, running.cancel)
    with suppress(asyncio.CancelledError):
        await running
