"""Rate limits that all API processes share, kept in Redis."""

import asyncio
import logging
import time
from hashlib import sha1
from pathlib import Path

from redis.exceptions import NoScriptError

from infra.bus.wire import Wire
from services.limits import Verdict
from services.ports import Unavailable

_SCRIPT = Path(__file__).with_suffix(".lua").read_bytes()
_DIGEST = sha1(_SCRIPT, usedforsecurity=False).hexdigest()  # how Redis names a script
_REST_S = 1.0  # so long nobody tries again to reach a Redis that is away

_log = logging.getLogger(__name__)


class RedisLimit:
    """A quota of `quota` requests in `window_s` seconds for each subject; without Redis everybody may pass."""

    def __init__(self, url: str, name: str, *, quota: int, window_s: int) -> None:
        self.quota = quota
        self.window_s = window_s
        self._url = url
        self.name = name
        self._wire: Wire | None = None
        self._one_at_a_time = asyncio.Lock()
        self._away_until = 0.0

    async def take(self, subject: str) -> Verdict:
        """Counts one request, atomically in Redis."""
        async with self._one_at_a_time:
            if time.monotonic() >= self._away_until:
                try:
                    passes, remaining, wait_us = await self._count(f"limit:{self.name}:{subject}")
                    return Verdict(passes == 1, remaining, wait_us / 1e6)
                except asyncio.CancelledError:
                    await self.aclose()  # its answer would be taken for that of the next call
                    raise
                except Unavailable:
                    _log.warning("Redis is away; %s are not limited", self.name)
                    self._away_until = time.monotonic() + _REST_S
                    await self.aclose()
        return Verdict(passes=True, remaining=self.quota, retry_after_s=0)

    async def aclose(self) -> None:
        """Closes the connection."""
        if self._wire is not None:
            await self._wire.close()
            self._wire = None

    async def _count(self, key: str) -> list[int]:
        if self._wire is None:
            self._wire = await Wire.open(self._url)
        numbers = (1, key, self.quota, self.window_s * 1_000_000)
        try:
            counted: list[int] = await self._wire.call("EVALSHA", _DIGEST, *numbers)
        except NoScriptError:
            counted = await self._wire.call("EVAL", _SCRIPT, *numbers)
        return counted
