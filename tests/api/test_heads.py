"""How far games have come: asked for many at once, and nobody who gives up holds up the others."""

import asyncio
from collections.abc import Sequence

import pytest

from services.heads import Heads
from services.memory import MemoryLog
from services.ports import Unavailable
from tests.appends import append, new_game


class Log(MemoryLog):
    """Answers when the door is open. asked: the games of each question."""

    def __init__(self) -> None:
        super().__init__()
        self.door = asyncio.Event()
        self.asked: list[set[str]] = []
        self.error: Exception | None = None

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        self.asked.append(set(game_ids))
        assert len(self.asked[-1]) == len(game_ids)
        await self.door.wait()
        if self.error is not None:
            raise self.error
        return await super().heads(game_ids)


async def test_who_asks_while_a_question_is_under_way_goes_into_the_next_one_with_all_others() -> None:
    log, games = Log(), [new_game() for _ in range(3)]
    for count, game in enumerate(games, start=1):
        await log.append(append(game, count=count))
    heads, unknown = Heads(log), new_game()
    first = heads.head(games[0])
    await _a_moment()
    await log.append(append(games[0], 1))
    later = [heads.head(game) for game in (*games, *games, unknown)]
    await _a_moment()
    assert log.asked == [{games[0]}]
    log.door.set()
    assert await first >= 1
    assert await asyncio.gather(*later) == [2, 2, 3, 2, 2, 3, 0]
    assert log.asked == [{games[0]}, {*games, unknown}]


@pytest.mark.parametrize("error", [None, Unavailable("away"), ValueError("odd")])
async def test_who_has_given_up_holds_up_nobody(error: Exception | None) -> None:
    log, game = Log(), new_game()
    await log.append(append(game))
    heads, log.error = Heads(log), error
    gone, *still = [heads.head(game) for _ in range(3)]
    await _a_moment()
    gone.cancel()
    log.door.set()
    async with asyncio.timeout(5):
        assert await asyncio.gather(*still, return_exceptions=True) == [error or 1] * 2
        log.error = None
        assert await heads.head(game) == 1


async def _a_moment() -> None:
    """Lets everything run that can."""
    for _ in range(5):
        await asyncio.sleep(0)
