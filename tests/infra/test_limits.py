"""A quota in Redis, shared by all who count against it, and its twin in memory: one contract."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any
from uuid import uuid4

import pytest

from infra.limits import RedisLimit
from infra.settings import Settings
from services.limits import Limit, MemoryLimit


@pytest.fixture(params=["redis", "memory"])
async def limit(request: Any, settings: Settings) -> AsyncIterator[Limit]:
    async with AsyncExitStack() as exits:
        if request.param == "redis":
            yield await exits.enter_async_context(aclosing(limit_at(settings.limits_url)))
        else:
            yield MemoryLimit(quota=5, window_s=3600)


def limit_at(url: str) -> RedisLimit:
    return RedisLimit(url, f"test-{uuid4().hex}", quota=5, window_s=3600)


async def test_a_quota_is_used_up_and_tells_how_long_to_wait(limit: Limit) -> None:
    verdicts = [await limit.take("anna") for _ in range(6)]
    assert [verdict.passes for verdict in verdicts] == [True] * 5 + [False]
    assert [verdict.remaining for verdict in verdicts] == [4, 3, 2, 1, 0, 0]
    assert 600 < verdicts[5].retry_after_s <= 720


async def test_each_subject_has_a_quota_of_its_own(limit: Limit) -> None:
    for _ in range(5):
        await limit.take("anna")
    assert (await limit.take("boris")).passes


async def test_a_refused_request_does_not_lengthen_the_wait(limit: Limit) -> None:
    waits = [(await limit.take("anna")).retry_after_s for _ in range(20)][5:]
    assert max(waits) - min(waits) < 5
    assert waits == sorted(waits, reverse=True)


async def test_two_processes_count_together(settings: Settings) -> None:
    async with aclosing(limit_at(settings.limits_url)) as one:
        other = RedisLimit(settings.limits_url, one.name, quota=5, window_s=3600)
        async with aclosing(other):
            verdicts = await asyncio.gather(*(which.take("anna") for which in (one, other) * 10))
    assert sum(verdict.passes for verdict in verdicts) == 5


async def test_without_redis_everybody_may_pass() -> None:
    async with aclosing(limit_at("redis://127.0.0.1:1")) as nowhere:
        verdicts = [await nowhere.take("anna") for _ in range(10)]
    assert all(verdict.passes for verdict in verdicts)
