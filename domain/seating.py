"""Who sits where, and whose turn comes next. A seat that is out is passed over."""

from domain.state import Game


def next_seat(game: Game, seat: int) -> int:
    """Gives the seat after this one in playing direction; the same seat where it is the only one left."""
    step = 1 if game.rules.direction == "clockwise" else -1
    following = (seat + step) % len(game.seats)
    while game.seats[following].out and following != seat:
        following = (following + step) % len(game.seats)
    return following


def seats_after(game: Game, seat: int) -> tuple[int, ...]:
    """Lists the other seats in playing direction, the nearest first."""
    order: list[int] = []
    following = next_seat(game, seat)
    while following != seat and following not in order:
        order.append(following)
        following = next_seat(game, following)
    return tuple(order)


def seats_in_play(game: Game) -> tuple[int, ...]:
    """Lists the seats that are not out, by number."""
    return tuple(number for number, seat in enumerate(game.seats) if not seat.out)
