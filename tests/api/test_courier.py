"""The courier: each webhook in its turn, many at once, none twice at once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.courier import Courier
from services.ports import Unavailable
from tests.api.world import until


class Visits:
    """What is visited: `more` says how often there is more, `doors` are closed ones, before which a visit waits."""

    def __init__(self) -> None:
        self.more: Counter[str] = Counter()
        self.doors: dict[str, asyncio.Event] = {}
        self.errors: dict[str, Exception] = {}
        self.began: list[str] = []
        self.inside: Counter[str] = Counter()
        self.most = 0

    async def __call__(self, webhook_id: str) -> bool:
        self.began.append(webhook_id)
        self.inside[webhook_id] += 1
        self.most = max(self.most, self.inside.total())
        assert self.inside[webhook_id] == 1
        try:
            if door := self.doors.get(webhook_id):
                await door.wait()
            if error := self.errors.get(webhook_id):
                raise error
            self.more[webhook_id] -= 1
            return self.more[webhook_id] >= 0
        finally:
            self.inside[webhook_id] -= 1


@asynccontextmanager
async def running(visits: Visits, at_once: int = 128) -> AsyncIterator[Courier]:
    courier = Courier(visits, at_once=at_once)
    task = asyncio.create_task(courier.run())
    try:
        yield courier
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_who_is_slow_holds_up_nobody_else() -> None:
    visits = Visits()
    visits.doors["slow"] = asyncio.Event()
    async with running(visits) as courier:
        for webhook_id in ("slow", "a", "b"):
            courier.take(webhook_id)
        await until(lambda: visits.began == ["slow", "a", "b"] and visits.inside.total() == 1)


async def test_one_that_has_more_waits_for_its_turn_again() -> None:
    visits = Visits()
    visits.more.update({"a": 2, "b": 1})
    async with running(visits, at_once=1) as courier:
        for webhook_id in ("a", "b", "c"):
            courier.take(webhook_id)
        await until(lambda: visits.began == ["a", "b", "c", "a", "b", "a"])


async def test_one_that_is_named_during_its_visit_is_visited_again_and_never_twice_at_once() -> None:
    visits = Visits()
    door = visits.doors["a"] = asyncio.Event()
    async with running(visits) as courier:
        courier.take("a")
        await until(lambda: visits.began == ["a"])
        courier.take("a")
        courier.take("a")
        door.set()
        await until(lambda: visits.began == ["a", "a"] and visits.inside.total() == 0)


async def test_so_many_are_visited_at_once() -> None:
    visits = Visits()
    door = asyncio.Event()
    async with running(visits, at_once=3) as courier:
        for number in range(10):
            visits.doors[str(number)] = door
            courier.take(str(number))
        await until(lambda: visits.inside.total() == 3)
        door.set()
        await until(lambda: len(visits.began) == 10)
    assert visits.most == 3


@pytest.mark.parametrize("error", [Unavailable("away"), ValueError("7H")])
async def test_a_visit_that_fails_ends_alone_and_tells_nothing(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    visits = Visits()
    visits.errors["a"] = error
    async with running(visits) as courier:
        courier.take("a")
        courier.take("b")
        await until(lambda: visits.began == ["a", "b"])
        del visits.errors["a"]
        courier.take("a")
        await until(lambda: visits.began == ["a", "b", "a"])
    assert "7H" not in caplog.text
