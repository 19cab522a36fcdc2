"""Who is at which table, kept in Redis: for a while, for all processes, and for nobody's harm when it is away."""

import time
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from infra.attendance import RedisAttendance
from infra.bus import on_demand
from infra.settings import Settings
from services.attendance import EVERYWHERE
from services.ids import new_uuid, public_id
from services.ports import Unavailable
from tests.engines import eventually
from tests.infra.telling import redis

ANNA, BORIS = "ply_anna", "ply_boris"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis that the machine holds up for a moment is not away."""
    monkeypatch.setattr(on_demand, "_PATIENCE_S", 30.0)


@pytest.fixture
async def attendance(settings: Settings) -> AsyncIterator[RedisAttendance]:
    """Forgets within a second."""
    kept = RedisAttendance(settings.limits_url, away_s=1.0)
    yield kept
    await kept.close()


async def test_a_player_was_seen_for_a_while_at_one_table_or_at_all(attendance: RedisAttendance) -> None:
    first, second = (public_id("gam", new_uuid()) for _ in range(2))
    asked = [(first, ANNA), (second, ANNA), (first, BORIS), (second, BORIS)]

    async def one_is_away() -> bool:
        await attendance.attend([(first, ANNA), (EVERYWHERE, BORIS)])
        return await attendance.absent(asked) == {(second, ANNA)}

    await eventually(one_is_away, what="what is kept is old enough to say who is not in it")

    async def all_are_away() -> bool:
        return await attendance.absent(asked) == set(asked)

    await eventually(all_are_away)


async def test_nobody_is_away_from_what_was_emptied_a_moment_ago(
    attendance: RedisAttendance, settings: Settings
) -> None:
    await redis(settings, "FLUSHALL")
    assert await attendance.absent([(public_id("gam", new_uuid()), ANNA)]) == set()


async def test_many_are_asked_about_at_once(attendance: RedisAttendance) -> None:
    games = [public_id("gam", new_uuid()) for _ in range(1_200)]

    async def all_but_one() -> bool:
        await attendance.attend([(game, ANNA) for game in games[1:]])
        return await attendance.absent([(game, ANNA) for game in games]) == {(games[0], ANNA)}

    await eventually(all_but_one)


async def test_a_redis_that_is_away_is_told_at_once(settings: Settings) -> None:
    away = RedisAttendance(replace(settings, limits_url="unix:///nowhere/redis").limits_url)
    began = time.monotonic()
    for _ in range(3):
        with pytest.raises(Unavailable):
            await away.absent([("gam", ANNA)])
    assert time.monotonic() - began < 20
    await away.close()
