"""Games and events as they leave the house: what the viewer may see, with present names and times.

Everything here is built from the domain's views and visible events; nothing is removed from a state.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from functools import lru_cache
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from domain.commands import Controller, Pace, Spectators, Visibility
from domain.decisions import open_decisions
from domain.events import Event, Passed, SeatChanged
from domain.ruleset import Ruleset
from domain.shown import SeatChangedData, VisibleData
from domain.state import Game, Result, Seat, Status
from domain.view import DecisionView, SeatView, View, view_for
from domain.visible import kind_of, open_data, open_hands_data, seat_of, visible_data
from services.due import deadline_of
from services.hot import Hot
from services.ids import public_id
from services.listings import ListedGame, listed_game
from services.ports import Accounts, Actor, Recorded

FORMER_PLAYER = "Former player"  # whoever has asked to be forgotten

Names = Mapping[str, str]
Away = AbstractSet[str | None]
"""Players who are not at the table."""

NOBODY: Away = frozenset()


class GameBody(Struct, frozen=True):
    """A game as the lobby shows it. `you` is the caller's seat."""

    game_id: str
    version: int
    status: Status
    ruleset: str
    rules: Ruleset
    pace: Pace
    visibility: Visibility
    spectators: Spectators
    spectator_delay_s: int | None
    hints: bool
    rematch_of: str | None
    seats: tuple[SeatView, ...]
    you: int | None
    is_opener: bool
    created_at: str
    result: Result | None


class EventBody(Struct, frozen=True):
    """An event as one viewer sees it, for ever the same but for names. move_id: a player's own request."""

    game_id: str
    version: int
    kind: str
    occurred_at: str
    round: int | None
    seat: int | None
    actor: Actor
    move_id: str | None
    data: VisibleData


def timestamp(moment: datetime) -> str:
    """Writes a time as RFC 3339 in UTC, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def timestamp_if_any(moment: datetime | None) -> str | None:
    """Writes a time where there is one."""
    return None if moment is None else timestamp(moment)


@lru_cache(10_000)  # the same for all events of a move and all their viewers
def move_id(command_id: UUID) -> str:
    """Writes a command's id as the public id of a move."""
    return public_id("mov", command_id)


def seat_held_by(game: Game | ListedGame, player_id: str | None) -> int | None:
    """Finds the seat that a player controls."""
    seats: Sequence[Seat | SeatView] = game.seats
    for number, seat in enumerate(seats):
        if seat.player_id == player_id and seat.controller == "human" and player_id is not None:
            return number
    return None


async def names_at(accounts: Accounts, games: Iterable[Game | ListedGame], events: Iterable[Recorded] = ()) -> Names:
    """Looks up the present names of everybody who sits at these games, or sits down in these events."""
    players = {seat.player_id for game in games for seat in game.seats if seat.player_id}
    players |= {r.event.player_id for r in events if isinstance(r.event, SeatChanged) and r.event.player_id}
    return await accounts.names(sorted(players)) if players else {}


def has_names(events: Iterable[Recorded]) -> bool:
    """Tells whether events hold names, which are looked up each time."""
    return any(isinstance(recorded.event, SeatChanged) for recorded in events)


def render_game(hot: Hot, game: Game, player_id: str | None, names: Names, away: Away = NOBODY) -> GameBody:
    """Shows a game, at any of its versions, as the lobby has it."""
    return render_listed(listed_game(game, hot.events[0].occurred_at), player_id, names, away)


def render_listed(game: ListedGame, player_id: str | None, names: Names, away: Away) -> GameBody:
    """Shows a game of a list."""
    return GameBody(
        game_id=game.game_id,
        version=game.version,
        status=game.status,
        ruleset=game.rules.name,
        rules=game.rules,
        pace=game.pace,
        visibility=game.visibility,
        spectators=game.spectators,
        spectator_delay_s=game.spectator_delay_s if game.spectators == "delayed" else None,
        hints=game.hints,
        rematch_of=_followed(game, player_id),
        seats=_named(game.seats, names, away),
        you=seat_held_by(game, player_id),
        is_opener=player_id is not None and game.opened_by == player_id,
        created_at=timestamp(game.created_at),
        result=game.result,
    )


def _followed(game: ListedGame, player_id: str | None) -> str | None:
    """Gives the game that this one follows; where spectators see late that it is over, to its players only."""
    return game.rematch_of if game.spectators != "delayed" or player_id in game.invited else None


def render_view(hot: Hot, viewer: int | None, names: Names, away: Away) -> View:
    """Shows the table to one viewer, with names and deadlines."""
    view = view_for(hot.game, viewer, () if viewer is None else hot.asked(viewer))
    return replace(view, seats=_named(view.seats, names, away), decisions=_timed(hot, view.decisions))


def render_decisions(hot: Hot, viewer: int) -> tuple[DecisionView, ...]:
    """Lists the viewer's open questions with their deadlines."""
    return _timed(hot, hot.asked(viewer))


def render_event(recorded: Recorded, viewer: int | None, names: Names) -> EventBody:
    """Shows an event to one viewer.

    Whose pass it was stays hidden, so its actor and move are shown to that seat alone.
    """
    event = recorded.event
    hidden = isinstance(event, Passed) and event.seat != viewer
    by_player = recorded.actor == "player" and recorded.round is not None and not hidden
    return EventBody(
        game_id=recorded.game_id,
        version=recorded.version,
        kind=kind_of(event),
        occurred_at=timestamp(recorded.occurred_at),
        round=recorded.round,
        seat=seat_of(event, viewer),
        actor="player" if hidden else recorded.actor,
        move_id=move_id(recorded.command_id) if by_player else None,
        data=_with_name(visible_data(event, viewer), event, names),
    )


def render_openly(recorded: Recorded, names: Names) -> EventBody:
    """Shows an event of a finished game with all hands open, and who did what."""
    return _openly(recorded, open_data(recorded.event), names)


def render_hands_open(recorded: Recorded, names: Names) -> EventBody:
    """Shows an event of a running game with all hands open, and who did what; what nobody has seen stays hidden."""
    return _openly(recorded, open_hands_data(recorded.event), names)


def _openly(recorded: Recorded, data: VisibleData, names: Names) -> EventBody:
    seat = getattr(recorded.event, "seat", None)
    return replace(render_event(recorded, seat, names), seat=seat, data=_with_name(data, recorded.event, names))


def _with_name(data: VisibleData, event: Event, names: Names) -> VisibleData:
    """Names whoever has got a seat as games and views do, a bot too."""
    if isinstance(data, SeatChangedData) and isinstance(event, SeatChanged):
        return replace(data, name=_name(event.seat, event.player_id, event.controller, names))
    return data


def _named(seats: Iterable[SeatView], names: Names, away: Away) -> tuple[SeatView, ...]:
    return tuple(
        replace(
            seat,
            name=_name(seat.seat, seat.player_id, seat.controller, names),
            away=seat.away or (seat.controller == "human" and seat.player_id in away),
        )
        for seat in seats
    )


def _name(seat: int, player_id: str | None, controller: Controller, names: Names) -> str | None:
    if player_id is not None:
        return names.get(player_id, FORMER_PLAYER)
    return f"Bot {seat + 1}" if controller == "bot" else None


def _timed(hot: Hot, shown: tuple[DecisionView, ...]) -> tuple[DecisionView, ...]:
    deadlines = {
        decision.decision_id: deadline_of(hot.game, decision, hot.when) for decision in open_decisions(hot.game)
    }
    return tuple(replace(decision, deadline_at=timestamp_if_any(deadlines[decision.decision_id])) for decision in shown)
