"""A month of the past in the log, with games that are all over: what is archived and restored."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID

import asyncpg
import pytest
from msgspec.structs import replace

from domain.events import Event, GameOpened
from infra.postgres.projector import leading_projector
from infra.settings import Settings
from infra.wiring import Services
from services.ids import new_uuid, public_id
from services.ports import Append, NewEvent
from services.projections import Projector
from tests.infra.projecting import whole_game

MONTH = "2026-03"
ALL = "SELECT tableoid::regclass::text, * FROM event ORDER BY game_id, version"


@pytest.fixture
async def owner(settings: Settings) -> AsyncIterator[asyncpg.Connection]:
    """A connection with all rights, to a log that has a month of the past."""
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute(f"SELECT make_month('{MONTH}'); SELECT attach_month('{MONTH}')")
    yield connection
    await connection.close()


def game_of(year: int, month: int, number: int = 0) -> str:
    """Names a game that was opened in that month."""
    stamp = int(datetime(year, month, 1 + number % 28, tzinfo=UTC).timestamp() * 1000)
    return public_id("gam", UUID(int=stamp << 80 | new_uuid().int & (1 << 80) - 1))


async def write(services: Services, game: str, seed: int, *, is_over: bool = True) -> str:
    """Appends a whole game, or all of it but its end."""
    opened, *rest = whole_game(seed)
    assert isinstance(opened, GameOpened)
    events: list[Event] = [replace(opened, game_id=game), *rest]
    for after in range(0, len(events) - (not is_over), 40):
        piece = events[after : min(after + 40, len(events) - (not is_over))]
        new = tuple(NewEvent(event, "bot", 1, new_uuid(), 0) for event in piece)
        await services.log.append(Append(game, after, new))
    return game


async def everybody_is_told(settings: Settings, owner: asyncpg.Connection) -> None:
    """Brings the projector, and for the record the relay, to the end of the log."""
    async with leading_projector(settings.projector_database_url) as log:
        await Projector(log).catch_up()
    await owner.execute("UPDATE relay_checkpoint SET xid = place.xid, gseq = place.gseq FROM projection AS place")


@pytest.fixture
async def month(settings: Settings, services: Services, owner: asyncpg.Connection) -> list[str]:
    """Games of the past month, all over, and one of today that is not."""
    games = [await write(services, game_of(2026, 3, n), seed=n % 3) for n in range(6)]
    await write(services, public_id("gam", new_uuid()), seed=1, is_over=False)
    await everybody_is_told(settings, owner)
    return games
