"""Thousands of streams from one address: few are opened, the rest refused, everybody else served, and nothing stays."""

import asyncio
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.api.listening import guests
from tests.api.raw import RawClient, assert_others_are_served, raw_client, token_of
from tests.api.world import Player
from tests.engines import eventually

STREAMS, ALLOWED = 2_000, 20
DESCRIPTORS = 2 * STREAMS
KIB = 40  # of memory for a connection that was refused and still lies there; one takes about 16


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """Lets this process, and the one that it starts, have so many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, max(hard, DESCRIPTORS)))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
async def server(many_descriptors: None) -> AsyncIterator[tuple[int, str]]:
    """Is a server of its own that allows few streams to an address: its process and its URL."""
    command = [sys.executable, "-m", "tests.api.serve", str(ALLOWED)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield process.pid, (await process.stdout.readline()).decode().strip()
    finally:
        process.terminate()
        await process.wait()


@pytest.fixture
async def anna(server: tuple[int, str]) -> AsyncIterator[Player]:
    async with guests(server[1], "Anna") as [anna]:
        yield anna


async def test_one_address_may_open_no_more_streams_than_it_may_and_others_still_can(
    server: tuple[int, str], anna: Player
) -> None:
    pid, base_url = server
    game_id = (await anna.open_game())["game_id"]
    lines = f"GET /v1/games/{game_id}/stream HTTP/1.1", "Host: x", token_of(anna)
    connections, memory_kib = descriptors(pid), resident_kib(pid)
    async with asyncio.TaskGroup() as group:
        have_asked, may_go = asyncio.Barrier(STREAMS + 1), asyncio.Event()
        asking = [group.create_task(asked(base_url, lines, have_asked, may_go)) for _ in range(STREAMS)]
        async with asyncio.timeout(60):
            await have_asked.wait()
        assert resident_kib(pid) - memory_kib < STREAMS * KIB
        await assert_others_are_served(base_url)
        async with raw_client(base_url, address="127.0.0.2") as other:
            assert await status_of(other, lines) == 200
        may_go.set()
    statuses = [task.result() for task in asking]
    assert (statuses.count(200), statuses.count(429)) == (ALLOWED, STREAMS - ALLOWED)

    async def all_are_gone() -> bool:
        return descriptors(pid) <= connections

    await eventually(all_are_gone)
    async with raw_client(base_url) as again:
        assert await status_of(again, lines) == 200


async def asked(base_url: str, lines: tuple[str, ...], have_asked: asyncio.Barrier, may_go: asyncio.Event) -> int:
    """Asks for a stream and holds the connection until everybody was answered; gives the status."""
    async with raw_client(base_url) as client:
        status = await status_of(client, lines)
        await have_asked.wait()
        await may_go.wait()
        return status


async def status_of(client: RawClient, lines: tuple[str, ...]) -> int:
    client.send(*lines)
    return int((await client.reader.readline())[9:12])


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def resident_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])
