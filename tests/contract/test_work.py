"""The work rows: what is due, and what has been overtaken."""

from datetime import UTC, datetime, timedelta

from services.ports import DueWork, Work, WorkList
from tests.appends import append, new_game
from tests.contract.conftest import World

HOUR_MS = 3_600_000


async def due_at(work: WorkList, game: str) -> list[DueWork]:
    return [due for due in await work.due(1_000) if due.game_id == game]


async def test_work_is_due_when_its_delay_is_over(world: World) -> None:
    now, later = new_game(), new_game()
    await world.log.append(append(now, count=3, work=Work("bots", 0)))
    await world.log.append(append(later, work=Work("bots", HOUR_MS)))
    assert await due_at(world.work, now) == [DueWork(now, 3, "bots")]
    assert await due_at(world.work, later) == []


async def test_the_delay_counts_from_a_given_time(world: World) -> None:
    over, running = new_game(), new_game()
    an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
    await world.log.append(append(over, work=Work("close_claims", HOUR_MS - 1_000, an_hour_ago)))
    await world.log.append(append(running, work=Work("turn_timer", HOUR_MS + 60_000, an_hour_ago)))
    assert await due_at(world.work, over) == [DueWork(over, 1, "close_claims")]
    assert await due_at(world.work, running) == []


async def test_only_a_games_newest_row_counts(world: World) -> None:
    game = new_game()
    await world.log.append(append(game, 0, work=Work("bots", 0)))
    await world.log.append(append(game, 1, work=Work("turn_timer", HOUR_MS)))
    assert await due_at(world.work, game) == []
    await world.log.append(append(game, 2, work=Work("score", 0)))
    assert await due_at(world.work, game) == [DueWork(game, 3, "score")]


async def test_an_append_without_work_overtakes_too(world: World) -> None:
    game = new_game()
    await world.log.append(append(game, 0, work=Work("bots", 0)))
    await world.log.append(append(game, 1, work=None))
    assert await due_at(world.work, game) == []
    await world.work.forget_overtaken(1_000)
    assert await due_at(world.work, game) == []


async def test_the_longest_overdue_comes_first(world: World) -> None:
    now, games = datetime.now(UTC), [new_game() for _ in range(3)]
    for days, game in zip((8_001, 8_003, 8_002), games, strict=True):
        await world.log.append(append(game, work=Work("deal", 0, now - timedelta(days=days))))
    assert [due.game_id for due in await world.work.due(2)] == [games[1], games[2]]


async def test_overtaken_rows_are_forgotten_in_batches(world: World) -> None:
    game = new_game()
    while await world.work.forget_overtaken(1_000):
        """Clears what other tests have left."""
    for after in range(6):
        await world.log.append(append(game, after, work=Work("bots", 0)))
    assert [await world.work.forget_overtaken(3) for _ in range(3)] == [3, 2, 0]
    assert await due_at(world.work, game) == [DueWork(game, 6, "bots")]


async def test_a_finished_game_leaves_no_row(world: World) -> None:
    game = new_game()
    while await world.work.forget_overtaken(1_000):
        """Clears what other tests have left."""
    await world.log.append(append(game, 0, work=Work("bots", 0)))
    await world.log.append(append(game, 1, work=None))
    assert [await world.work.forget_overtaken(10) for _ in range(3)] == [1, 1, 0]
