"""Games as operators search them: the twin in memory, and the tables that a projector keeps."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

import pytest
from msgspec import Struct

from domain.events import GameStarted
from infra.settings import Settings
from infra.wiring import open_services
from services.ids import new_uuid
from services.memory import MemoryLog
from services.memory_accounts import MemoryAccounts
from services.memory_desk import MemoryDesk
from services.operating import GamesSought, OperatorDesk
from services.ports import Append, GameLog, NewEvent, Work
from tests.contract.lists import new_player, next_game, nothing, opened, played, project, start, write


class Desk(Struct, frozen=True):
    """A log, the desk, and the projector's work."""

    log: GameLog
    games: OperatorDesk
    project: Callable[[], Awaitable[None]]

    async def find(self, **sought: object) -> list[str]:
        await self.project()
        return [found.game_id for found in await self.games.games(GamesSought(**sought), None, 100)]  # type: ignore[arg-type]


@pytest.fixture(params=["memory", "postgres"])
async def desk(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[Desk]:
    if request.param == "memory":
        log = MemoryLog()
        yield Desk(log, MemoryDesk(log, MemoryAccounts()), nothing)
        return
    async with open_services(settings) as services:
        yield Desk(services.log, services.desk, lambda: project(settings))


async def test_games_of_everybody_are_found_by_id_player_and_status(desk: Desk) -> None:
    anna, boris = new_player(), new_player()
    waiting = await write(desk.log, game := next_game(), opened(game, anna, visibility="private"))
    over = await write(desk.log, game := next_game(), [*opened(game, anna, boris), *played(3)])
    assert (await desk.find())[:2] == [over, waiting]
    assert await desk.find(player_id=anna) == [over, waiting]
    assert await desk.find(player_id=boris) == [over]
    assert await desk.find(player_id=anna, status="waiting") == [waiting]
    assert await desk.find(game_id=waiting) == [waiting]
    [found] = await desk.games.games(GamesSought(player_id=anna), over, 1)
    assert (found.game_id, found.status, found.version) == (waiting, "waiting", 3)
    assert (datetime.now(UTC) - found.last_event_at).total_seconds() < 60


async def test_games_are_stalled_whose_work_is_long_overdue_or_lost(desk: Desk) -> None:
    anna = new_player()
    overdue = await start(desk.log, next_game(), anna, overdue_s=60)
    await start(desk.log, next_game(), anna, overdue_s=5)
    lost = await start(desk.log, next_game(), anna, overdue_s=None)
    mended = await start(desk.log, next_game(), anna, overdue_s=60)
    later = Append(mended, 4, (NewEvent(GameStarted((None,) * 2), "table", None, new_uuid(), 0),), Work("bots", 5_000))
    await desk.log.append(later)
    await write(desk.log, game := next_game(), [*opened(game, anna), *played(2)])
    assert await desk.find(player_id=anna, is_stalled=True) == [lost, overdue]
    listed = await desk.games.games(GamesSought(player_id=anna), None, 10)
    assert [found.game_id for found in listed if found.is_stalled] == [lost, overdue]
