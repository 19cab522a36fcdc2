"""Rate limits that all API processes share, kept in Redis.

A process takes some requests of a quota at once and counts them off by itself, so that most requests ask nobody. Never
do more pass than the quota has; what lies in one process is missing in the others until the quota has refilled.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

from msgspec import Struct
from redis.exceptions import NoScriptError

from infra.bus.on_demand import ImpatientWire
from infra.bus.wire import Wire, words
from services.limits import Verdict
from services.ports import Unavailable

_SCRIPT = Path(__file__).with_suffix(".lua").read_bytes()
_DIGEST = sha1(_SCRIPT, usedforsecurity=False).hexdigest()  # how Redis names a script
_SUBJECTS_KEPT = 10_000
BUSY_S, BUSY = 1.0, 3  # who asks again within this time takes so many times as much

_log = logging.getLogger(__name__)


class RedisCounter:
    """The script that counts, over one connection for all limits of a process."""

    def __init__(self, url: str) -> None:
        self._wire = ImpatientWire(url, lost=_tell)

    async def take(self, key: str, quota: int, window_s: float, needed: int, wanted: int) -> tuple[int, int, float]:
        """Gives how many are granted, what is left and the seconds to wait, counted atomically; raises Unavailable."""
        numbers = (quota, round(window_s * 1e6), needed, wanted)
        granted, left, wait_us = await self._wire.use(lambda wire: _count(wire, key, *numbers))
        return granted, left, wait_us / 1e6

    async def aclose(self) -> None:
        """Closes the connection."""
        await self._wire.close()


async def _count(wire: Wire, key: str, *numbers: int) -> list[int]:
    try:
        counted: list[int] = await wire.call("EVALSHA", _DIGEST, 1, key, *numbers)
    except NoScriptError:
        counted = await wire.call("EVAL", _SCRIPT, 1, key, *numbers)
    return counted


def _tell(lost: Exception) -> None:
    _log.warning("Redis is away; nothing is limited: %s %s", type(lost).__name__, words(lost))


class _Bucket(Struct, gc=False):
    """What a process knows of a subject. held: taken from the quota and not used yet; left: in Redis, as of `at`.

    until: before this moment a request that weighs `refused` or more is refused without asking.
    """

    held: int = 0
    left: int = 0
    at: float = 0.0
    refused: int = 0
    until: float = 0.0


class RedisLimit:
    """A quota of `quota` requests in `window_s` seconds for each subject; without Redis everybody may pass.

    lease: so many are taken at once, and more by who is busy; 1 asks Redis for every request.
    """

    def __init__(
        self,
        counter: RedisCounter,
        name: str,
        *,
        quota: int,
        window_s: float,
        lease: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.quota = quota
        self.window_s = window_s
        self.name = name
        self._counter = counter
        self._lease = lease
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._filling = asyncio.Lock()

    async def take(self, subject: str, cost: int = 1) -> Verdict:
        """Counts one request, from what this process holds or else atomically in Redis."""
        cost, now = min(cost, self.quota), self._clock()
        bucket = self._bucket(subject)
        if not _spend(bucket, cost):
            async with self._filling:  # whoever comes meanwhile may find enough afterwards
                if not _spend(bucket, cost):
                    refused = await self._fill(bucket, subject, cost)
                    if refused is not None:
                        return refused
        each_s = self.window_s / self.quota
        remaining = min(self.quota, bucket.held + bucket.left + int((now - bucket.at) / each_s))
        return Verdict(passes=True, remaining=max(0, remaining), wait_s=(self.quota - remaining) * each_s)

    async def _fill(self, bucket: _Bucket, subject: str, cost: int) -> Verdict | None:
        """Pays with what is held and what is missing from the quota, of which some more is taken.

        Gives None, or the verdict where there is not enough, or nobody to ask.
        """
        now = self._clock()
        if now < bucket.until and cost >= bucket.refused:
            return Verdict(passes=False, remaining=bucket.held + bucket.left, wait_s=bucket.until - now)
        own, bucket.held = bucket.held, 0  # others must not pay with it meanwhile
        granted = 0
        try:
            needed = cost - own
            is_busy = self._lease > 1 and now - bucket.at < BUSY_S
            wanted = max(needed, self._lease * BUSY if is_busy else self._lease)
            key = f"limit:{self.name}:{subject}"
            granted, left, wait_s = await self._counter.take(key, self.quota, self.window_s, needed, wanted)
        except Unavailable:
            return Verdict(passes=True, remaining=self.quota, wait_s=0.0)
        finally:
            bucket.held += own + granted - (cost if granted else 0)
        bucket.left, bucket.at = left, self._clock()
        if granted:
            return None
        bucket.refused, bucket.until = cost, bucket.at + wait_s
        return Verdict(passes=False, remaining=bucket.held + left, wait_s=wait_s)

    def _bucket(self, subject: str) -> _Bucket:
        bucket = self._buckets.get(subject)
        if bucket is None:
            if len(self._buckets) >= _SUBJECTS_KEPT:
                self._buckets.clear()
            bucket = self._buckets[subject] = _Bucket()
        return bucket


def _spend(bucket: _Bucket, cost: int) -> bool:
    """Spends what is held, where that is enough."""
    if bucket.held < cost:
        return False
    bucket.held -= cost
    return True
