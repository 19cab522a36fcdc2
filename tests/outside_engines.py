"""Engines that are not the embedded ones: at given addresses, or in containers of given images.

A Docker engine that happens to be there is not asked: its images may not be, and the embedded engines start in 0.6 s.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol

import asyncpg
from msgspec import Struct

from infra.bus.wire import Wire
from services.ports import Unavailable

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

DATABASE, REDIS, IMAGES = "SHANGHAI_TEST_DATABASE_URL", "SHANGHAI_TEST_REDIS_URL", "SHANGHAI_TEST_IMAGES"
_READY_WITHIN_S = 60


class Engine(Protocol):
    """A running engine; `url` leads to it, as superuser."""

    @property
    def url(self) -> str: ...


class Both(Protocol):
    """A running Postgres and a running Redis."""

    @property
    def postgres(self) -> Engine: ...
    @property
    def redis(self) -> Engine: ...


class Reached(Struct, frozen=True):
    """An engine that somebody else runs."""

    url: str


class Outside(Struct, frozen=True):
    """A Postgres and a Redis that somebody else runs."""

    postgres: Reached
    redis: Reached


def origin() -> str:
    """Names where the engines come from: `given`, `containers` or `embedded`."""
    if DATABASE in os.environ:
        return "given"
    return "containers" if IMAGES in os.environ else "embedded"


@contextmanager
def outside_engines() -> Iterator[Outside]:
    """Is the engines at the given addresses, or in containers that are gone afterwards."""
    with ExitStack() as exits:
        if origin() == "given":
            engines = Outside(Reached(os.environ[DATABASE]), Reached(os.environ[REDIS]))
        else:
            engines = exits.enter_context(_containers(*os.environ[IMAGES].split()))
        asyncio.run(_both_answer(engines))
        yield engines


@contextmanager
def _containers(postgres_image: str, redis_image: str) -> Iterator[Outside]:
    from testcontainers.core.container import DockerContainer  # it looks for Docker as it is imported

    variables = {"POSTGRES_PASSWORD": "test", "PGDATA": "/var/lib/postgresql/data"}
    server = "postgres -c fsync=off"  # no test pulls the machine's plug
    with (
        DockerContainer(postgres_image, command=server, env=variables, ports=[5432]) as postgres,
        DockerContainer(redis_image, command="redis-server --protected-mode no", ports=[6379]) as redis,
    ):
        yield Outside(
            Reached(f"postgresql://postgres:test@{_address(postgres, 5432)}/postgres"),
            Reached(f"redis://{_address(redis, 6379)}/0"),
        )


def _address(container: "DockerContainer", port: int) -> str:
    return f"{container.get_container_host_ip()}:{container.get_exposed_port(port)}"


async def _both_answer(engines: Outside) -> None:
    """Waits: a container's Postgres starts twice, and listens at its port only the second time."""

    async def postgres() -> None:
        await (await asyncpg.connect(engines.postgres.url, timeout=3)).close()

    async def redis() -> None:
        await (await Wire.open(engines.redis.url)).close()

    deadline = time.monotonic() + _READY_WITHIN_S
    for answers in (postgres, redis):
        while True:
            try:
                await answers()
                break
            except (OSError, asyncpg.PostgresError, Unavailable):
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.1)
