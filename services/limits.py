"""How often something may be asked: the port, and its twin in memory."""

import time
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct


class Verdict(Struct, frozen=True):
    """Whether a request may pass, what is left of the quota, and after how long a refused one may be repeated."""

    passes: bool
    remaining: int
    retry_after_s: float


class Limit(Protocol):
    """A quota of `quota` requests in `window_s` seconds for each subject; it refills evenly."""

    quota: int
    window_s: int

    async def take(self, subject: str) -> Verdict:
        """Counts one request. Whatever is away, somebody may rather pass than wait."""
        ...


class MemoryLimit:
    """A Limit of one process."""

    def __init__(self, *, quota: int, window_s: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.quota = quota
        self.window_s = window_s
        self._clock = clock
        self._full_at: dict[str, float] = {}

    async def take(self, subject: str) -> Verdict:
        """Counts one request; kept is the moment at which the subject's quota will be full again."""
        now = self._clock()
        each_s = self.window_s / self.quota
        full_at = max(now, self._full_at.get(subject, now)) + each_s
        left_s = now + self.window_s - full_at + 1e-6  # parts of a second do not add up to a whole one exactly
        if left_s < 0:
            return Verdict(passes=False, remaining=0, retry_after_s=-left_s)
        self._full_at[subject] = full_at
        return Verdict(passes=True, remaining=int(left_s / each_s), retry_after_s=full_at - now)
