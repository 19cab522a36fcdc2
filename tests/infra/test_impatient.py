"""A connection to Redis that nobody waits long for: every answer is that of its own call."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from infra.bus import on_demand
from infra.bus.on_demand import ImpatientWire
from infra.bus.wire import Wire
from infra.settings import Settings
from services.ports import Unavailable


@pytest.fixture
def lost() -> list[Exception]:
    """Why connections were given up."""
    return []


@pytest.fixture
async def wire(
    settings: Settings, lost: list[Exception], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ImpatientWire]:
    monkeypatch.setattr(on_demand, "_REST_S", 0.0)
    monkeypatch.setattr(on_demand, "_PATIENCE_S", 30.0)  # the machine may hold Redis up for a moment
    wire = ImpatientWire(settings.limits_url, lost=lost.append)
    yield wire
    await wire.close()


def echo(text: str) -> Callable[[Wire], Awaitable[bytes]]:
    return lambda wire: wire.call("ECHO", text)


@pytest.mark.parametrize("why", [asyncio.CancelledError, TimeoutError])
async def test_an_answer_that_was_given_up_is_not_taken_for_the_next(
    wire: ImpatientWire, why: type[BaseException]
) -> None:
    async def give_up(connection: Wire) -> None:
        await connection.write([b"*2\r\n$4\r\nECHO\r\n$5\r\nfirst\r\n"])
        raise why

    with pytest.raises((asyncio.CancelledError, Unavailable)):
        await wire.use(give_up)
    assert await wire.use(echo("second")) == b"second"


async def test_those_who_ask_at_once_get_their_own_answers(wire: ImpatientWire) -> None:
    texts = [str(number) for number in range(20)]
    assert await asyncio.gather(*(wire.use(echo(text)) for text in texts)) == [text.encode() for text in texts]


async def test_what_redis_refuses_is_unavailable_and_not_repeated(wire: ImpatientWire, lost: list[Exception]) -> None:
    with pytest.raises(Unavailable) as refused:
        await wire.use(lambda connection: connection.call("NOSUCH", "7H"))
    assert "unknown command" in str(refused.value)
    assert "7H" not in str(refused.value)
    assert len(lost) == 1
    assert await wire.use(echo("again")) == b"again"


async def test_who_was_away_is_left_alone_for_a_while(
    wire: ImpatientWire, lost: list[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_demand, "_REST_S", 60.0)
    for _ in range(3):
        with pytest.raises(Unavailable):
            await wire.use(lambda connection: connection.call("NOSUCH"))
    assert len(lost) == 1
