"""Fixtures: one Postgres and one Redis per test process, a fresh database for each test module.

They are embedded ones, unless SHANGHAI_TEST_DATABASE_URL and SHANGHAI_TEST_REDIS_URL lead to others, or
SHANGHAI_TEST_IMAGES names the images of a Postgres and a Redis for a Docker engine: `postgres:18 redis:8`.

A folder's conftest imports the names that it needs. Tests with long transactions or kills start engines of their own.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from functools import cache
from inspect import isawaitable
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import pytest
from msgspec.structs import replace

from infra.embedded.engines import embedded_services
from infra.migrations import migrate
from infra.settings import Settings
from tests.outside_engines import Both, origin, outside_engines

T = TypeVar("T")

UNSAFE = {"fsync": "off"}  # no test pulls the machine's plug

_RUN = uuid4().hex[:8]  # given engines may have databases of other runs
_TEMPLATE = f"template_{_RUN}"
_numbers = itertools.count(1)
_until_the_end = ExitStack()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def engines() -> Iterator[Both]:
    """Both engines, shared by all folders of tests; ended with the session."""
    yield _started()
    _until_the_end.close()
    _started.cache_clear()


@pytest.fixture(scope="module")
def settings(engines: Both) -> Settings:
    """Settings of a server whose database is new for this module."""
    return settings_of(engines, new_database(engines))


def new_database(engines: Both) -> str:
    """Makes a migrated database in 40 ms and gives its URL."""
    name = f"test_{_RUN}_{next(_numbers)}"
    run(_create(engines.postgres.url, name))
    return database_url(engines, name)


def database_url(engines: Both, name: str) -> str:
    return urlsplit(engines.postgres.url)._replace(path=f"/{name}").geturl()


def settings_of(engines: Both, url: str) -> Settings:
    unwired = Settings(
        database_url=url,
        projector_database_url=url,
        bus_url="redis://",
        broker_url="redis://",
        limits_url="redis://",
        secret_key=bytes(range(32)),
    )
    return with_redis(unwired, engines.redis.url)


def with_redis(settings: Settings, url: str) -> Settings:
    """Gives the same settings with everything that is Redis's at another one."""
    is_socket = url.startswith("unix://")
    broker_url = f"redis+socket://{url.removeprefix('unix://')}?virtual_host=0" if is_socket else url
    return replace(settings, bus_url=url, broker_url=broker_url, limits_url=url)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs async work from a synchronous test or fixture."""
    return asyncio.run(work)


async def eventually(is_so: Callable[[], object], *, within_s: float = 60.0, what: str = "") -> None:
    """Waits for a fact, looked at every 20 ms; who tells it may be awaited."""
    deadline = time.monotonic() + within_s
    while not (await so if isawaitable(so := is_so()) else so):
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        await asyncio.sleep(0.02)


@cache
def _started() -> Both:
    engines: Both
    if origin() == "embedded":
        engines = _until_the_end.enter_context(embedded_services(UNSAFE))
    else:
        engines = _until_the_end.enter_context(outside_engines())
        _until_the_end.callback(lambda: run(_drop_databases(engines.postgres.url)))
    run(_make_template(engines))
    return engines


async def _make_template(engines: Both) -> None:
    connection = await asyncpg.connect(engines.postgres.url)
    await connection.execute(f"CREATE DATABASE {_TEMPLATE}")
    await connection.close()
    await migrate(database_url(engines, _TEMPLATE))


async def _create(url: str, name: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
    await connection.close()


async def _drop_databases(url: str) -> None:
    connection = await asyncpg.connect(url)
    for row in await connection.fetch("SELECT datname FROM pg_database WHERE datname LIKE $1", f"%\\_{_RUN}%"):
        await connection.execute(f"DROP DATABASE {row['datname']} WITH (FORCE)")
    await connection.close()
