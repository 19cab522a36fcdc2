"""An API process's streams over a real log, relay and bus: whatever the bus lost, they tell every version, in order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import asyncpg
import msgspec
import pytest

from api.app import opened_house
from api.house import House
from api.readers import Reader
from api.streams import story
from infra.settings import Settings
from infra.wiring import Services
from services.ports import Principal
from tests.engines import eventually
from tests.infra.bots import living_anna, new_bots_game, play
from tests.infra.telling import is_listened_to, redis, relaying

pytestmark = [pytest.mark.usefixtures("owner", "empty_bus"), pytest.mark.xdist_group("relay")]


@pytest.fixture(scope="module")
def own_settings(own_settings: Settings) -> Settings:
    """The bus keeps as little as it may."""
    return msgspec.structs.replace(own_settings, bus_maxlen=100)


@pytest.fixture
async def house(services: Services, own_settings: Settings) -> AsyncIterator[House]:
    async with opened_house(services, own_settings) as house:
        yield house


@pytest.fixture
async def anna(services: Services) -> Principal:
    return await living_anna(services)


@pytest.fixture
async def game_id(services: Services) -> str:
    return await new_bots_game(services)


async def told(house: House, anna: Principal, game_id: str, after: int, upto: int) -> list[int]:
    """Reads a stream up to a version; gives the versions that it told."""
    versions, chunk = list[int](), b""
    async with asyncio.timeout(60), aclosing(story(Reader(house, anna, game_id, after), with_view=False)) as chunks:
        async for chunk in chunks:
            lines = chunk.decode().splitlines()
            versions += [int(line.removeprefix("id: ")) for line in lines if line.startswith("id: ")]
            if versions and versions[-1] >= upto:
                return versions
    raise AssertionError(f"the stream ended at {versions[-1:]}: {chunk.decode()}")


async def test_what_the_bus_has_cut_off_is_read_from_the_log(
    house: House, services: Services, own_settings: Settings, anna: Principal, game_id: str
) -> None:
    async with relaying(own_settings):
        before = await play(services, game_id, 10)
        reading = asyncio.create_task(told(house, anna, game_id, before, before + 250))
        await eventually(lambda: is_listened_to(own_settings))
        await redis(own_settings, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")  # the reader comes back later
        head = await play(services, game_id, 250)
        await eventually(lambda: redis(own_settings, "KEYS", "es:*"))  # the relay too was cut off, and comes back
        [key] = await redis(own_settings, "KEYS", "es:*")
        await eventually(lambda: _is_shorter(own_settings, key.decode(), head - before))
        versions = await reading
    assert versions == list(range(before + 1, versions[-1] + 1))


async def test_an_old_id_is_taken_up_from_the_log_though_the_bus_is_empty(
    house: House, services: Services, own_settings: Settings, anna: Principal, game_id: str
) -> None:
    async with relaying(own_settings):
        head = await play(services, game_id, 50)
    await redis(own_settings, "FLUSHALL")
    assert await told(house, anna, game_id, 0, head) == list(range(1, head + 1))
    assert await told(house, anna, game_id, 3, head) == list(range(4, head + 1))


async def test_a_last_event_that_the_bus_never_told_is_late_but_told(
    house: House, services: Services, own_settings: Settings, anna: Principal, game_id: str, owner: asyncpg.Connection
) -> None:
    before = await play(services, game_id, 10)
    reading = asyncio.create_task(told(house, anna, game_id, before, before + 1))
    await eventually(lambda: _is_watched(house))
    head = await play(services, game_id, 1)  # no relay is there
    assert (await reading)[-1] <= head


async def _is_shorter(settings: Settings, key: str, count: int) -> bool:
    return bool(await redis(settings, "XLEN", key) < count)


async def _is_watched(house: House) -> bool:
    return house.streams.count == 1
