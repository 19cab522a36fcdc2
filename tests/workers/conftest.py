"""Engines of one's own, and the roof's processes on them, each started by itself."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack

import pytest

from infra.embedded.engines import Engines, embedded_services
from infra.migrations import migrate
from infra.settings import Settings
from infra.wiring import Services, open_services
from tests.engines import UNSAFE, anyio_backend, run, settings_of
from tests.processes import Process, server

__all__ = ["anyio_backend", "engines", "services", "settings", "start"]


@pytest.fixture(scope="module")
def engines() -> Iterator[Engines]:
    with embedded_services(UNSAFE) as own:
        run(migrate(own.postgres.url))
        yield own


@pytest.fixture(scope="module")
def settings(engines: Engines) -> Settings:
    return settings_of(engines, engines.postgres.url)


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings) as services:
        yield services


@pytest.fixture
def start(settings: Settings) -> Iterator[Callable[[str], Process]]:
    """Starts a module of the roof; all are ended with the test."""
    with ExitStack() as exits:
        yield lambda module: exits.enter_context(server(module, settings))
