"""Streams of people over a real log, relay and bus: every event of all games once, whichever process tells it."""

import asyncio
from contextlib import AsyncExitStack, aclosing
from random import Random

import msgspec
import pytest

from api.app import opened_house
from api.house import House
from api.my_stream import my_story
from infra.settings import Settings
from infra.wiring import Services
from services.cursors import read_cursor
from services.ports import Principal
from tests.engines import eventually
from tests.infra.bots import living_anna, new_bots_game, play
from tests.infra.telling import redis, relaying

pytestmark = [pytest.mark.usefixtures("owner", "empty_bus"), pytest.mark.xdist_group("relay")]

Told = list[tuple[str, int]]


@pytest.fixture(scope="module")
def own_settings(own_settings: Settings) -> Settings:
    """Spreads the games over four streams of the bus, whose orders are not one."""
    return msgspec.structs.replace(own_settings, bus_shards=4)


async def read(house: House, anna: Principal, last: str, upto: int) -> tuple[Told, str]:
    """Reads Anna's games until so many events were told; gives them and the last id. Then the process is gone."""
    told, chunk = Told(), b""
    cursor = read_cursor(last) if last else None
    async with asyncio.timeout(60), aclosing(my_story(house, anna, cursor)) as chunks:
        async for chunk in chunks:
            for message in chunk.decode().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in message.splitlines())
                assert fields.get("event") != "resync"
                last = fields.get("id", last)
                data = msgspec.json.decode(fields.get("data", "{}"))
                if "kind" in data:
                    told.append((data["game_id"], data["version"]))
                if len(told) >= upto:
                    return told, last
    raise AssertionError(f"the stream ended after {len(told)}: {chunk.decode()}")


@pytest.mark.parametrize("is_bus_cut", [False, True])
async def test_every_event_comes_once_though_processes_die_and_the_bus_is_cut(
    services: Services, own_settings: Settings, is_bus_cut: bool
) -> None:
    anna, games = await living_anna(services), [await new_bots_game(services) for _ in range(3)]
    random, told, last = Random(3), [], ""
    async with relaying(own_settings), AsyncExitStack() as exits:
        houses = [await exits.enter_async_context(opened_house(services, own_settings)) for _ in range(2)]
        begun = {game_id: await play(services, game_id, 1) for game_id in games}
        await eventually(lambda: _is_settled(services, begun))
        _, last = await read(houses[0], anna, "", 0)
        heads: dict[str, int] = {}
        for turn in range(6):
            if is_bus_cut and turn % 2:
                await redis(own_settings, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            heads = {game_id: await play(services, game_id, 5) for game_id in games}
            some, last = await read(houses[turn % 2], anna, last, random.randint(1, 12))
            told += some
        missing = sum(heads.values()) - sum(begun.values()) - len(told)
        rest, last = await read(houses[0], anna, last, missing)
        told += rest
    for game_id in games:
        versions = [version for game, version in told if game == game_id]
        assert versions == list(range(begun[game_id] + 1, heads[game_id] + 1))


async def _is_settled(services: Services, versions: dict[str, int]) -> bool:
    return await services.order.heads(list(versions)) == versions
