"""The way to the broker."""

import json
import os
from base64 import b64decode
from collections.abc import AsyncIterator, Callable

import pytest

from infra.bus.wire import Wire
from infra.jobs import QUEUE, QUEUED_AT_MOST, CeleryJobs, ClosableJobs, RedisJobs, open_jobs
from infra.settings import Settings
from services.ports import Unavailable


@pytest.fixture
async def jobs(settings: Settings) -> AsyncIterator[RedisJobs]:
    jobs = RedisJobs(settings.broker_url)
    yield jobs
    await jobs.close()


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[Wire]:
    redis = await Wire.open(settings.bus_url)
    await redis.call("DEL", QUEUE)
    yield redis
    await redis.call("DEL", QUEUE)
    await redis.close()


async def test_a_broker_without_workers_is_not_filled(jobs: RedisJobs, redis: Wire) -> None:
    await redis.call("LPUSH", QUEUE, *(["old"] * QUEUED_AT_MOST))
    for _ in range(3):
        await jobs.hand_out("gam_new")
    assert await redis.call("LLEN", QUEUE) == QUEUED_AT_MOST
    assert await redis.call("LINDEX", QUEUE, 0) != b"old"
    assert await redis.call("LINDEX", QUEUE, 3) == b"old"


@pytest.mark.parametrize("client", [RedisJobs, CeleryJobs])
async def test_jobs_that_are_handed_out_together_wait_in_their_order(
    client: Callable[[str], ClosableJobs], settings: Settings, redis: Wire
) -> None:
    jobs, games = client(settings.broker_url), ["gam_a", "gam_b", "gam_c"]
    await jobs.hand_out(*games)
    await jobs.close()
    messages = [json.loads(message) for message in await redis.call("LRANGE", QUEUE, 0, -1)]
    assert [json.loads(b64decode(message["body"]))[0] for message in reversed(messages)] == [[game] for game in games]
    assert len({message["headers"]["id"] for message in messages}) == len(games)


@pytest.mark.parametrize("client", [RedisJobs, CeleryJobs])
async def test_a_broken_connection_is_opened_anew(
    client: Callable[[str], ClosableJobs], settings: Settings, redis: Wire
) -> None:
    jobs = client(settings.broker_url)
    for count in (1, 2, 3):
        await jobs.hand_out("gam_a")
        assert await redis.call("LLEN", QUEUE) == count
        await redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    await jobs.close()


@pytest.mark.parametrize("url", ["redis+socket:///nowhere?virtual_host=0", "redis://127.0.0.1:1", "amqp://127.0.0.1:1"])
async def test_a_broker_that_is_not_there_is_unavailable_soon(url: str) -> None:
    jobs = open_jobs(url)
    before = os.times().elapsed
    for _ in range(2):
        with pytest.raises(Unavailable):
            await jobs.hand_out("gam_a")
    assert os.times().elapsed - before < 5
    await jobs.close()
