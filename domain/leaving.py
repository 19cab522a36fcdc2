"""People leave and come back, in any phase: the seat keeps its cards, its points and its pending buys."""

from domain import events as e
from domain.claims import settle
from domain.commands import ChangeController, LeaveForGood
from domain.events import Event
from domain.refusals import GameFinished, GameNotStarted, Refused, SeatNotFound, SeatNotHeld
from domain.seating import next_seat, seats_in_play
from domain.state import Game
from domain.stock import end_round
from domain.swapping import offer_swap
from domain.turns import begin_turn
from domain.unfolding import Unfolding


def change_controller(game: Game, command: ChangeController) -> list[Event]:
    """Hands a seat over, in any phase of a game that is played; where it is so already nothing changes."""
    _refuse_unless_held(game, command.seat)
    seat = game.seats[command.seat]
    who = (command.controller, command.player_id, command.level)
    if (seat.controller, seat.player_id, seat.level, seat.silent) == (*who, command.is_silent):
        return []
    return [e.SeatChanged(command.seat, *who, command.reason, is_silent=command.is_silent)]


def leave_for_good(game: Game, command: LeaveForGood) -> list[Event]:
    """Gives the seat to a bot, or takes it out of the game, as the rules say.

    A bot keeps the person's id, so that they can come back. A seat that is out can not. The last seat need not go:
    the game ends with it.
    """
    _refuse_unless_held(game, command.seat)
    if seats_in_play(game) == (command.seat,):
        return []
    seat = game.seats[command.seat]
    if game.rules.leaver == "bot":
        return [e.SeatChanged(command.seat, "bot", seat.player_id, "normal", "abandoned")]
    table = Unfolding(game)
    table.add(e.SeatChanged(command.seat, "open", None, None, "out"))
    _go_on_without(table, command.seat)
    return table.events


def _refuse_unless_held(game: Game, seat: int) -> None:
    if not 0 <= seat < len(game.seats):
        raise Refused(SeatNotFound(seat))
    if game.status == "waiting":
        raise Refused(GameNotStarted())
    if game.status != "playing":
        raise Refused(GameFinished())
    if game.seats[seat].out:
        raise Refused(SeatNotHeld(seat))


def _go_on_without(table: Unfolding, seat: int) -> None:
    """The turn passes on, or the window closes, or the game is over; between rounds there is nothing to do."""
    game, round_ = table.game, table.game.round
    alone = len(seats_in_play(game)) == 1
    if round_ is None or round_.step == "scoring":
        if alone and (round_ is None or round_.scored):
            totals = tuple(other.score for other in game.seats)
            table.add(e.GameFinished(seats_in_play(game), totals))
    elif alone:
        end_round(table, None, "left")
    elif round_.now.offered == seat:
        table.add(e.SwapDeclined(seat))
        offer_swap(table, seat)
    elif round_.turn == seat:
        if round_.window is not None:
            table.add(e.ClaimsClosed("left"))
        table.add(e.TurnEnded(seat))
        begin_turn(table, next_seat(table.game, seat))
    else:
        settle(table)
