"""What those who run the server do to a game. Every seat is told: an OperatorActed goes before whatever it leads to."""

from domain import events as e
from domain.commands import ChangeController, NoteOperator, SeatBotForAbsent
from domain.events import Event
from domain.leaving import change_controller
from domain.refusals import GameFinished, GameNotStarted, Refused, SeatNotFound, SeatNotHeld
from domain.state import Game, is_over


def end_game(game: Game) -> list[Event]:
    """Ends a game that waits or is played."""
    _refuse_if_over(game)
    return [e.OperatorActed("ended"), e.GameCancelled("operator")]


def note_operator(game: Game, command: NoteOperator) -> list[Event]:
    """Tells the table of something that changes nothing in it."""
    _refuse_if_over(game)
    return [e.OperatorActed(command.what)]


def seat_bot_for_absent(game: Game, command: SeatBotForAbsent) -> list[Event]:
    """Seats a bot in a person's place while the game is played; where one sits already nothing changes."""
    if not 0 <= command.seat < len(game.seats):
        raise Refused(SeatNotFound(command.seat))
    if game.status == "waiting":
        raise Refused(GameNotStarted())
    _refuse_if_over(game)
    seat = game.seats[command.seat]
    if seat.controller == "bot":
        return []
    if seat.out or seat.controller == "open":
        raise Refused(SeatNotHeld(command.seat))
    sitting_in = ChangeController(command.seat, "bot", seat.player_id, command.level, "sat_in")
    return [e.OperatorActed("bot_seated"), *change_controller(game, sitting_in)]


def _refuse_if_over(game: Game) -> None:
    if is_over(game.status):
        raise Refused(GameFinished())
