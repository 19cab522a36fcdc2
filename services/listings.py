"""Games, results and sums as lists and pages have them, whether they were projected or are read fresh from the log."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

from domain.commands import Pace, Spectators, Visibility
from domain.events import GameCancelled, GameFinished, GameOpened, GameStarted, NoncesDropped, SeatChanged
from domain.ruleset import Ruleset
from domain.state import Game, Result, Seat, Status
from domain.view import SeatView, seat_views
from services.ports import Recorded

LISTED_AT_ONCE = (GameOpened, SeatChanged, NoncesDropped, GameStarted, GameFinished, GameCancelled)
"""Events that a list shows even before they are projected; the rest may be a moment late."""


class ListedGame(Struct, frozen=True):
    """A game as lists have it; names and the viewer's own seat are added when it is shown.

    spectator_delay_s: 0 where nobody sees it late.
    told_at: when those who do not sit at the table may know that it is over; None: at once, or it is not.
    """

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
    invited: tuple[str, ...] = ()
    hints: bool = True
    spectator_delay_s: int = 0
    rematch_of: str | None = None
    told_at: datetime | None = None


class PlayerResult(Struct, frozen=True):
    """What a finished public game was for a person at its table. seats: how many there were; told_at: as above."""

    player_id: str
    game_id: str
    ruleset: str
    finished_at: datetime
    seat: int
    seats: int
    score: int
    is_won: bool
    told_at: datetime | None = None


class Standing(Struct, frozen=True):
    """The sums of a player's results by one ruleset. points: of all games together; fewer are better."""

    ruleset: str
    games: int
    wins: int
    points: int


def listed_game(game: Game, created_at: datetime, ended_at: datetime | None = None) -> ListedGame:
    """Shows a game as lists have it. ended_at: when it was finished or cancelled."""
    return ListedGame(
        game_id=game.game_id,
        version=game.version,
        status=game.status,
        rules=game.rules,
        pace=game.pace,
        visibility=game.visibility,
        spectators=game.spectators,
        opened_by=game.opened_by,
        seats=seat_views(game),
        created_at=created_at,
        result=game.result,
        invited=game.invited,
        hints=game.hints,
        spectator_delay_s=game.spectator_delay_s,
        rematch_of=game.rematch_of,
        told_at=told_at(game, ended_at),
    )


def told_at(game: Game, ended_at: datetime | None) -> datetime | None:
    """Gives when spectators may know of the end; a game that was never dealt they see as it is."""
    if ended_at is None or game.round is None or game.spectators != "delayed":
        return None
    return ended_at + timedelta(seconds=game.spectator_delay_s)


def ended_at(recorded: Iterable[Recorded]) -> datetime | None:
    """Gives when a game was finished or cancelled, from its events."""
    return next((each.occurred_at for each in recorded if isinstance(each.event, GameFinished | GameCancelled)), None)


def people_on(seats: Iterable[Seat | SeatView]) -> list[tuple[int, str]]:
    """Lists the seats of a game that people hold, and who they are."""
    return [
        (number, seat.player_id)
        for number, seat in enumerate(seats)
        if seat.controller == "human" and seat.player_id is not None
    ]
