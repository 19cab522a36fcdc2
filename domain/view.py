"""What one viewer may see of a game: built up field by field, never cut down from the state.

Players and spectators get the same type. The house, which knows names and
clocks, fills in `name` and `deadline_at`.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from domain.cards import Card, Hand
from domain.commands import Controller, Level, Move
from domain.dealing import max_rounds
from domain.decisions import DecisionKind, open_decisions
from domain.meld import Meld
from domain.options import options_for
from domain.ruleset import Buy, Part
from domain.state import Game, Result, Round, Seat, Status

Phase: TypeAlias = Literal["draw", "claims", "play", "scoring"]


class SeatView(Struct, frozen=True):
    """A seat as everybody sees it. buys_left: None for no limit; contract: index of the contract in force.

    away: a bot plays for a person who may come back, or the person is not at the table: then it is no part of the
    version.
    """

    seat: int
    name: str | None
    player_id: str | None
    controller: Controller
    level: Level | None
    away: bool
    hand_count: int
    down: bool
    buys_left: int | None
    contract: int
    score: int


class WaitingForSeat(Struct, frozen=True):
    """The table waits for the player in turn."""

    seat: int


class WaitingForCount(Struct, frozen=True):
    """The table waits for so many answers about the open discard; whose they are would tell what they hold."""

    count: int


class RoundView(Struct, frozen=True):
    """Where the round stands. of: number of rounds, None where it is not fixed. phase is draw until the player in
    turn has answered, then claims."""

    number: int
    of: int | None
    contract: tuple[Part, ...]
    dealer: int
    turn: int
    phase: Phase
    waiting_for: WaitingForSeat | WaitingForCount | None


class TableView(Struct, frozen=True):
    """The cards in the middle."""

    stock_count: int
    discard_top: Card | None
    discard_open: bool
    discard_count: int
    melds: tuple[Meld, ...]


class You(Struct, frozen=True):
    """The viewer's own cards, in deck order."""

    seat: int
    hand: Hand


class DecisionView(Struct, frozen=True):
    """A question to the viewer; every option is a complete move."""

    decision_id: str
    seat: int
    kind: DecisionKind
    opened_at_version: int
    deadline_at: str | None
    options: tuple[Move, ...]


class View(Struct, frozen=True):
    """A game as one viewer sees it. `you` is None for a spectator."""

    game_id: str
    version: int
    status: Status
    ruleset: str
    round: RoundView | None
    table: TableView | None
    seats: tuple[SeatView, ...]
    you: You | None
    decisions: tuple[DecisionView, ...]
    result: Result | None


def view_for(game: Game, viewer: int | None, asked: tuple[DecisionView, ...] | None = None) -> View:
    """Shows a game to the seat `viewer`, or to a spectator. asked: the seat's `decisions_of`, where they are known."""
    if asked is None:
        asked = () if viewer is None else decisions_of(game, viewer)
    return View(
        game_id=game.game_id,
        version=game.version,
        status=game.status,
        ruleset=game.rules.name,
        round=None if game.round is None else _round_view(game, game.round, viewer),
        table=None if game.round is None else _table_view(game.round),
        seats=seat_views(game),
        you=None if viewer is None else You(viewer, game.seats[viewer].hand),
        decisions=asked,
        result=game.result,
    )


def decisions_of(game: Game, viewer: int) -> tuple[DecisionView, ...]:
    """Lists the open questions to one seat with all their options."""
    return tuple(
        DecisionView(decision.decision_id, viewer, decision.kind, decision.opened_at, None, options_for(game, decision))
        for decision in open_decisions(game)
        if decision.seat == viewer
    )


def seat_views(game: Game) -> tuple[SeatView, ...]:
    """Shows what everybody sees of the seats."""
    return tuple(_seat_view(game, number, seat) for number, seat in enumerate(game.seats))


def _seat_view(game: Game, number: int, seat: Seat) -> SeatView:
    return SeatView(
        seat=number,
        name=None,
        player_id=seat.player_id,
        controller=seat.controller,
        level=seat.level,
        away=seat.controller == "bot" and seat.player_id is not None,
        hand_count=len(seat.hand),
        down=seat.down,
        buys_left=_buys_left(game.rules.buy, seat),
        contract=seat.contract,
        score=seat.score,
    )


def _buys_left(rules: Buy, seat: Seat) -> int | None:
    if not rules.allowed:
        return 0
    limits = ((rules.per_round, seat.buys), (rules.per_game, seat.buys_in_game))
    return min((max(0, limit - used) for limit, used in limits if limit is not None), default=None)


def _round_view(game: Game, round_: Round, viewer: int | None) -> RoundView:
    return RoundView(
        number=round_.number,
        of=None if game.rules.progression == "individual" else max_rounds(game.rules, len(game.seats)),
        contract=round_.contracts[round_.turn if viewer is None else viewer],
        dealer=round_.dealer,
        turn=round_.turn,
        phase=_phase(round_),
        waiting_for=_waiting_for(round_) if game.status == "playing" else None,
    )


def _phase(round_: Round) -> Phase:
    if round_.step == "draw" and round_.window is not None and round_.window.declined:
        return "claims"
    return round_.step


def _waiting_for(round_: Round) -> WaitingForSeat | WaitingForCount | None:
    phase = _phase(round_)
    if phase == "scoring":
        return None
    if phase == "claims" and round_.window is not None:
        return WaitingForCount(len(round_.window.asked))
    return WaitingForSeat(round_.turn)


def _table_view(round_: Round) -> TableView:
    return TableView(
        stock_count=len(round_.stock),
        discard_top=round_.pile[-1].card if round_.pile else None,
        discard_open=round_.discard_open,
        discard_count=len(round_.pile),
        melds=round_.melds,
    )
