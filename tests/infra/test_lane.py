"""The lane: appends that go together, and each of them told its own outcome."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime

import asyncpg
import pytest

from domain.events import CardDrawn
from infra.postgres import lane as lane_module
from infra.postgres.database import Database
from infra.postgres.lane import TOGETHER, WAITING, Lane
from infra.postgres.log import PostgresLog
from infra.settings import Settings
from services.ids import new_uuid, uuid_of
from services.ports import Append, KeyUsed, NewEvent, Overloaded, VersionConflict
from tests.appends import append, keyed, new_game
from tests.engines import eventually
from tests.infra.playing import opened_log

_BLOCKED = "SELECT 1 FROM pg_locks WHERE NOT granted"


class Statements:
    """A lane that notes how many appends each of its statements has."""

    def __init__(self, lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: list[int] = []
        plain = lane._statement

        async def noted(batch: list[lane_module._Waiting]) -> object:
            self.sizes.append(len(batch))
            return await plain(batch)

        monkeypatch.setattr(lane, "_statement", noted)


@pytest.fixture
async def lane(settings: Settings) -> AsyncIterator[Lane]:
    lane = Lane(settings.database_url, name="test append")
    yield lane
    await lane.close()


@pytest.fixture
async def log(settings: Settings, lane: Lane) -> AsyncIterator[PostgresLog]:
    database = Database(settings.database_url, size=4, name="test")
    yield PostgresLog(database, lane)
    await database.close()


@asynccontextmanager
async def ahead(outsider: asyncpg.Connection, taken: Append) -> AsyncIterator[None]:
    """Another process writes an event whose version and command `taken` has, and commits when the lane waits for it."""
    transaction = outsider.transaction()
    await transaction.start()
    await outsider.execute(
        """INSERT INTO event (game_id, version, type, schema, actor, ordinal, command_id, payload)
        VALUES ($1, $2, 1, 1, 1, 0, $3, '')""",
        uuid_of("gam", taken.game_id),
        taken.after + 1,
        taken.events[0].command_id,
    )
    yield
    await eventually(lambda: outsider.fetch(_BLOCKED))
    await transaction.commit()


async def all_of(log: PostgresLog, appends: list[Append]) -> list[datetime | BaseException]:
    return await asyncio.gather(*map(log.append, appends), return_exceptions=True)


async def test_what_comes_while_a_statement_is_under_way_goes_together(
    log: PostgresLog, lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = Statements(lane, monkeypatch)
    first = asyncio.create_task(log.append(append(new_game())))
    await eventually(lambda: statements.sizes)
    times = await all_of(log, [append(new_game(), count=3, request=keyed()) for _ in range(TOGETHER + 2)])
    assert statements.sizes == [1, TOGETHER, 2]
    assert len(set(times)) == 2
    await first


async def test_appends_to_one_game_go_one_after_the_other(
    log: PostgresLog, lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = Statements(lane, monkeypatch)
    game, others = new_game(), [new_game() for _ in range(3)]
    await all_of(log, [append(game, 0), append(others[0]), append(game, 1), append(others[1]), append(game, 2)])
    assert statements.sizes == [3, 1, 1]
    assert await log.heads([game, *others]) == {game: 3, others[0]: 1, others[1]: 1}


async def test_whoever_is_stale_is_left_out_whole(log: PostgresLog) -> None:
    games = [new_game() for _ in range(6)]
    await all_of(log, [append(game) for game in games[:4]])
    late, early = append(games[0], 0, count=2), append(games[4], 3, count=2, request=keyed())
    repeated = append(games[1], 1, request=keyed("k1"))
    await log.append(repeated)
    again = append(games[1], 1, count=2, request=keyed("k1"))
    fine = [append(games[2], 1, request=keyed()), append(games[3], 1, count=3), append(games[5])]
    results = await all_of(log, [late, fine[0], early, fine[1], again, fine[2]])
    assert [type(result) for result in results] == [
        VersionConflict, datetime, VersionConflict, datetime, KeyUsed, datetime,
    ]  # fmt: skip
    assert await log.heads(games) == {games[0]: 1, games[1]: 2, games[2]: 2, games[3]: 4, games[5]: 1}
    assert await log.receipt(games[4], "ply_anna", "makeMove", "k1") is None


async def test_who_loses_a_race_takes_nobody_along(log: PostgresLog, outsider: asyncpg.Connection) -> None:
    appends = [append(new_game(), count=2, request=keyed()) for _ in range(5)]
    async with ahead(outsider, appends[3]):
        writing = asyncio.create_task(all_of(log, appends))
    results = await writing
    assert [type(result) for result in results] == [datetime, datetime, datetime, VersionConflict, datetime]
    assert [len(await log.read(one.game_id, 1)) for one in appends] == [1, 1, 1, 0, 1]
    assert await log.receipt(appends[3].game_id, "ply_anna", "makeMove", "k1") is None


async def test_of_twenty_processes_that_race_one_wins_whole(settings: Settings) -> None:
    async with AsyncExitStack() as exits:
        logs = [await exits.enter_async_context(opened_log(settings.database_url)) for _ in range(20)]
        await asyncio.gather(*(log.append(append(new_game())) for log in logs))  # all are connected
        game = new_game()
        for after in range(0, 30, 3):
            racers = [append(game, after, count=3, request=keyed(f"{after} {n}")) for n in range(20)]
            others = [append(new_game()) for _ in racers]
            results = await asyncio.gather(
                *(log.append(one) for log, one in zip(logs, racers, strict=True)),
                *(log.append(one) for log, one in zip(logs, others, strict=True)),
                return_exceptions=True,
            )
            assert [type(result) for result in results[20:]] == [datetime] * 20
            assert sorted(type(result).__name__ for result in results[:20]) == ["VersionConflict"] * 19 + ["datetime"]
            [winner] = [one for one, result in zip(racers, results[:20], strict=True) if isinstance(result, datetime)]
            command = winner.events[0].command_id
            assert [one.command_id for one in await logs[0].read(game, after)] == [command] * 3
            receipts = [await logs[0].receipt(game, "ply_anna", "makeMove", f"{after} {n}") for n in range(20)]
            assert [receipt.command_id for receipt in receipts if receipt] == [command]


async def test_of_twenty_processes_with_one_key_one_writes(settings: Settings) -> None:
    async with AsyncExitStack() as exits:
        logs = [await exits.enter_async_context(opened_log(settings.database_url)) for _ in range(20)]
        await asyncio.gather(*(log.append(append(new_game())) for log in logs))
        game = new_game()
        same = [append(game, 0, count=2, request=keyed()) for _ in logs]
        results = await asyncio.gather(
            *(log.append(one) for log, one in zip(logs, same, strict=True)), return_exceptions=True
        )
        assert sorted(type(result).__name__ for result in results) == ["KeyUsed"] * 19 + ["datetime"]
        assert await logs[0].heads([game]) == {game: 2}


async def test_an_append_that_cannot_be_stored_harms_no_other(log: PostgresLog) -> None:
    good = [append(new_game()) for _ in range(4)]
    too_large = Append(new_game(), 0, (NewEvent(CardDrawn(0, "stock", "7H", 50), "player", 99_999, new_uuid(), 0),))
    not_text = append(new_game(), request=keyed("\x00"))
    results = await all_of(log, [good[0], too_large, good[1], not_text, good[2], good[3]])
    assert [isinstance(result, datetime) for result in results] == [True, False, True, False, True, True]
    assert isinstance(results[1], asyncpg.DataError)
    assert isinstance(results[3], asyncpg.CharacterNotInRepertoireError)
    assert await log.heads([too_large.game_id, not_text.game_id]) == {}


async def test_a_full_queue_refuses_and_forgets_nobody_in_it(
    log: PostgresLog, lane: Lane, outsider: asyncpg.Connection
) -> None:
    first = append(new_game())
    waiting = [append(new_game()) for _ in range(WAITING)]
    async with ahead(outsider, first):
        writing = [asyncio.create_task(log.append(first))]
        await eventually(lambda: outsider.fetch(_BLOCKED))
        writing += [asyncio.create_task(log.append(one)) for one in waiting]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded):
            await log.append(append(new_game()))
    results = await asyncio.gather(*writing, return_exceptions=True)
    assert [type(result) for result in results] == [VersionConflict, *[datetime] * WAITING]
    await log.append(append(new_game()))


async def test_appends_cancelled_at_any_moment_are_whole_or_absent(log: PostgresLog, lane: Lane) -> None:
    luck = random.Random(4)
    appends = [append(new_game(), count=5, request=keyed()) for _ in range(300)]

    async def cancelled(one: Append) -> None:
        await asyncio.sleep(luck.random() * 0.05)
        writing = asyncio.create_task(log.append(one))
        await asyncio.sleep(luck.random() * 0.004)
        writing.cancel()
        await asyncio.wait({writing})

    await asyncio.gather(*map(cancelled, appends))
    await lane.settle()
    heads = await log.heads([one.game_id for one in appends])
    assert set(heads.values()) == {5}
    assert 0 < len(heads) < 300, "some before, some after"
    for one in appends:
        receipt = await log.receipt(one.game_id, "ply_anna", "makeMove", "k1")
        assert (receipt is not None) == (one.game_id in heads)
        assert await log.command_range(one.game_id, one.events[0].command_id) == ((1, 5) if receipt else None)
