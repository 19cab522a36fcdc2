"""Anna, Boris and a stranger at an API on the twins in memory."""

from collections.abc import AsyncIterator

import pytest

from tests.api.post import Post
from tests.api.world import Clock, Player, World, new_world, players
from tests.engines import anyio_backend

__all__ = ["anyio_backend"]


@pytest.fixture
def world() -> World:
    return new_world()


@pytest.fixture
def clock(world: World) -> Clock:
    """Is the database's clock from now on."""
    world.log.now = clock = Clock()
    return clock


@pytest.fixture
def post(world: World) -> Post:
    return Post(world)


@pytest.fixture
async def everybody(world: World) -> AsyncIterator[list[Player]]:
    async with players(world, "Anna", "Boris", "Clara", "") as those:
        yield those


@pytest.fixture
def anna(everybody: list[Player]) -> Player:
    return everybody[0]


@pytest.fixture
def boris(everybody: list[Player]) -> Player:
    return everybody[1]


@pytest.fixture
def clara(everybody: list[Player]) -> Player:
    return everybody[2]


@pytest.fixture
def stranger(everybody: list[Player]) -> Player:
    """Has no token."""
    return everybody[3]
