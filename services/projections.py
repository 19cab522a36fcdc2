"""The read models: what lists of games and pages of players are served from, derived from the log alone.

The projector reads the log in the order of commits and saves what changed together with its place, so that it goes on
after any death with the same rows as one that never died. What a row says follows from the events of its game alone.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from msgspec import Struct

from domain.commands import Pace, Spectators, Visibility
from domain.events import GameCancelled, GameFinished, GameOpened, GameStarted, NoncesDropped, SeatChanged
from domain.evolve import evolve
from domain.ruleset import Ruleset
from domain.state import Game, Result, State, Status, Unopened
from domain.view import SeatView, seat_view
from services.ports import Recorded
from services.relay import OrderBroken, Position

BATCH = 500  # a batch is saved in one transaction, and the relay waits for it a few milliseconds
PAUSE_S = 0.1  # lists are so much late
_KNOWN_GAMES = 2_000

LISTED_AT_ONCE = (GameOpened, SeatChanged, NoncesDropped, GameStarted, GameFinished, GameCancelled)
"""Events that a list shows even before they are projected; the rest may be a moment late."""

_log = logging.getLogger(__name__)


class ListedGame(Struct, frozen=True):
    """A game as lists have it; names and the viewer's own seat are added when it is shown."""

    game_id: str
    version: int
    status: Status
    rules: Ruleset
    pace: Pace
    visibility: Visibility
    spectators: Spectators
    opened_by: str | None
    seats: tuple[SeatView, ...]
    created_at: datetime
    result: Result | None


class PlayerResult(Struct, frozen=True):
    """What a finished public game was for a person at its table. seats: how many there were."""

    player_id: str
    game_id: str
    ruleset: str
    finished_at: datetime
    seat: int
    seats: int
    score: int
    is_won: bool


class Standing(Struct, frozen=True):
    """The sums of a player's results by one ruleset. points: of all games together; fewer are better."""

    ruleset: str
    games: int
    wins: int
    points: int


class Acquaintance(Struct, frozen=True):
    """A player who may know of the game although it is private. is_seated: None for one who may not any more."""

    player_id: str
    game_id: str
    is_seated: bool | None


class Changes(Struct, frozen=True):
    """What some events change in the read models."""

    games: tuple[ListedGame, ...] = ()
    acquaintances: tuple[Acquaintance, ...] = ()
    results: tuple[PlayerResult, ...] = ()


Batch: TypeAlias = tuple[list[Recorded], Position]
"""Events in the order of commits, and the place after them."""


class ProjectedLog(Protocol):
    """The log as one projector reads it, and the read models that it keeps. Any call may raise Unavailable."""

    async def place(self) -> Position:
        """Gives the place that the read models are at."""
        ...

    async def batch(self, after: Position, limit: int) -> Batch:
        """Reads what was committed after a place and cannot be preceded by anything still under way."""
        ...

    async def beginning(self, game_id: str, before: int) -> list[Recorded]:
        """Reads a game's events before a version."""
        ...

    async def save(self, changes: Changes, place: Position) -> None:
        """Saves changes and place together or not at all; raises Unavailable where another has taken over."""
        ...


def listed_game(game: Game, created_at: datetime) -> ListedGame:
    """Shows a game as lists have it."""
    return ListedGame(
        game_id=game.game_id,
        version=game.version,
        status=game.status,
        rules=game.rules,
        pace=game.pace,
        visibility=game.visibility,
        spectators=game.spectators,
        opened_by=game.opened_by,
        seats=tuple(seat_view(game, number, seat) for number, seat in enumerate(game.seats)),
        created_at=created_at,
        result=game.result,
    )


def people_at(game: Game) -> list[tuple[int, str]]:
    """Lists the seats that people hold, and who they are."""
    return [
        (number, seat.player_id)
        for number, seat in enumerate(game.seats)
        if seat.controller == "human" and seat.player_id is not None
    ]


class Followed:
    """A game as far as it was followed. is_lost: its events make no game any more."""

    __slots__ = ("created_at", "is_lost", "state")

    def __init__(self) -> None:
        self.state: State = Unopened()
        self.created_at: datetime | None = None
        self.is_lost = False

    def record(self, recorded: Recorded) -> None:
        """Records the next event."""
        self.state = evolve(self.state, recorded.event)
        self.created_at = self.created_at or recorded.occurred_at

    @property
    def people(self) -> dict[str, bool]:
        """Tells of everybody who may always know of the game whether they sit at it."""
        if not isinstance(self.state, Game):
            return {}
        opener = {} if self.state.opened_by is None else {self.state.opened_by: False}
        return opener | {player: True for _, player in people_at(self.state)}


class Follower:
    """Turns events into changes of the read models; keeps the `capacity` games that it met last.

    A game whose events make no game is named in the log and left as it is: the others go on.
    """

    def __init__(self, capacity: int = _KNOWN_GAMES) -> None:
        self._capacity = capacity
        self._games: OrderedDict[str, Followed] = OrderedDict()

    def missing(self, batch: Iterable[Recorded]) -> dict[str, int]:
        """Names games whose beginning has to be followed first, each with the first version that is there."""
        first: dict[str, int] = {}
        for recorded in batch:
            if recorded.game_id in self._games:
                self._games.move_to_end(recorded.game_id)
            else:
                first.setdefault(recorded.game_id, recorded.version)
        return {game_id: version for game_id, version in first.items() if version > 1}

    def follow(self, batch: Sequence[Recorded]) -> Changes:
        """Gives what these events change. Errors: OrderBroken for a hole in a game."""
        before: dict[str, dict[str, bool]] = {}
        results: list[PlayerResult] = []
        for recorded in batch:
            followed = self._games.setdefault(recorded.game_id, Followed())
            self._games.move_to_end(recorded.game_id)
            before.setdefault(recorded.game_id, followed.people)
            if self._is_next(followed, recorded):
                results += _results(followed.state, recorded)
        changed = {game_id: self._games[game_id] for game_id in before}
        while len(self._games) > self._capacity:
            self._games.popitem(last=False)
        return Changes(
            games=tuple(
                listed_game(each.state, each.created_at)
                for each in changed.values()
                if isinstance(each.state, Game) and each.created_at is not None
            ),
            acquaintances=tuple(
                change for game_id, each in changed.items() for change in _met(game_id, before[game_id], each.people)
            ),
            results=tuple(results),
        )

    def _is_next(self, followed: Followed, recorded: Recorded) -> bool:
        """Records an event; false for one that is known already, or cannot be recorded."""
        version = followed.state.version
        if followed.is_lost or recorded.version <= version:
            return False
        if recorded.version > version + 1:
            raise OrderBroken(f"game {recorded.game_id}: version {recorded.version} came after version {version}")
        try:
            followed.record(recorded)
        except Exception:  # noqa: BLE001 - one broken game must not stop the lists of all
            _log.exception("%s is no game any more at version %d: left as it was", recorded.game_id, recorded.version)
            followed.is_lost = True
        return not followed.is_lost


def _results(state: State, recorded: Recorded) -> list[PlayerResult]:
    """Lists what a game was for its people, where this event has finished it."""
    if not isinstance(state, Game) or not isinstance(recorded.event, GameFinished) or state.visibility != "public":
        return []
    winners, totals = recorded.event.winners, recorded.event.totals
    return [
        PlayerResult(
            player_id=player_id,
            game_id=state.game_id,
            ruleset=state.rules.name,
            finished_at=recorded.occurred_at,
            seat=number,
            seats=len(state.seats),
            score=totals[number],
            is_won=number in winners,
        )
        for number, player_id in people_at(state)
    ]


def _met(game_id: str, before: dict[str, bool], after: dict[str, bool]) -> list[Acquaintance]:
    new = [Acquaintance(player, game_id, seated) for player, seated in after.items() if before.get(player) != seated]
    return new + [Acquaintance(player, game_id, None) for player in before if player not in after]


class Projector:
    """Keeps the read models of one build, from its place on. `beat` is called at each sign of life."""

    def __init__(self, log: ProjectedLog, beat: Callable[[], None] = lambda: None) -> None:
        self._log = log
        self._beat = beat
        self._follower = Follower()
        self._place: Position | None = None

    async def run(self) -> None:
        """Projects until Unavailable is raised by the log, or OrderBroken."""
        while True:
            if await self.step() < BATCH:
                await asyncio.sleep(PAUSE_S)
            self._beat()

    async def catch_up(self) -> None:
        """Projects until nothing more is there."""
        while await self.step() == BATCH:
            self._beat()

    async def step(self) -> int:
        """Projects one batch and gives how many events it had; fewer than BATCH: that was all for now."""
        if self._place is None:
            self._place = await self._log.place()
        batch, place = await self._log.batch(self._place, BATCH)
        if batch:
            for game_id, version in self._follower.missing(batch).items():
                self._follower.follow(await self._log.beginning(game_id, version))
            await self._log.save(self._follower.follow(batch), place)
            self._place = place
        return len(batch)
