"""Fixtures of a server whose database is new for each test, where conftest's is new for each module."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from infra.settings import Settings
from infra.wiring import Services, open_services
from tests.engines import new_database, settings_of
from tests.outside_engines import Both


@pytest.fixture
def settings(engines: Both) -> Settings:
    return settings_of(engines, new_database(engines))


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings) as services:
        yield services


@pytest.fixture
async def owner(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    """A connection with all rights."""
    connection = await asyncpg.connect(settings.database_url)
    yield connection
    await connection.close()
