"""The event store: what is written is read, whole and once."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from domain.events import CardDrawn, TurnEnded
from services.ids import new_uuid
from services.ports import Actor, Append, GameLog, NewEvent, Recorded, VersionConflict, Work
from tests.appends import ANNA, append, drawn, keyed, new_game
from tests.contract.conftest import World


async def test_a_game_is_read_as_it_was_written(world: World) -> None:
    game, command = new_game(), new_uuid()
    events = (
        NewEvent(CardDrawn(0, "stock", "7H", 50), "player", 3, command, 0),
        NewEvent(TurnEnded(0), "table", None, command, 1),
    )
    at = await world.log.append(Append(game, 0, events))
    assert await world.log.read(game) == [
        Recorded(game, 1, CardDrawn(0, "stock", "7H", 50), "player", 3, command, at),
        Recorded(game, 2, TurnEnded(0), "table", None, command, at),
    ]
    assert at.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)


async def test_a_tail_is_read_after_a_version(world: World) -> None:
    game = new_game()
    await world.log.append(append(game, 0, count=3))
    await world.log.append(append(game, 3, count=2))
    assert [recorded.version for recorded in await world.log.read(game, 3)] == [4, 5]
    assert await world.log.read(game, 5) == []


@pytest.mark.parametrize("game", ["gam_01m8mvz44sfz0bgcyj18dr65yg", "gam_", "gam_o", "nonsense", ""])
async def test_an_unknown_game_has_no_events(world: World, game: str) -> None:
    assert await world.log.read(game) == []
    assert await world.log.heads([game]) == {}


async def test_each_actor_is_kept(world: World) -> None:
    game = new_game()
    actors: tuple[Actor, ...] = get_args(Actor)
    for after, actor in enumerate(actors):
        await world.log.append(Append(game, after, drawn(actor=actor)))
    assert tuple(recorded.actor for recorded in await world.log.read(game)) == actors


async def test_text_of_any_kind_survives(world: World) -> None:
    game, card = new_game(), '"\\\x00\u2028 Żółw 🂱 \ud7ff'
    await world.log.append(Append(game, 0, drawn(card)))
    [recorded] = await world.log.read(game)
    assert isinstance(recorded.event, CardDrawn)
    assert recorded.event.card == card


async def test_a_version_is_written_once(world: World) -> None:
    game = new_game()
    await world.log.append(append(game, 0, count=2))
    before = await world.log.read(game)
    for late in (append(game, 0, count=1), append(game, 1, count=3)):
        with pytest.raises(VersionConflict):
            await world.log.append(late)
    assert await world.log.read(game) == before


async def test_nothing_is_written_beyond_the_head(world: World) -> None:
    game, unknown = new_game(), new_game()
    await world.log.append(append(game, 0, count=2))
    for early in (append(game, 3), append(unknown, 1, count=2, work=Work("bots", 0), request=keyed())):
        with pytest.raises(VersionConflict):
            await world.log.append(early)
    assert await world.log.heads([game, unknown]) == {game: 2}
    assert await world.log.receipt(unknown, ANNA, "makeMove", "k1") is None
    assert unknown not in [due.game_id for due in await world.work.due(1_000)]
    await world.log.append(append(unknown, 0, count=2, request=keyed()))


async def test_a_command_is_carried_out_once(world: World) -> None:
    game, command = new_game(), new_uuid()
    await world.log.append(Append(game, 0, drawn(count=2, command=command)))
    with pytest.raises(VersionConflict):
        await world.log.append(Append(game, 2, drawn(count=2, command=command)))
    assert await world.log.heads([game]) == {game: 2}


async def test_other_games_may_use_the_same_command_id(world: World) -> None:
    command = new_uuid()
    for game in (new_game(), new_game()):
        await world.log.append(Append(game, 0, drawn(command=command)))


async def test_of_twenty_racers_for_one_version_one_wins(world: World) -> None:
    game = new_game()
    await world.log.append(append(game))
    racers = [append(game, 1, count=2) for _ in range(20)]
    results = await asyncio.gather(*map(world.log.append, racers), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["VersionConflict"] * 19 + ["datetime"]
    [winner] = [racer for racer, result in zip(racers, results, strict=True) if isinstance(result, datetime)]
    assert [(r.version, r.command_id) for r in await world.log.read(game, 1)] == [
        (2, winner.events[0].command_id),
        (3, winner.events[0].command_id),
    ]


async def test_several_commands_are_appended_together_or_not_at_all(world: World) -> None:
    game, first, second = new_game(), new_uuid(), new_uuid()
    both = (*drawn(count=2, command=first), *drawn(count=3, command=second))
    await world.log.append(Append(game, 0, both))
    assert await world.log.command_range(game, first) == (1, 2)
    assert await world.log.command_range(game, second) == (3, 5)
    third = new_uuid()
    with pytest.raises(VersionConflict):
        await world.log.append(Append(game, 5, (*drawn(command=third), *drawn(command=second))))
    assert await world.log.command_range(game, third) is None


async def test_a_command_that_was_never_carried_out_has_no_range(world: World) -> None:
    assert await world.log.command_range(new_game(), new_uuid()) is None


async def test_heads_are_given_for_known_games(world: World) -> None:
    short, long, unknown = new_game(), new_game(), new_game()
    await world.log.append(append(short))
    await world.log.append(append(long, count=7))
    assert await world.log.heads([long, unknown, short]) == {long: 7, short: 1}
    assert await world.log.heads([]) == {}


async def test_a_cancelled_append_is_whole_or_absent(world: World) -> None:
    appends = [append(new_game(), count=5) for _ in range(30)]
    for place, one in enumerate(appends):
        writing = asyncio.create_task(world.log.append(one))
        for _ in range(place % 10):
            await asyncio.sleep(0)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    for one in appends:
        assert await _outcome(world.log, one) in (0, 5)


async def _outcome(log: GameLog, one: Append) -> int:
    """Learns how many events were written, by writing again what may still be under way."""
    try:
        await log.append(one)
    except VersionConflict:
        assert await log.command_range(one.game_id, one.events[0].command_id) == (1, 5)
    return len(await log.read(one.game_id))
