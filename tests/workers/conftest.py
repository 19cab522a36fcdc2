"""Engines of one's own, and the roof's processes on them, each started by itself."""

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeAlias

import httpx
import pytest

from infra.embedded.engines import Engines, embedded_services
from infra.migrations import migrate
from infra.settings import Settings, environment
from infra.wiring import Services, open_services
from tests.engines import UNSAFE, anyio_backend, run, settings_of

__all__ = ["anyio_backend", "engines", "is_live", "server", "services", "settings", "start"]

Process: TypeAlias = "subprocess.Popen[bytes]"


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


@contextmanager
def server(module: str, settings: Settings, *arguments: str) -> Iterator[Process]:
    """Runs a module, and kills it when the block ends."""
    variables = {
        "SHANGHAI_DATABASE_URL": settings.database_url,
        "SHANGHAI_REDIS_URL": settings.bus_url,
        "SHANGHAI_SECRET_KEY": settings.secret_key.hex(),
        "SHANGHAI_PORT": str(settings.port),
        "SHANGHAI_WEBHOOK_TARGETS": settings.webhook_targets,
        "SHANGHAI_METRICS_PORT": str(settings.metrics_port),
        "SHANGHAI_TRACES_URL": settings.traces_url,
        "SHANGHAI_TRACES_RATIO": str(settings.traces_ratio),
    }
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], env=environment(variables))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def is_live(http: httpx.AsyncClient) -> bool:
    """Tells whether the API answers."""
    try:
        return (await http.get("/health/live")).is_success
    except httpx.TransportError:
        return False
