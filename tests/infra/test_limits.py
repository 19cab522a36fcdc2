"""A quota in Redis, shared by all who count against it, and its twin in memory: one contract."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any
from uuid import uuid4

import pytest

from infra.bus import on_demand
from infra.limits import RedisCounter, RedisLimit
from infra.settings import Settings
from services.limits import Limit, MemoryLimit
from tests.engines import eventually
from tests.infra.telling import redis


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis that the machine holds up for a moment is not away: everybody would pass."""
    monkeypatch.setattr(on_demand, "_PATIENCE_S", 30.0)


@pytest.fixture(params=["redis", "memory"])
async def limit(request: Any, settings: Settings) -> AsyncIterator[Limit]:
    async with AsyncExitStack() as exits:
        if request.param == "redis":
            counter = await exits.enter_async_context(aclosing(RedisCounter(settings.limits_url)))
            yield limit_at(counter)
        else:
            yield MemoryLimit(quota=5, window_s=3600)


def limit_at(counter: RedisCounter, *, lease: int = 1, quota: int = 5, window_s: float = 3600) -> RedisLimit:
    return RedisLimit(counter, f"test-{uuid4().hex}", quota=quota, window_s=window_s, lease=lease)


async def test_a_quota_is_used_up_and_tells_how_long_to_wait(limit: Limit) -> None:
    verdicts = [await limit.take("anna") for _ in range(6)]
    assert [verdict.passes for verdict in verdicts] == [True] * 5 + [False]
    assert [verdict.remaining for verdict in verdicts] == [4, 3, 2, 1, 0, 0]
    full_again = [720, 1440, 2160, 2880, 3600]
    assert all(until - 120 < verdict.wait_s <= until for verdict, until in zip(verdicts, full_again, strict=False))
    assert 600 < verdicts[5].wait_s <= 720


async def test_each_subject_has_a_quota_of_its_own(limit: Limit) -> None:
    for _ in range(5):
        await limit.take("anna")
    assert (await limit.take("boris")).passes


async def test_a_refused_request_does_not_lengthen_the_wait(limit: Limit) -> None:
    waits = [(await limit.take("anna")).wait_s for _ in range(20)][5:]
    assert max(waits) - min(waits) < 5
    assert waits == sorted(waits, reverse=True)


async def test_what_costs_more_takes_more_and_leaves_the_rest_to_what_costs_less(limit: Limit) -> None:
    verdicts = [await limit.take("anna", cost) for cost in (3, 3, 1, 1, 1)]
    assert [verdict.passes for verdict in verdicts] == [True, False, True, True, False]
    assert [verdict.remaining for verdict in verdicts] == [2, 2, 1, 0, 0]
    assert (await limit.take("boris", 99)).passes  # nothing costs more than the whole quota


@pytest.mark.parametrize("lease", [1, 2, 3])
async def test_two_processes_count_together(settings: Settings, lease: int) -> None:
    """However much each takes at once, the quota is used up and no more."""
    async with aclosing(RedisCounter(settings.limits_url)) as one, aclosing(RedisCounter(settings.limits_url)) as other:
        first = limit_at(one, lease=lease)
        second = RedisLimit(other, first.name, quota=5, window_s=3600, lease=lease)
        verdicts = await asyncio.gather(*(which.take("anna") for which in (first, second) * 10))
    assert sum(verdict.passes for verdict in verdicts) == 5


async def test_what_was_taken_at_once_is_counted_off_without_asking(settings: Settings) -> None:
    async with aclosing(Asked(settings.limits_url)) as counter:
        limit = limit_at(counter, quota=60, lease=6)
        verdicts = [await limit.take("anna") for _ in range(12)]
        assert [verdict.remaining for verdict in verdicts] == list(range(59, 47, -1))
        assert counter.asked == 2
        assert all([(await limit.take("anna", 5)).passes for _ in range(9)])
        asked = counter.asked
        refused = [await limit.take("anna", 5) for _ in range(50)]
        assert not any(verdict.passes for verdict in refused)
        assert counter.asked == asked + 1
        assert [(await limit.take("anna")).passes for _ in range(4)] == [True] * 3 + [False]


async def test_who_is_busy_takes_more_at_once_until_they_are_slow_again(settings: Settings) -> None:
    async with aclosing(Asked(settings.limits_url)) as counter:
        now = 100.0
        limit = RedisLimit(counter, uuid4().hex, quota=600, window_s=3600, lease=6, clock=lambda: now)
        asked = []
        for requests, later_s in ((6, 0.5), (18, 2), (6, 0.5), (18, 0)):
            for _ in range(requests):
                await limit.take("anna")
            asked.append(counter.asked)
            now += later_s
        assert asked == [1, 2, 3, 4]


async def test_what_is_held_and_what_is_left_are_paid_together(settings: Settings) -> None:
    async with aclosing(RedisCounter(settings.limits_url)) as counter:
        limit = limit_at(counter, lease=3)
        verdicts = [await limit.take("anna", cost) for cost in (1, 4)]
    assert [(verdict.passes, verdict.remaining) for verdict in verdicts] == [(True, 4), (True, 0)]


async def test_a_lease_of_one_asks_for_every_request(settings: Settings) -> None:
    async with aclosing(Asked(settings.limits_url)) as counter:
        limit = limit_at(counter, quota=60)
        for _ in range(6):
            await limit.take("anna")
        assert counter.asked == 6


async def test_one_process_leaves_some_to_the_others_and_the_key_goes_when_the_quota_is_full(
    settings: Settings,
) -> None:
    async with aclosing(RedisCounter(settings.limits_url)) as one, aclosing(RedisCounter(settings.limits_url)) as other:
        first = limit_at(one, quota=8, lease=8)
        second = RedisLimit(other, first.name, quota=8, window_s=3600, lease=1)
        await first.take("anna")
        assert [(await second.take("anna")).passes for _ in range(7)] == [True] * 6 + [False]
        left_ms = await redis(settings, "PTTL", f"limit:{first.name}:anna")
        assert 3_500_000 < left_ms <= 3_600_000


async def test_what_has_refilled_since_is_said_without_asking(settings: Settings) -> None:
    async with aclosing(Asked(settings.limits_url)) as counter:
        now = 100.0
        limit = RedisLimit(counter, uuid4().hex, quota=600, window_s=3600, lease=6, clock=lambda: now)
        assert (await limit.take("anna")).remaining == 599
        now += 12
        assert (await limit.take("anna")).remaining == 600
        assert counter.asked == 1


async def test_not_every_subject_is_remembered(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.limits._SUBJECTS_KEPT", 2)
    async with aclosing(RedisCounter(settings.limits_url)) as counter:
        limit = limit_at(counter)
        for subject in ("anna", "boris", "clara", "david", "emil"):
            await limit.take(subject)
        assert len(limit._buckets) <= 2


async def test_a_quota_refills_while_time_goes_by(settings: Settings) -> None:
    async with aclosing(RedisCounter(settings.limits_url)) as counter:
        limit = limit_at(counter, quota=5, window_s=1.0, lease=5)
        while await passes(limit):
            pass
        await eventually(lambda: passes(limit), what="the quota refills")


async def passes(limit: Limit) -> bool:
    return (await limit.take("anna")).passes


class Asked(RedisCounter):
    """Counts how often Redis is asked."""

    asked = 0

    async def take(self, key: str, quota: int, window_s: float, needed: int, wanted: int) -> tuple[int, int, float]:
        self.asked += 1
        return await super().take(key, quota, window_s, needed, wanted)


async def test_without_redis_everybody_may_pass() -> None:
    async with aclosing(RedisCounter("redis://127.0.0.1:1")) as nowhere:
        limit = limit_at(nowhere)
        assert all([(await limit.take("anna")).passes for _ in range(10)])


async def test_a_redis_that_does_not_answer_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_demand, "_PATIENCE_S", 1.0)
    monkeypatch.setattr(on_demand, "_REST_S", 60.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with aclosing(RedisCounter(f"redis://127.0.0.1:{silent.getsockname()[1]}")) as counter:
            limit, began = limit_at(counter), time.monotonic()
            verdicts = await asyncio.gather(*(limit.take("anna") for _ in range(20)))
            assert all(verdict.passes for verdict in verdicts)
            assert time.monotonic() - began < 10  # one of them has waited; all of them, one after another, take 20 s
