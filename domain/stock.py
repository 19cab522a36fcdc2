"""Drawing from the stock, and renewing it from the pile."""

from domain import events as e
from domain.cards import Card
from domain.luck import shuffled, words
from domain.state import Game, Round
from domain.unfolding import Unfolding


def stock_holds(table: Unfolding, count: int, *, leaving: bool = False) -> int:
    """Makes the stock hold `count` cards if it can, renewing it once; gives how many of them it holds.

    leaving: the top of the pile is on its way to a buyer or a meld, so the card below it is the one that stays.
    """
    round_, rules = table.round, table.game.rules.stock_out
    kept = _kept(leaving=leaving)
    if len(round_.stock) < count and len(round_.pile) > kept and round_.renewals < rules.max_renewals:
        old = tuple(discarded.card for discarded in round_.pile[:-kept])
        fresh = old if rules.how == "turn_over" else _mixed(table, old)
        table.add(e.StockRenewed(rules.how, round_.stock + fresh, kept))
    return min(count, len(table.round.stock))


def most_to_draw(game: Game, round_: Round, *, leaving: bool = False) -> int:
    """Counts the cards that could be drawn from the stock, those of one renewal included."""
    more = len(round_.pile) - _kept(leaving=leaving) if round_.renewals < game.rules.stock_out.max_renewals else 0
    return len(round_.stock) + max(0, more)


def _kept(*, leaving: bool) -> int:
    """Gives how many cards of the pile a renewal leaves: its top, and a card that is about to go."""
    return 2 if leaving else 1


def _mixed(table: Unfolding, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    game, round_ = table.game, table.round
    label = f"renew/{round_.renewals + 1}"
    return shuffled(cards, words(bytes.fromhex(round_.secret), game.game_id, round_.number, game.nonces, label))


def draw_from_stock(table: Unfolding) -> None:
    """Carries out the draw of the player in turn; where no card can be had, the rules for an empty stock decide."""
    seat = table.round.turn
    if stock_holds(table, 1):
        stock = table.round.stock
        table.add(e.CardDrawn(seat, "stock", stock[0], len(stock) - 1))
        return
    rules = table.game.rules.stock_out
    if table.round.renewals >= rules.max_renewals or rules.both_empty == "end_round":
        end_round(table, None, "exhausted")
    else:
        table.add(e.DrawSkipped(seat))


def end_round(table: Unfolding, seat: int | None, reason: e.RoundEnd) -> None:
    """Opens all hands and the round's secret; `seat` is who went out."""
    hands = tuple(other.hand for other in table.game.seats)
    table.add(e.RoundEnded(seat, reason, hands, table.round.secret))
