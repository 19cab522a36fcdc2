"""One connection to Redis: whatever is lost, or takes too long, is told as one thing."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest

from infra.bus import wire as wire_module
from infra.bus.wire import Wire
from infra.settings import Settings
from services.ports import Unavailable

FOR_EVER = ("BLPOP", "a list that nobody fills", 0)


@pytest.fixture
async def wire(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Wire]:
    wire = await Wire.open(settings.limits_url)
    monkeypatch.setattr(wire_module, "_ANSWER_S", 0.05)
    yield wire
    await wire.close()


@pytest.fixture
def deaf() -> Iterator[socket.socket]:
    """Listens, and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf:
        yield deaf


def url_of(server: socket.socket) -> str:
    return f"redis://127.0.0.1:{server.getsockname()[1]}"


async def test_an_answer_that_does_not_come_is_unavailable(wire: Wire) -> None:
    async with asyncio.timeout(10):
        with pytest.raises(Unavailable, match="TimeoutError"):
            await wire.call(*FOR_EVER)


async def test_an_answer_to_what_was_written_that_does_not_come_is_unavailable(wire: Wire) -> None:
    packed = b"*%d\r\n" % len(FOR_EVER)
    packed += b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in (str(part).encode() for part in FOR_EVER))
    await wire.write([packed])
    async with asyncio.timeout(10):
        with pytest.raises(Unavailable, match="TimeoutError"):
            await wire.answer()


async def test_a_server_that_does_not_answer_the_greeting_is_unavailable(
    deaf: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_module, "_ANSWER_S", 0.05)
    async with asyncio.timeout(10):
        with pytest.raises(Unavailable):
            await Wire.open(url_of(deaf))


async def test_a_server_that_takes_no_connection_is_unavailable(
    deaf: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_module, "_CONNECT_S", 0.05)
    with ExitStack() as crowd:
        for _ in range(4):  # more than it lets wait
            waiting = crowd.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(deaf.getsockname())
        async with asyncio.timeout(10):
            with pytest.raises(Unavailable, match="Timeout"):
                await Wire.open(url_of(deaf))


async def test_a_closed_connection_is_unavailable(wire: Wire) -> None:
    await wire.close()
    with pytest.raises(Unavailable, match="closed"):
        await wire.call("PING")
