"""The roof's processes, each started by itself."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

import httpx

from infra.settings import Settings, environment

ENOUGH = {
    "SHANGHAI_DATABASE_URL": "postgresql://anna:hidden@db/shanghai",
    "SHANGHAI_REDIS_URL": "rediss://anna:hidden@bus:6380/0",
    "SHANGHAI_SECRET_KEY": "0f" * 32,
}
"""The fewest variables with which a process starts."""

Process: TypeAlias = "subprocess.Popen[bytes]"


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
