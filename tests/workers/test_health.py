"""What each process tells of itself on its own port, and how that follows what becomes of its engines."""

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack

import httpx
import pytest
from msgspec.structs import replace

from infra.embedded.engines import short_folder
from infra.embedded.ports import free_port
from infra.embedded.valkey import start_redis
from infra.settings import Settings
from tests.engines import eventually, with_redis
from tests.processes import server
from workers.clock import clock
from workers.projector import projector
from workers.relay import relay

pytestmark = pytest.mark.xdist_group("processes")

LEADERS: dict[str, Callable[[Settings], Coroutine[None, None, None]]] = {
    "relay": relay,
    "clock": clock,
    "projector": projector,
}


@pytest.fixture
def exits() -> Iterator[ExitStack]:
    with ExitStack() as exits:
        yield exits


def with_port(settings: Settings) -> tuple[Settings, str]:
    """Gives the settings of a process with a port of its own, and the port's address."""
    own = replace(settings, metrics_port=free_port())
    return own, f"http://127.0.0.1:{own.metrics_port}"


async def is_told(url: str, path: str, **facts: object) -> bool:
    """Tells whether the port says so, at least."""
    try:
        async with httpx.AsyncClient() as client:
            told = (await client.get(url + path)).json()
    except httpx.TransportError:
        return False
    return all(told.get(name) == value for name, value in facts.items())


@pytest.mark.parametrize("process", LEADERS)
async def test_one_leads_another_stands_by_and_takes_over(settings: Settings, process: str) -> None:
    (first, url), (second, other) = with_port(settings), with_port(settings)
    leader = asyncio.create_task(LEADERS[process](first))
    await eventually(lambda: is_told(url, "/health/ready", status="ok", process=process, role="leads"))
    standby = asyncio.create_task(LEADERS[process](second))
    await eventually(lambda: is_told(other, "/health/ready", status="ok", role="stands_by"))
    leader.cancel()
    await eventually(lambda: is_told(other, "/health/ready", status="ok", role="leads"))
    standby.cancel()
    await asyncio.wait({leader, standby})


async def test_a_worker_without_its_broker_lives_and_is_not_ready(exits: ExitStack, settings: Settings) -> None:
    with short_folder() as run:
        redis = start_redis(run / "redis", run)
        exits.callback(redis.stop)
        own, url = with_port(with_redis(settings, redis.url))
        exits.enter_context(server("workers", own))
        await eventually(lambda: is_told(url, "/health/ready", status="ok", process="worker", role="works"))
        redis.stop()
        await eventually(lambda: is_told(url, "/health/ready", status="unavailable", role=None))
        assert await is_told(url, "/health/live", status="ok")


@pytest.mark.parametrize("module", ["api", "workers", "workers.relay"])
def test_a_process_that_cannot_have_its_port_says_so_and_ends(
    settings: Settings, module: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with server(module, replace(settings, metrics_port=port)) as process:
            assert process.wait(30) == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in capfd.readouterr().err
