"""The log in the order of commits, and whose games there are in it."""

from domain.commands import Pace
from domain.events import GameOpened, SeatChanged
from domain.presets import preset
from services.ids import new_uuid
from services.order import Mark
from services.ports import Append, NewEvent
from tests.appends import ANNA, BORIS, append, new_game
from tests.contract.conftest import World
from tests.engines import eventually

EVERYTHING = 10_000


async def settled(world: World, game_id: str, version: int) -> None:
    """Waits until nothing under way anywhere can come before a version any more."""

    async def is_settled() -> bool:
        return (await world.order.heads([game_id])).get(game_id, 0) >= version

    await eventually(is_settled)


def places(marks: list[Mark]) -> list[tuple[str, int]]:
    return [(mark.game_id, mark.version) for mark in marks]


async def test_events_of_all_games_are_read_in_order_after_any_place(world: World) -> None:
    start = await world.order.end()
    first, second = new_game(), new_game()
    for game_id, after, count in ((first, 0, 2), (second, 0, 3), (first, 2, 1)):
        await world.log.append(append(game_id, after, count))
        await settled(world, game_id, after + count)
    marks = [mark for mark in await world.order.after(start.position, EVERYTHING) if mark.game_id in (first, second)]
    assert places(marks) == [(first, 1), (first, 2), (second, 1), (second, 2), (second, 3), (first, 3)]
    assert [mark.position for mark in marks] == sorted({mark.position for mark in marks})
    later = await world.order.after(marks[3].position, EVERYTHING)
    assert [place for place in places(later) if place[0] in (first, second)] == [(second, 3), (first, 3)]
    assert len(await world.order.after(start.position, 2)) == 2


async def test_the_end_comes_after_everything_that_is_settled(world: World) -> None:
    game_id = new_game()
    await world.log.append(append(game_id))
    await settled(world, game_id, 1)
    end = await world.order.end()
    assert (await world.order.end()).generation == end.generation
    await world.log.append(append(game_id, 1))
    await settled(world, game_id, 2)
    assert places(await world.order.missed([game_id], end.position, EVERYTHING)) == [(game_id, 2)]


async def test_what_some_games_told_is_found_after_a_place(world: World) -> None:
    start = await world.order.end()
    games = [new_game() for _ in range(3)]
    for game_id in games:
        await world.log.append(append(game_id, 0, 2))
        await settled(world, game_id, 2)
    wanted = [games[2], games[0], new_game()]
    found = await world.order.missed(wanted, start.position, EVERYTHING)
    assert places(found) == [(games[0], 1), (games[0], 2), (games[2], 1), (games[2], 2)]
    assert places(await world.order.missed(wanted, found[1].position, 1)) == [(games[2], 1)]
    assert await world.order.missed([], start.position, EVERYTHING) == []
    assert await world.order.heads(wanted) == {games[0]: 2, games[2]: 2}


async def test_the_events_that_make_a_game_somebodys_own_name_them(world: World) -> None:
    start = await world.order.end()
    game_id = new_game()
    opened = GameOpened(game_id, preset("davis"), Pace(), "c0", 2, ANNA, "public", "public", invited=(ANNA, BORIS))
    seated = SeatChanged(seat=1, controller="human", player_id=BORIS, level=None, reason="taken")
    left = SeatChanged(seat=1, controller="open", player_id=None, level=None, reason="left")
    events = tuple(NewEvent(event, "player", None, new_uuid(), 0) for event in (opened, seated, left))
    await world.log.append(Append(game_id, 0, events))
    await settled(world, game_id, 3)
    marks = [mark for mark in await world.order.after(start.position, EVERYTHING) if mark.game_id == game_id]
    assert [mark.player_id for mark in marks] == [ANNA, BORIS, None]
    assert [mark.invited for mark in marks] == [(BORIS,), (), ()]
