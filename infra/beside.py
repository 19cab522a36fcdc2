"""Work that goes on beside a block and ends with it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """Does the work while the block runs, then cancels it and waits until it has ended. Errors: those of the work."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
