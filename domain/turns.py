"""How one turn follows another, and how a round ends by itself."""

from domain import events as e
from domain.claims import claimants_of_turn, top_is_open
from domain.seating import next_seat, seats_in_play
from domain.state import Game, Round
from domain.stock import end_round
from domain.unfolding import Unfolding


def begin_turn(table: Unfolding, seat: int, skipped: tuple[int, ...] = ()) -> None:
    """Asks a seat to draw, and the others about the open discard; a seat that was skipped misses its turn."""
    while table.game.seats[seat].skip == "will_miss" and seat not in skipped:
        skipped = (*skipped, seat)
        seat = next_seat(table.game, seat)
    open_ = top_is_open(table.game, table.round)
    asked = claimants_of_turn(table.game, table.round, seat) if open_ else ()
    table.add(e.TurnBegan(seat, "draw", open_, asked, skipped))


def turn_over(table: Unfolding) -> None:
    """Ends the round where the player in turn has no card left or the table is stuck; else the next turn begins."""
    game, round_ = table.game, table.round
    if not game.seats[round_.turn].hand:
        end_round(table, round_.turn, "out")
    elif _is_stuck(game, round_):
        end_round(table, None, "exhausted")
    else:
        begin_turn(table, next_seat(game, round_.turn))


def _is_stuck(game: Game, round_: Round) -> bool:
    laps = game.rules.idle_laps
    if round_.idle_turns < laps.no_draw and round_.stale_turns < laps.no_progress:
        return False  # not even with one seat
    seats = len(seats_in_play(game))
    return round_.idle_turns >= laps.no_draw * seats or round_.stale_turns >= laps.no_progress * seats
