"""The read models: what lists of games and pages of players are served from, derived from the log alone.

The projector reads the log in the order of commits and saves what changed together with its place, so that it goes on
after any death with the same rows as one that never died. What a row says follows from the events of its game alone.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from domain.events import GameFinished, GameStarted
from domain.evolve import evolve
from domain.state import Game, State, Unopened
from services.listings import ListedGame, PlayerResult, ended_at, listed_game, people_on, told_at
from services.ports import Recorded
from services.ratings import RatedGame, Rating, Subject, rate, rated_game, subjects_of
from services.relay import OrderBroken, Position

BATCH = 500  # a batch is saved in one transaction, and the relay waits for it a few milliseconds
PAUSE_S = 0.1  # lists are so much late
_KNOWN_GAMES = 2_000

_log = logging.getLogger(__name__)


Tie: TypeAlias = Literal["seated", "own", "known"]
"""Why a player may know of a game although it is private: they sit there, it is theirs otherwise, or was once.

It is theirs also while a bot sits in for them, or while it waits and they are invited.
"""


class Acquaintance(Struct, frozen=True):
    """A player who may know of the game although it is private. tie: None for one who may not any more."""

    player_id: str
    game_id: str
    tie: Tie | None


class Changes(Struct, frozen=True):
    """What some events change in the read models. rated: the games that have changed the ratings, in order."""

    games: tuple[ListedGame, ...] = ()
    acquaintances: tuple[Acquaintance, ...] = ()
    results: tuple[PlayerResult, ...] = ()
    rated: tuple[RatedGame, ...] = ()
    ratings: Mapping[Subject, Rating] = {}


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

    async def ratings(self, subjects: Collection[Subject]) -> dict[Subject, Rating]:
        """Gives those of the ratings that there are."""
        ...

    async def save(self, changes: Changes, place: Position) -> None:
        """Saves changes and place together or not at all; raises Unavailable where another has taken over."""
        ...


class Followed:
    """A game as far as it was followed. starters: who held which seat at its start; is_lost: its events make no game
    any more."""

    __slots__ = ("created_at", "ended_at", "is_lost", "starters", "state")

    def __init__(self) -> None:
        self.state: State = Unopened()
        self.created_at: datetime | None = None
        self.ended_at: datetime | None = None
        self.starters: list[tuple[int, str]] = []
        self.is_lost = False

    def record(self, recorded: Recorded) -> None:
        """Records the next event."""
        self.state = evolve(self.state, recorded.event)
        self.created_at = self.created_at or recorded.occurred_at
        self.ended_at = self.ended_at or ended_at((recorded,))
        if isinstance(recorded.event, GameStarted) and isinstance(self.state, Game):
            self.starters = people_on(self.state.seats)

    @property
    def people(self) -> dict[str, Tie]:
        """Tells why everybody who may always know of the game may do so."""
        if not isinstance(self.state, Game):
            return {}
        people: dict[str, Tie] = {} if self.state.opened_by is None else {self.state.opened_by: "known"}
        people |= dict.fromkeys(self.state.invited, "own" if self.state.status == "waiting" else "known")
        people |= dict.fromkeys((seat.player_id for seat in self.state.seats if seat.player_id is not None), "own")
        return people | dict.fromkeys((player for _, player in people_on(self.state.seats)), "seated")


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
        before: dict[str, dict[str, Tie]] = {}
        results: list[PlayerResult] = []
        rated: list[RatedGame] = []
        for recorded in batch:
            followed = self._games.setdefault(recorded.game_id, Followed())
            self._games.move_to_end(recorded.game_id)
            before.setdefault(recorded.game_id, followed.people)
            if self._is_next(followed, recorded):
                results += _results(followed, recorded)
                rated += _rated(followed, recorded)
        changed = {game_id: self._games[game_id] for game_id in before}
        while len(self._games) > self._capacity:
            self._games.popitem(last=False)
        return Changes(
            games=tuple(
                listed_game(each.state, each.created_at, each.ended_at)
                for each in changed.values()
                if isinstance(each.state, Game) and each.created_at is not None
            ),
            acquaintances=tuple(
                change for game_id, each in changed.items() for change in _met(game_id, before[game_id], each.people)
            ),
            results=tuple(results),
            rated=tuple(rated),
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


def _rated(followed: Followed, recorded: Recorded) -> list[RatedGame]:
    """Gives what a game means for the ratings, where this event has finished it."""
    if not isinstance(followed.state, Game) or not isinstance(recorded.event, GameFinished):
        return []
    counted = rated_game(followed.state, followed.starters)
    return [] if counted is None else [counted]


def _results(followed: Followed, recorded: Recorded) -> list[PlayerResult]:
    """Lists what a game was for its people, where this event has finished it."""
    state = followed.state
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
            told_at=told_at(state, followed.ended_at),
        )
        for number, player_id in people_on(state.seats)
    ]


def _met(game_id: str, before: dict[str, Tie], after: dict[str, Tie]) -> list[Acquaintance]:
    new = [Acquaintance(player, game_id, tie) for player, tie in after.items() if before.get(player) != tie]
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
            await self._log.save(await self._rated(self._follower.follow(batch)), place)
            self._place = place
        return len(batch)

    async def _rated(self, changes: Changes) -> Changes:
        """Adds the ratings after the games that count."""
        if not changes.rated:
            return changes
        known = await self._log.ratings(subjects_of(changes.rated))
        return replace(changes, ratings=rate(changes.rated, known))
