"""One reader follows the log for all streams of people: who is told of what, and what one stream may keep waiting."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack

import pytest

from domain.events import SeatChanged
from services import following
from services.following import Following
from services.order import Mark, Place
from services.ports import Unavailable
from services.relay import Position
from tests.api.world import until


class Order:
    """The order of a log that a test writes. ends: what it says first of its end; calls: how often it was read on."""

    def __init__(self) -> None:
        self.generation = "one"
        self.marks: list[Mark] = []
        self.ends: list[Position] = []
        self.is_away = False
        self.calls = 0

    def happens(self, *games: str, event: SeatChanged | None = None) -> None:
        for game_id in games:
            self.marks.append(Mark((len(self.marks) + 1, 0), game_id, len(self.marks) + 1, event))

    async def end(self) -> Place:
        await asyncio.sleep(0)
        return Place(self.generation, self.ends.pop(0) if self.ends else (len(self.marks), 0))

    async def after(self, position: Position, limit: int) -> list[Mark]:
        self.calls += 1
        if self.is_away:
            raise Unavailable("away")
        return self.marks[position[0] :][:limit]

    async def missed(self, game_ids: Sequence[str], position: Position, limit: int) -> list[Mark]:
        raise NotImplementedError

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        raise NotImplementedError


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> Order:
    for name in ("_PAUSE_S", "_RETRY_S"):
        monkeypatch.setattr(following, name, 0)
    return Order()


@pytest.fixture
async def running(order: Order) -> AsyncIterator[Following]:
    those = Following(order)
    task = asyncio.create_task(those.run())
    yield those
    task.cancel()
    await asyncio.wait({task})


def games_in(own: following.Subscription) -> list[str]:
    return [mark.game_id for mark in own.pending]


async def test_a_game_is_told_until_it_is_dropped(order: Order, running: Following) -> None:
    async with running.subscribed("ply_anna") as own:
        own.add(["gam_a", "gam_b"])
        order.happens("gam_a", "gam_b", "gam_c")
        running.poke()
        await until(lambda: games_in(own) == ["gam_a", "gam_b"])
        own.drop("gam_a")
        order.happens("gam_a", "gam_b")
        running.poke()
        await until(lambda: running.position == (5, 0))
        assert games_in(own) == ["gam_a", "gam_b", "gam_b"]
        assert own.game_ids == set(running.by_game) == {"gam_b"}
    assert not running.by_game


async def test_a_game_that_becomes_ones_own_again_is_not_dropped(order: Order, running: Following) -> None:
    async with running.subscribed("ply_anna") as own:
        order.happens("gam_a", event=SeatChanged(0, "human", "ply_anna", None, "reclaimed"))
        running.poke()
        await until(lambda: games_in(own) == ["gam_a"])
        own.drop("gam_a")
        order.happens("gam_a")
        running.poke()
        await until(lambda: games_in(own) == ["gam_a", "gam_a"])


async def test_of_more_than_can_be_kept_nothing_is(
    order: Order, running: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "MARKS_AT_MOST", 3)
    async with running.subscribed("ply_anna") as own:
        own.add(["gam_a"])
        order.happens(*["gam_a"] * 3)
        running.poke()
        await until(lambda: len(own.pending) == 3)
        assert not own.is_lost
        own.news.clear()
        order.happens("gam_a")
        running.poke()
        await until(lambda: running.position == (4, 0))
        assert (own.is_lost, own.news.is_set(), games_in(own)) == (True, True, [])


async def test_who_comes_at_the_same_time_makes_nobody_miss_anything(order: Order) -> None:
    both = Following(order)
    order.ends = [(0, 0), (1, 0)]
    order.happens("gam_a")
    async with AsyncExitStack() as opened:
        coming = (opened.enter_async_context(both.subscribed(player)) for player in ("ply_anna", "ply_boris"))
        own, _ = await asyncio.gather(*coming)
        own.add(["gam_a"])
        task = asyncio.create_task(both.run())
        await until(lambda: games_in(own) == ["gam_a"])
    task.cancel()
    await asyncio.wait({task})


async def test_while_nobody_listens_nothing_is_read_and_who_comes_then_begins_at_the_end(
    order: Order, running: Following
) -> None:
    async with running.subscribed("ply_anna"):
        await until(lambda: order.calls > 0)
    running.poke()
    await until(lambda: running.position is None)
    order.happens("gam_a", "gam_a")
    calls = order.calls
    async with running.subscribed("ply_anna") as own:
        own.add(["gam_a"])
        order.happens("gam_a")
        running.poke()
        await until(lambda: running.position == (3, 0))
        assert [mark.version for mark in own.pending] == [3]
    assert order.calls <= calls + 3


async def test_without_a_poke_the_log_is_left_alone_for_a_while(order: Order, running: Following) -> None:
    async with running.subscribed("ply_anna"):
        running.poke()
        await until(lambda: order.calls > 0)
        for _ in range(200):
            await asyncio.sleep(0)
        assert order.calls <= 3


async def test_a_log_that_was_away_is_read_on_where_it_was_left(order: Order, running: Following) -> None:
    async with running.subscribed("ply_anna") as own:
        own.add(["gam_a"])
        await until(lambda: order.calls > 0)
        order.is_away = True
        order.happens("gam_a")
        running.poke()
        calls = order.calls
        await until(lambda: order.calls > calls + 2)
        assert not own.is_lost
        order.is_away = False
        await until(lambda: games_in(own) == ["gam_a"])


async def test_every_stream_ends_where_the_log_is_another_one(order: Order, running: Following) -> None:
    async with running.subscribed("ply_anna") as own, running.subscribed("ply_boris") as other:
        await until(lambda: order.calls > 0)
        order.is_away, order.generation = True, "two"
        running.poke()
        await until(lambda: own.is_lost and other.is_lost)
        assert own.news.is_set()
        assert other.news.is_set()


async def test_more_than_one_batch_is_read_at_once(
    order: Order, running: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "_BATCH", 2)
    monkeypatch.setattr(following, "RECHECK_S", 60)
    async with running.subscribed("ply_anna") as own:
        own.add(["gam_a"])
        await until(lambda: order.calls > 0)
        order.happens(*["gam_a"] * 5)
        running.poke()
        await until(lambda: len(own.pending) == 5)
