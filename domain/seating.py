"""Who sits where, and whose turn comes next. A seat that is out is passed over."""

from functools import cache

from domain.ruleset import Direction
from domain.state import Game


def next_seat(game: Game, seat: int) -> int:
    """Gives the seat after this one in playing direction; the same seat where it is the only one left."""
    seats = game.seats
    for following in _round_from(seat, len(seats), game.rules.direction):
        if not seats[following].out:
            return following
    return seat


def seats_after(game: Game, seat: int) -> tuple[int, ...]:
    """Lists the other seats in playing direction, the nearest first."""
    seats = game.seats
    return tuple([other for other in _round_from(seat, len(seats), game.rules.direction) if not seats[other].out])


@cache
def _round_from(seat: int, seats: int, direction: Direction) -> tuple[int, ...]:
    """Goes once round the table, seats that are out included, up to the seat before this one."""
    step = 1 if direction == "clockwise" else -1
    return tuple((seat + step * away) % seats for away in range(1, seats))


def seats_in_play(game: Game) -> tuple[int, ...]:
    """Lists the seats that are not out, by number."""
    return tuple([number for number, seat in enumerate(game.seats) if not seat.out])
