"""A log with the read models made of it, in memory and on Postgres, and games written into it."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from msgspec import Struct

from domain.commands import Pace, SeatPlan, Visibility
from domain.events import Event, GameFinished, GameOpened, GameStarted, SeatChanged
from domain.presets import preset
from infra.postgres.projector import leading_projector
from infra.settings import Settings
from infra.wiring import open_services
from services.ids import new_uuid, public_id
from services.lobby import GameFilter, Lobby, list_games
from services.memory import MemoryLog
from services.memory_lobby import MemoryLobby
from services.ports import Append, GameLog, NewEvent, Principal, Work
from services.projections import Projector
from services.tables import Tables

ALL = GameFilter()
_base, _numbers = new_uuid().int, itertools.count(1)


class Lists(Struct, frozen=True):
    """A log, its read models, and the projector's work: until it was asked for, nothing need be projected."""

    log: GameLog
    lobby: Lobby
    project: Callable[[], Awaitable[None]]

    async def of(self, player: str, wanted: GameFilter = ALL, *, limit: int = 100) -> list[str]:
        """Lists all games that a player finds, page by page."""
        games, cursor = await list_games(self.lobby, Tables(self.log), principal(player), wanted, None, limit)
        found = list(games)
        while cursor is not None:
            games, cursor = await list_games(self.lobby, Tables(self.log), principal(player), wanted, cursor, limit)
            found += games
        return [game.game_id for game in found]


@pytest.fixture(params=["memory", "postgres"])
async def lists(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[Lists]:
    if request.param == "memory":
        log = MemoryLog()
        yield Lists(log, MemoryLobby(log), nothing)
        return
    async with open_services(settings) as services:
        yield Lists(services.log, services.lobby, lambda: project(settings))


def next_game() -> str:
    """Names a game that is newer than the one before by a millisecond."""
    return public_id("gam", UUID(int=_base + (next(_numbers) << 80)))


async def nothing() -> None:
    """The twin has projected everything already."""


async def project(settings: Settings) -> None:
    """Brings the read models to the end of the log."""
    async with leading_projector(settings.database_url) as log:
        await Projector(log).catch_up()


def principal(player: str) -> Principal:
    """Is a player who asks."""
    return Principal(player, "", ("watch",))


def new_player() -> str:
    """Names a player whom nobody knows."""
    return public_id("ply", new_uuid())


def opened(
    game: str, *people: str, by: str | None = None, ruleset: str = "davis", visibility: Visibility = "public"
) -> list[Event]:
    """Opens a game for these people and one bot."""
    plans = [*(SeatPlan("human", player) for player in people), SeatPlan("bot", None, "easy")]
    rules, opener = preset(ruleset), by or people[0]
    return [
        GameOpened(game, rules, Pace(), "00" * 32, len(plans), opener, visibility, "public"),
        *(SeatChanged(n, plan.controller, plan.player_id, plan.level, "opened") for n, plan in enumerate(plans)),
    ]


def played(seats: int, winner: int = 0) -> list[Event]:
    """Starts a game and finishes it: each seat has ten points more than the one before."""
    totals = tuple(range(0, seats * 10, 10))
    return [GameStarted((None,) * seats), GameFinished((winner,), totals)]


async def write(log: GameLog, game: str, events: list[Event], after: int = 0) -> str:
    """Appends events."""
    new = tuple(NewEvent(event, "table", None, new_uuid(), 0) for event in events)
    await log.append(Append(game, after, new))
    return game


async def start(log: GameLog, game: str, *people: str, overdue_s: float | None) -> str:
    """Opens a private game and starts it, with work that is overdue so long, or with none."""
    events = [*opened(game, *people, visibility="private"), GameStarted((None,) * (len(people) + 1))]
    new = tuple(NewEvent(event, "table", None, new_uuid(), 0) for event in events)
    at = None if overdue_s is None else datetime.now(UTC) - timedelta(seconds=overdue_s)
    await log.append(Append(game, 0, new, None if at is None else Work("bots", 0, at)))
    return game
