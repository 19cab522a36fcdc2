"""The primary is lost with its disk while many write: what a synchronous standby has acknowledged too is there."""

import asyncio
from collections.abc import Iterator
from functools import partial

import pytest

from infra.postgres import lane as lane_module
from infra.postgres.log import PostgresLog
from services.ids import uuid_of
from services.ports import Append, KeyUsed, Unavailable
from tests.appends import append, keyed, new_game
from tests.engines import eventually
from tests.infra.playing import opened_log
from tests.standby import Pair, ask, pair, standing_by

__all__ = ["standing_by"]

GAMES = 30
BEFORE = 2 * GAMES  # moves before the blow
PATIENCE_S = 0.3  # instead of seven seconds


@pytest.fixture
def following() -> Iterator[Pair]:
    with pair(is_synchronous=False) as both:
        yield both


async def test_no_acknowledged_move_is_lost_with_the_primary(standing_by: Pair) -> None:
    moves: list[Append] = []
    is_over = asyncio.Event()
    async with opened_log(standing_by.url) as log:
        playing = [asyncio.create_task(_play(log, moves, is_over)) for _ in range(GAMES)]
        await eventually(lambda: len(moves) > BEFORE)
        await asyncio.to_thread(standing_by.lose_primary)
        before = len(moves)
        await asyncio.to_thread(standing_by.promote)
        await eventually(lambda: len(moves) > before + GAMES)
        is_over.set()
        await asyncio.gather(*playing)
        assert await _missing(log, moves) == []


async def test_a_move_that_the_standby_has_not_heard_of_is_neither_acknowledged_nor_shown(
    standing_by: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane_module, "ANSWER_S", PATIENCE_S)
    monkeypatch.setattr(lane_module, "_SENT_AGAIN_S", PATIENCE_S)
    monkeypatch.setitem(lane_module._SETTINGS, "lock_timeout", "200ms")
    unheard, game = append(new_game(), request=keyed()), new_game()
    async with opened_log(standing_by.url) as log:
        await log.append(append(game))
        standing_by.part()
        with pytest.raises(Unavailable):
            await log.append(unheard)
        monkeypatch.setattr(lane_module, "ANSWER_S", 7.0)  # what follows is refused by the server's own word
        for move in (unheard, append(game, 1)):  # neither takes up a further session
            with pytest.raises(Unavailable, match="standby"):
                await log.append(move)
        async with opened_log(standing_by.url) as of_another_process:
            with pytest.raises(Unavailable, match="lock timeout"):
                await of_another_process.append(unheard)
        assert await log.read(unheard.game_id) == []
        standing_by.reunite()
        await eventually(lambda: log.read(unheard.game_id))
        with pytest.raises(KeyUsed):
            await log.append(unheard)


async def test_without_synchronous_replication_an_acknowledged_move_can_be_lost(following: Pair) -> None:
    """Why nothing of the kind is promised without it."""
    heard, unheard = append(new_game()), append(new_game())
    async with opened_log(following.url) as log:
        await log.append(heard)
        await eventually(lambda: asyncio.to_thread(_has_come, following, heard))
        following.part()
        await log.append(unheard)
        following.lose_primary()
        following.promote()
        assert await _missing(log, [heard, unheard]) == [unheard]


async def _play(log: PostgresLog, moves: list[Append], is_over: asyncio.Event) -> None:
    """Moves in a game of its own, each move until it is acknowledged; `moves` are those."""
    game = new_game()
    for number in range(100_000):
        move = append(game, number, request=keyed(f"k{number}"))
        await eventually(partial(_is_acknowledged, log, move))
        moves.append(move)
        if is_over.is_set():
            return


async def _is_acknowledged(log: PostgresLog, move: Append) -> bool:
    try:
        await log.append(move)
    except KeyUsed:
        return True  # an earlier sending has reached the log
    except Unavailable:
        return False
    return True


async def _missing(log: PostgresLog, moves: list[Append]) -> list[Append]:
    stored = {
        (game, event.version): event.command_id
        for game in {move.game_id for move in moves}
        for event in await log.read(game)
    }
    return [move for move in moves if stored.get((move.game_id, move.after + 1)) != move.events[0].command_id]


def _has_come(both: Pair, move: Append) -> bool:
    return ask(both.standby.url, f"SELECT count(*) FROM event WHERE game_id = '{uuid_of('gam', move.game_id)}'") == "1"
