"""The courier: each webhook in its turn, many at once, none twice at once, the slow ones apart."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services import courier as courier_module
from services.courier import SLOW_FOR_S, SOON_S, Courier
from services.ports import Unavailable
from tests.api.world import until


class Visits:
    """What is visited: `more` says how often there is more, `doors` are closed ones, before which a visit waits.

    lasts_s: what a visit takes by `time`, the courier's clock. A webhook is its first letter's, the player.
    """

    def __init__(self) -> None:
        self.time = 0.0
        self.lasts_s: dict[str, float] = {}
        self.more: Counter[str] = Counter()
        self.doors: dict[str, asyncio.Event] = {}
        self.errors: dict[str, Exception] = {}
        self.began: list[str] = []
        self.inside: Counter[str] = Counter()
        self.most = 0

    async def __call__(self, webhook_id: str) -> str | None:
        self.began.append(webhook_id)
        self.inside[webhook_id] += 1
        self.most = max(self.most, self.inside.total())
        assert self.inside[webhook_id] == 1
        try:
            if door := self.doors.get(webhook_id):
                await door.wait()
            if error := self.errors.get(webhook_id):
                raise error
            self.time += self.lasts_s.get(webhook_id, 0.0)
            self.more[webhook_id] -= 1
            return webhook_id[0] if self.more[webhook_id] >= 0 else None
        finally:
            self.inside[webhook_id] -= 1


@asynccontextmanager
async def running(visits: Visits, at_once: int = 128) -> AsyncIterator[Courier]:
    courier = Courier(visits, at_once=at_once, clock=lambda: visits.time)
    task = asyncio.create_task(courier.run())
    try:
        yield courier
    finally:
        task.cancel()
        await asyncio.wait({task})


async def visited(visits: Visits, courier: Courier, *webhook_ids: str) -> None:
    """Has something sent to each of them."""
    for webhook_id in webhook_ids:
        visits.more[webhook_id] = 1
        courier.take(webhook_id)
    await until(lambda: len(visits.began) == 2 * len(webhook_ids) and not visits.inside.total())
    visits.began.clear()
    visits.more.clear()


async def test_who_is_slow_holds_up_nobody_else() -> None:
    visits = Visits()
    visits.doors["slow"] = asyncio.Event()
    async with running(visits) as courier:
        for webhook_id in ("slow", "a", "b"):
            courier.take(webhook_id)
        await until(lambda: visits.began == ["slow", "a", "b"] and visits.inside.total() == 1)


async def test_one_that_has_more_waits_for_its_turn_again() -> None:
    visits = Visits()
    async with running(visits, at_once=1) as courier:
        await visited(visits, courier, "a", "b", "c")
        visits.more.update({"a": 2, "b": 1})
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


async def test_however_many_are_slow_who_is_known_as_prompt_waits_for_none_of_them() -> None:
    visits = Visits()
    async with running(visits, at_once=2) as courier:
        await visited(visits, courier, "anna", "boris")
        for number in range(10):
            visits.doors[str(number)] = asyncio.Event()
            courier.take(str(number))
        await until(lambda: visits.began == ["0", "1"])
        courier.take("anna")
        courier.take("boris")
        await until(lambda: visits.began == ["0", "1", "anna", "boris"] and visits.inside.total() == 2)


async def test_who_was_slow_goes_with_the_slow_for_a_while_whichever_webhook_it_is() -> None:
    visits = Visits()
    async with running(visits, at_once=1) as courier:
        visits.lasts_s["b1"] = SOON_S + 0.1
        await visited(visits, courier, "anna", "b1")
        await visited(visits, courier, "b2")  # known as the one of a slow player by now
        visits.doors["0"] = asyncio.Event()
        courier.take("0")
        await until(lambda: visits.began == ["0"])
        for webhook_id in ("b1", "b2", "anna"):
            courier.take(webhook_id)
        await until(lambda: visits.began == ["0", "anna"] and visits.inside.total() == 1)
        visits.doors["0"].set()
        await until(lambda: visits.began == ["0", "anna", "b1", "b2"] and not visits.inside.total())
        visits.time += SLOW_FOR_S
        visits.doors["0"].clear()
        courier.take("0")
        courier.take("b2")
        await until(lambda: sorted(visits.began[4:]) == ["0", "b2"] and visits.inside.total() == 1)


async def test_one_whose_player_turns_slow_during_its_visit_is_not_visited_twice_at_once() -> None:
    visits = Visits()
    visits.lasts_s["b2"] = SOON_S + 0.1
    async with running(visits) as courier:
        await visited(visits, courier, "b1")
        door = visits.doors["b1"] = asyncio.Event()
        courier.take("b1")
        await until(lambda: visits.began == ["b1"])
        visits.more["b2"] = 1
        courier.take("b2")
        await until(lambda: visits.began == ["b1", "b2", "b2"] and visits.inside.total() == 1)
        courier.take("b1")  # with the slow by now
        courier.take("a")
        await until(lambda: visits.began == ["b1", "b2", "b2", "a"])
        door.set()
        await until(lambda: visits.began == ["b1", "b2", "b2", "a", "b1"] and not visits.inside.total())


async def test_one_that_waits_and_whose_player_turns_slow_does_not_wait_twice() -> None:
    visits = Visits()
    visits.lasts_s["b2"] = SOON_S + 0.1
    async with running(visits, at_once=1) as courier:
        await visited(visits, courier, "anna", "b1")
        visits.doors["anna"] = asyncio.Event()
        courier.take("anna")
        await until(lambda: visits.began == ["anna"])
        courier.take("b1")  # after Anna's
        visits.more["b2"] = 1
        courier.take("b2")
        await until(lambda: visits.began == ["anna", "b2", "b2"] and visits.inside.total() == 1)
        courier.take("b1")
        visits.doors["anna"].set()
        courier.take("last")
        await until(lambda: sorted(visits.began) == ["anna", "b1", "b2", "b2", "last"] and not visits.inside.total())


async def test_so_many_are_known_and_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courier_module, "KNOWN", 2)
    visits = Visits()
    async with running(visits, at_once=1) as courier:
        for webhook_id in ("anna", "boris", "anna", "clara"):
            await visited(visits, courier, webhook_id)
        visits.doors["0"] = asyncio.Event()
        for webhook_id in ("0", "anna", "boris", "clara"):
            courier.take(webhook_id)
        await until(lambda: sorted(visits.began) == ["0", "anna", "clara"] and visits.inside.total() == 1)


async def test_so_many_wait_and_what_is_above_is_left_to_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courier_module, "WAITING", 2)
    visits = Visits()
    async with running(visits, at_once=1) as courier:
        door = visits.doors["first"] = asyncio.Event()
        courier.take("first")
        await until(lambda: visits.began == ["first"])
        for webhook_id in ("a", "b", "above"):
            courier.take(webhook_id)
        door.set()
        await until(lambda: visits.began == ["first", "a", "b"] and not visits.inside.total())
        courier.take("above")
        await until(lambda: visits.began == ["first", "a", "b", "above"])


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
