"""The start of a turn: drawing from the stock, or taking the open discard."""

from domain import events as e
from domain.claims import settle
from domain.refusals import illegal
from domain.stock import draw_from_stock
from domain.unfolding import Unfolding


def draw_stock(table: Unfolding, seat: int) -> None:
    """Draws, or declines while others are still asked about the open discard."""
    if table.round.window is None:
        draw_from_stock(table)
        return
    table.add(e.DrawDeclined(seat))
    settle(table)


def take_discard(table: Unfolding, seat: int) -> None:
    """Takes the open discard at once; pending buys lapse uncounted."""
    game, round_ = table.game, table.round
    refuse_unless_open(table)
    if game.seats[seat].down and not game.rules.down_may_take:
        raise illegal("down_may_not_take")
    if round_.window is not None:
        table.add(e.ClaimsClosed("taken"))
    table.add(e.CardDrawn(seat, "discard", round_.pile[-1].card, len(round_.stock)))


def refuse_unless_open(table: Unfolding) -> None:
    """Refuses what needs an open discard, where none is."""
    round_ = table.round
    if not round_.discard_open:
        protected = bool(round_.pile) and round_.pile[-1].protected
        raise illegal("protected_discard" if protected else "discard_not_open")
