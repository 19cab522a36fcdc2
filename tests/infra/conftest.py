"""Engines of one's own for tests that stop them or hold transactions open."""

from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from infra.embedded.engines import Engines, embedded_services
from infra.settings import Settings
from infra.wiring import Services, open_services
from tests.engines import UNSAFE, anyio_backend, engines, run, settings, settings_of
from tests.infra.telling import redis

__all__ = ["anyio_backend", "engines", "own_engines", "own_settings", "owner", "settings"]


@pytest.fixture(autouse=True)
def _busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Redis that does not take a connection within a second is not away."""
    monkeypatch.setattr("infra.bus.wire._CONNECT_S", 30.0)
    monkeypatch.setattr("infra.bus.wire._ANSWER_S", 30.0)


@pytest.fixture(scope="module")
def own_engines() -> Iterator[Engines]:
    """A cluster and a Redis that no other module uses; transaction numbers and barriers are cluster-wide."""
    with embedded_services(UNSAFE) as own:
        yield own


@pytest.fixture(scope="module")
def own_settings(own_engines: Engines) -> Settings:
    from infra.migrations import migrate

    run(migrate(own_engines.postgres.url))
    return settings_of(own_engines, own_engines.postgres.url)


@pytest.fixture
async def owner(own_settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    """A connection with the owner's rights to `own_settings`' database, whose tables are empty."""
    connection = await asyncpg.connect(own_settings.database_url)
    await connection.execute("TRUNCATE event, idempotency, work")
    yield connection
    await connection.close()


@pytest.fixture
async def outsider(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    """Another session at the database that all tests share, as its owner."""
    connection = await asyncpg.connect(settings.database_url)
    yield connection
    await connection.close()


@pytest.fixture
async def services(own_settings: Settings) -> AsyncIterator[Services]:
    async with open_services(own_settings) as services:
        yield services


@pytest.fixture
async def empty_bus(own_settings: Settings) -> None:
    await redis(own_settings, "FLUSHALL")
