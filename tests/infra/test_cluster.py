"""The bus on a Redis Cluster: three nodes on loopback, each with a third of the slots."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis.crc import key_slot

from infra.bus.nodes import connect
from infra.embedded.binaries import valkey_program
from infra.embedded.engines import short_folder
from infra.embedded.ports import free_port
from infra.embedded.running import Running, start, wait_until
from infra.settings import Settings
from infra.wiring import Services
from services.ports import Unavailable
from tests.appends import append, new_game
from tests.engines import eventually
from tests.infra.telling import call, relaying

pytestmark = [pytest.mark.usefixtures("owner"), pytest.mark.xdist_group("relay")]

SLOTS = 16_384
NODES = 3


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[Running]]:
    with short_folder() as folder, ExitStack() as exits:
        started = [start_node(folder / str(number)) for number in range(NODES)]
        for node in started:
            exits.callback(node.stop)
        asyncio.run(join(started))
        yield started


@pytest.fixture(autouse=True)
async def _empty_bus(nodes: list[Running]) -> None:
    for node in nodes:
        await call(node.url, "FLUSHALL")


@pytest.fixture(scope="module")
def own_settings(own_settings: Settings, nodes: list[Running]) -> Settings:
    """Everything but the bus stays where it was."""
    return replace(own_settings, bus_url=nodes[0].url, bus_shards=16)


async def test_events_go_over_every_node_and_each_games_come_in_order(
    own_settings: Settings, services: Services, nodes: list[Running]
) -> None:
    games = [new_game() for _ in range(40)]
    told: dict[str, list[int]] = {game: [] for game in games}

    async def listen() -> None:
        async for batch in services.bus.entries():
            for entry in batch:
                told[entry.game_id].append(entry.version)

    listening = asyncio.create_task(listen())
    async with relaying(own_settings):
        await eventually(lambda: are_read(nodes, own_settings.bus_shards))
        for after in range(5):
            await asyncio.gather(*(services.log.append(append(game, after)) for game in games))
        await eventually(lambda: all(len(versions) >= 5 for versions in told.values()))
    listening.cancel()
    await asyncio.wait([listening])
    assert all(versions == [1, 2, 3, 4, 5] for versions in told.values())
    assert all([await keys(node) for node in nodes])


async def test_a_slot_that_moves_is_followed(own_settings: Settings, services: Services, nodes: list[Running]) -> None:
    games = [new_game() for _ in range(60)]
    async with relaying(own_settings):
        await asyncio.gather(*(services.log.append(append(game)) for game in games))
        await eventually(lambda: are_told(nodes, len(games)))
        moved = await keys(nodes[1])
        assert moved
        await give_away(nodes, moved)
        await asyncio.gather(*(services.log.append(append(game, 1)) for game in games))
        await eventually(lambda: are_told(nodes, 2 * len(games)))


async def test_a_cluster_that_lacks_slots_is_not_used(own_settings: Settings) -> None:
    with short_folder() as folder:
        alone = start_node(folder / "alone")
        with pytest.raises(Unavailable, match="slots"):
            await connect(alone.url, [b"es:{00}"])
        alone.stop()


def start_node(folder: Path) -> Running:
    folder.mkdir()
    port = free_port()
    settings = {
        "port": str(port),
        "bind": "127.0.0.1",
        "cluster-enabled": "yes",
        "cluster-port": str(free_port()),
        "dir": str(folder),
        "save": "",
        "maxmemory-policy": "noeviction",
    }
    options = [part for name, value in settings.items() for part in (f"--{name}", value)]
    node = start("node", [valkey_program(), *options], log=folder / "log", url=f"redis://127.0.0.1:{port}")
    return wait_until(node, lambda: answers(port))


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


async def join(nodes: list[Running]) -> None:
    """Makes one cluster of the nodes, and waits until each knows so."""
    first = nodes[0].url.removeprefix("redis://").split(":")
    bus_port = (await call(nodes[0].url, "CONFIG", "GET", "cluster-port"))[1]
    for number, node in enumerate(nodes):
        await call(node.url, "CLUSTER", "ADDSLOTSRANGE", SLOTS * number // NODES, SLOTS * (number + 1) // NODES - 1)
        if number:
            await call(node.url, "CLUSTER", "MEET", *first, bus_port)

    async def is_joined() -> bool:
        return all([b"cluster_slots_ok:16384" in await call(node.url, "CLUSTER", "INFO") for node in nodes])

    await eventually(is_joined)


async def give_away(nodes: list[Running], keys_of_giver: list[bytes]) -> None:
    """Moves the slots of these streams from the second node to the third, empty: as after a failover that lost all."""
    name = await call(nodes[2].url, "CLUSTER", "MYID")
    await call(nodes[1].url, "FLUSHALL")
    for slot in map(key_slot, keys_of_giver):
        await call(nodes[2].url, "CLUSTER", "SETSLOT", slot, "IMPORTING", await call(nodes[1].url, "CLUSTER", "MYID"))
        for node in (nodes[2], nodes[1], nodes[0]):
            await call(node.url, "CLUSTER", "SETSLOT", slot, "NODE", name)


async def keys(node: Running) -> list[bytes]:
    found: list[bytes] = await call(node.url, "KEYS", "es:*")
    return found


async def are_told(nodes: list[Running], count: int) -> bool:
    told: list[int] = [await call(node.url, "XLEN", key) for node in nodes for key in await keys(node)]
    return sum(told) == count


async def are_read(nodes: list[Running], streams: int) -> bool:
    lines = [line for node in nodes for line in (await call(node.url, "INFO", "clients")).decode().splitlines()]
    return sum(int(line.split(":")[1]) for line in lines if line.startswith("blocked_clients:")) == streams
