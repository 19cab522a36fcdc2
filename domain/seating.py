"""Who sits where, and whose turn comes next."""

from domain.state import Game


def next_seat(game: Game, seat: int) -> int:
    """Gives the seat after this one in playing direction."""
    step = 1 if game.rules.direction == "clockwise" else -1
    return (seat + step) % len(game.seats)


def seats_after(game: Game, seat: int) -> tuple[int, ...]:
    """Lists the other seats in playing direction, the nearest first."""
    order: list[int] = []
    while (seat := next_seat(game, seat)) not in order:
        order.append(seat)
    return tuple(order[:-1])
