"""The games in memory: as many as fit, never less than the log has."""

import asyncio
import gc
import tracemalloc
from collections.abc import Iterator, Sequence
from itertools import chain
from random import Random

import pytest

from domain.commands import DealRound, LeaveSeat, Pace, SeatPlan, StartGame, TakeSeat
from domain.evolve import fold
from domain.luck import link
from domain.presets import preset
from domain.refusals import Refused
from services.codec import decode_event, encode_event
from services.games import NewGame, open_game
from services.hot import EVENT_BYTES, GAME_BYTES, Hot
from services.ids import new_uuid
from services.memory import utc_now
from services.outcomes import Denied, GameNotFound
from services.ports import Principal, Recorded, Unavailable
from services.tables import Draft, Tables
from tests.appends import keyed, new_game
from tests.contract.conftest import World
from tests.contract.lists import new_player
from tests.contract.tables import SEED, opened
from tests.domain.games import at_random, whole_game
from tests.engines import eventually

ROOM_FOR_THREE = 3 * (GAME_BYTES + 9 * EVENT_BYTES)  # of those that `opened` makes


def _deal(draft: Draft) -> None:
    draft.carry_out(StartGame(), "player", new_uuid())
    draft.carry_out(DealRound(1, link(SEED, 1).hex()), "table", new_uuid())


async def test_what_was_appended_is_known_without_reading(world: World) -> None:
    tables = Tables(world.log)
    game_id = await opened(tables)
    outcome = await tables.carry_out(game_id, _deal)
    hot = tables.in_memory(game_id)
    recorded = await world.log.read(game_id)
    assert hot.events == recorded
    assert hot.state == fold(one.event for one in recorded)
    assert outcome.first == 6


async def test_a_feed_that_tells_an_append_before_its_writer_knows_doubles_nothing(world: World) -> None:
    """All of it, a part of it, or what comes after it, too."""
    game_id = await opened(Tables(world.log))
    await Tables(world.log).carry_out(game_id, _deal)
    told = await world.log.read(game_id)
    whole = fold(one.event for one in told)
    for early in range(len(told) + 1):
        hot = Hot()
        hot.record(told[:early])
        hot.record(told[2:], whole)
        assert (hot.events, hot.state) == ((told, whole) if early >= 2 else (told[:early], hot.state))
        hot.record(told)
        assert (hot.events, hot.state) == (told, whole)
    late = Hot()
    late.record(told)
    late.record(told[:3], fold(one.event for one in told[:3]))
    assert (late.events, late.state) == (told, whole)


async def test_a_feed_that_leaves_a_gap_is_not_believed(world: World) -> None:
    tables, others = Tables(world.log), Tables(world.log)
    game_id = await opened(others)
    await tables.fresh(game_id)
    await others.carry_out(game_id, _deal)
    told = await world.log.read(game_id)
    for recorded in told[6:]:
        tables.offer(recorded)
    assert tables.in_memory(game_id).version == 5
    assert (await tables.fresh(game_id)).events == told


async def test_a_game_that_is_not_there_takes_no_memory(world: World) -> None:
    tables, requested = Tables(world.log), new_game()
    with pytest.raises(GameNotFound):
        await tables.fresh(requested)
    assert tables.in_use == (0, 0)
    with pytest.raises(Refused):
        await tables.carry_out(requested, _deal)
    assert tables.in_use == (0, 0)


async def test_the_last_used_games_stay_in_memory(world: World) -> None:
    tables = Tables(world.log, memory_bytes=ROOM_FOR_THREE)
    first, *others = [await opened(tables) for _ in range(3)]
    await tables.fresh(first)
    newest = await opened(tables)
    assert [*tables._hot] == [others[1], first, newest]
    assert (await tables.fresh(others[0])).version == 5
    assert [*tables._hot] == [first, newest, others[0]]
    assert tables._used_bytes == sum(hot.size for hot in tables._hot.values()) <= ROOM_FOR_THREE


async def test_a_game_that_is_larger_than_all_memory_is_played(world: World) -> None:
    tables = Tables(world.log, memory_bytes=1)
    small, large = await opened(tables), await opened(tables)
    await tables.carry_out(large, _deal)
    assert [*tables._hot] == [large]
    assert (await tables.fresh(small)).version == 5
    assert [*tables._hot] == [small]


async def test_a_game_with_a_command_under_way_stays(world: World) -> None:
    """Also at the moment at which one has ended and the next one, which has waited for it, has not begun."""
    tables = Tables(world.log, memory_bytes=ROOM_FOR_THREE)
    other = await opened(Tables(world.log))
    told = await world.log.read(other)
    busy = await opened(tables)
    async with tables.in_memory(busy).lock:
        command = asyncio.create_task(tables.carry_out(busy, _deal))
        await asyncio.sleep(0)  # it waits
        for _ in range(5):
            await opened(tables)
        assert busy in tables._hot
        assert len(tables._hot) == 3
    tables.in_memory(other)
    for recorded in told:
        tables.offer(recorded)
    assert busy in tables._hot
    outcome = await command
    assert tables.in_memory(busy).version >= outcome.last
    for _ in range(3):
        await opened(tables)
    assert busy not in tables._hot


async def test_that_there_is_nothing_to_do_is_said_of_the_game_as_it_is(world: World) -> None:
    tables, others = Tables(world.log), Tables(world.log)
    game_id = await opened(others)
    await tables.fresh(game_id)
    await others.carry_out(game_id, lambda draft: draft.carry_out(LeaveSeat(0), "player", new_uuid()))
    sitting_down = TakeSeat(0, "ply_0")
    outcome = await tables.carry_out(game_id, lambda draft: draft.carry_out(sitting_down, "player", new_uuid()))
    assert (outcome.first, outcome.last) == (7, 7)
    assert (await others.fresh(game_id)).game.seats[0].player_id == "ply_0"


async def test_a_refusal_is_final_however_fast_the_game_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    others, heads, tried = Tables(world.log), world.log.heads, []
    game_id = await opened(others, "open")
    seats = iter(range(4))

    async def heads_after_somebody_sat_down(games: Sequence[str]) -> dict[str, int]:
        [game] = games
        command = TakeSeat(next(seats), new_uuid().hex)
        await others.carry_out(game, lambda draft: draft.carry_out(command, "player", new_uuid()))
        return await heads(games)

    def plan(draft: Draft) -> None:
        tried.append(draft.game.version)
        raise Denied

    tables = Tables(world.log)
    await tables.fresh(game_id)
    monkeypatch.setattr(world.log, "heads", heads_after_somebody_sat_down)
    with pytest.raises(Denied):
        await tables.carry_out(game_id, plan)
    assert tried == [5, 6]


async def test_of_openings_at_once_with_one_key_all_but_one_are_repetitions(world: World) -> None:
    anna = Principal(new_player(), "Anna", ("play",))
    seats = (SeatPlan("human", anna.player_id), SeatPlan("open"), SeatPlan("open"))
    new, request = NewGame(preset("davis"), Pace(), seats, "public", "public"), keyed("k", principal=anna.player_id)
    tables = [Tables(world.log) for _ in range(10)]
    opening = (open_game(each, world.secrets, world.reservations, anna, new, request, 1) for each in tables)
    games = await asyncio.gather(*opening)
    assert len({hot.game.game_id for hot, _ in games}) == 1
    assert [outcome.replayed for _, outcome in games].count(False) == 1


async def test_nothing_is_kept_of_games_that_are_none(world: World) -> None:
    tables = Tables(world.log)
    for _ in range(3):
        with pytest.raises(GameNotFound):
            await tables.fresh(new_game())
        with pytest.raises(Refused):
            await tables.carry_out(
                new_game(), lambda draft: draft.carry_out(TakeSeat(0, "ply_0"), "player", new_uuid())
            )
    assert (len(tables._hot), tables._used_bytes) == (0, 0)


@pytest.mark.parametrize("ruleset", ["davis", "ten-phases"])
def test_the_size_of_a_game_is_as_measured(ruleset: str) -> None:
    played = whole_game(ruleset, 4, 1, at_random(Random(1), share=0.1), rounds=3)
    stored = [encode_event(event) for event in chain.from_iterable(events for _, events in played)]
    tracemalloc.start()
    hot = Hot()
    hot.record([*_as_read(stored)])
    gc.collect()
    measured, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.7 < hot.size / measured < 1.3, f"{len(stored)} events: {hot.size} for {measured} bytes"


def _as_read(stored: list[tuple[int, int, bytes]]) -> Iterator[Recorded]:
    for version, event in enumerate(stored, 1):
        yield Recorded("gam_", version, decode_event(*event), "player", 1, new_uuid(), utc_now())


async def test_many_who_read_together_ask_the_log_together_and_each_for_what_was_there_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, others, heads = Tables(world.log), Tables(world.log), world.log.heads
    games = [await opened(others, "open") for _ in range(5)]
    for game_id in games:
        await tables.fresh(game_id)
    asked: list[int] = []
    is_asked = asyncio.Event()

    async def noted(game_ids: Sequence[str]) -> dict[str, int]:
        asked.append(len(game_ids))
        found = await heads(game_ids)
        is_asked.set()
        return found

    monkeypatch.setattr(world.log, "heads", noted)
    first = asyncio.create_task(tables.fresh(games[0]))
    await is_asked.wait()
    for game_id in games:  # after the question under way, so it does not count
        await others.carry_out(game_id, lambda draft: draft.carry_out(TakeSeat(0, "ply"), "player", new_uuid()))
    read = await asyncio.gather(*(tables.fresh(game_id) for game_id in games for _ in range(10)))
    await first
    assert asked == [1, 5]
    assert {hot.version for hot in read} == {6}


@pytest.mark.parametrize("is_away", [False, True])
async def test_who_gives_up_reading_takes_nothing_from_those_who_read_with_them(
    world: World, monkeypatch: pytest.MonkeyPatch, is_away: bool
) -> None:
    tables, heads = Tables(world.log), world.log.heads
    game_id = await opened(tables, "open")
    is_asked, may_answer = asyncio.Event(), asyncio.Event()

    async def slow(game_ids: Sequence[str]) -> dict[str, int]:
        is_asked.set()
        await may_answer.wait()
        if is_away:
            raise Unavailable
        return await heads(game_ids)

    monkeypatch.setattr(world.log, "heads", slow)
    readers = [asyncio.create_task(tables.fresh(game_id)) for _ in range(3)]
    await is_asked.wait()
    readers[0].cancel()
    await asyncio.wait({readers[0]})
    may_answer.set()
    async with asyncio.timeout(5):
        read = await asyncio.gather(*readers[1:], return_exceptions=True)
    assert [type(hot) for hot in read] == ([Unavailable] * 2 if is_away else [Hot] * 2)


async def test_those_who_come_together_to_a_game_that_is_not_in_memory_read_it_together(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them sees what was there when they came, also those who came to a reading under way."""
    tables, others = Tables(world.log), Tables(world.log)
    game_id, read = await opened(others), world.log.read
    readings, go_on = 0, asyncio.Event()

    async def slow(game_id: str, after: int = 0) -> list[Recorded]:
        nonlocal readings
        told = await read(game_id, after)
        readings += 1
        await go_on.wait()
        return told

    monkeypatch.setattr(world.log, "read", slow)
    early = [asyncio.create_task(tables.fresh(game_id)) for _ in range(10)]
    await eventually(lambda: _is_so(readings == 1))
    monkeypatch.setattr(world.log, "read", read)
    await others.carry_out(game_id, _deal)
    monkeypatch.setattr(world.log, "read", slow)
    late = [asyncio.create_task(tables.fresh(game_id)) for _ in range(10)]
    await asyncio.sleep(0)
    early[0].cancel()
    go_on.set()
    assert {(await hot).version for hot in early[1:]} <= {5, 8}
    assert {(await hot).version for hot in late} == {8}
    assert readings == 2


async def _is_so(what: bool) -> bool:
    return what
