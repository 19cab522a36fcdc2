"""Before the first deal: opening a game, sitting down, starting."""

from domain import events as e
from domain.commands import OpenGame, StartGame, TakeSeat
from domain.events import Event
from domain.faults import Fault, FaultyRuleset
from domain.refusals import AlreadyStarted, Refused, SeatNotFound, SeatsOpen, SeatTaken
from domain.state import Game


def open_game(command: OpenGame) -> list[Event]:
    """Opens a game with its seats; raises FaultyRuleset where the preset is not for so many players."""
    players = command.rules.players
    if not players.min <= len(command.seats) <= players.max:
        detail = f"{command.rules.name} is for {players.min} to {players.max} players, not {len(command.seats)}"
        raise FaultyRuleset((Fault("bad_player_number", "/seats", detail),))
    opened = e.GameOpened(
        game_id=command.game_id,
        rules=command.rules,
        pace=command.pace,
        commitment=command.commitment,
        seat_count=len(command.seats),
        opened_by=command.opened_by,
        visibility=command.visibility,
        spectators=command.spectators,
    )
    seats = [
        e.SeatChanged(seat, plan.controller, plan.player_id, plan.level, "opened")
        for seat, plan in enumerate(command.seats)
    ]
    return [opened, *seats]


def take_seat(game: Game, command: TakeSeat) -> list[Event]:
    """Seats a person; sitting down where one already sits changes nothing."""
    if not 0 <= command.seat < len(game.seats):
        raise Refused(SeatNotFound(command.seat))
    seat = game.seats[command.seat]
    if seat.player_id == command.player_id:
        return []
    if game.status != "waiting":
        raise Refused(AlreadyStarted())
    if seat.controller != "open" or any(other.player_id == command.player_id for other in game.seats):
        raise Refused(SeatTaken(command.seat))
    return [e.SeatChanged(command.seat, "human", command.player_id, None, "taken")]


def start_game(game: Game, _: StartGame) -> list[Event]:
    """Starts a game whose seats are all taken."""
    if game.status != "waiting":
        raise Refused(AlreadyStarted())
    free = tuple(number for number, seat in enumerate(game.seats) if seat.controller == "open")
    if free:
        raise Refused(SeatsOpen(free))
    return [e.GameStarted((None,) * len(game.seats))]
