"""The open discard: who is asked about it, buying, passing, calling Shanghai, and how the window closes."""

from domain import events as e
from domain.cards import Card, in_deck_order
from domain.commands import Buy, CallShanghai, Pass
from domain.lay_off import lay_off
from domain.luck import below, words
from domain.meld import Placed, added_cards
from domain.refusals import illegal
from domain.rights import meld_on_table
from domain.seating import seats_after
from domain.state import Discarded, Game, Round, Window
from domain.stock import draw_from_stock, end_round, most_to_draw, stock_holds
from domain.unfolding import Unfolding
from domain.welcome import fits, fitting_cards


def top_is_open(game: Game, round_: Round) -> bool:
    """Tells whether the top of the pile is an open discard when a turn begins."""
    if not round_.pile:
        return False
    top = round_.pile[-1]
    return not top.protected and top.card not in game.rules.never_taken


def claimants(game: Game, round_: Round, turn: int) -> tuple[int, ...]:
    """Lists the seats with a right to the open top, the nearest after `turn` first."""
    return _claimants(game, round_, seats_after(game, turn))


def _claimants(game: Game, round_: Round, others: tuple[int, ...]) -> tuple[int, ...]:
    top, buyable = round_.pile[-1], game.rules.buy.allowed
    callable_ = fits_somewhere(game, round_, top.card)
    if not (buyable or callable_):
        return ()
    asked = [seat for seat in others if not game.seats[seat].passes_round]
    return tuple(
        [
            seat
            for seat in asked
            if (buyable and may_buy(game, round_, seat, top)) or (callable_ and may_call(game, seat, top))
        ]
    )


def claimants_of_turn(game: Game, round_: Round, turn: int) -> tuple[int, ...]:
    """Lists the seats that are asked about the open top when a turn begins.

    Between two players every discard is the other's to take in turn: only the first upcard is asked about.
    """
    others = seats_after(game, turn)
    if len(others) == 1 and round_.pile[-1].by is not None:
        return ()
    return _claimants(game, round_, others)


def may_buy(game: Game, round_: Round, seat: int, top: Discarded) -> bool:
    """Tells whether the seat, not in turn, may buy this card: limits, being down, its own discard."""
    rules, buyer = game.rules.buy, game.seats[seat]
    if not rules.allowed or top.by == seat or (buyer.down and not rules.down_may_buy):
        return False
    if rules.when_short == "not_offered" and most_to_draw(game, round_, leaving=True) < penalty_of(game, round_):
        return False
    return not limit_reached(game, seat)


def limit_reached(game: Game, seat: int) -> bool:
    """Tells whether the seat has used all its buys of the round or of the game."""
    rules, buyer = game.rules.buy, game.seats[seat]
    return (rules.per_round is not None and buyer.buys >= rules.per_round) or (
        rules.per_game is not None and buyer.buys_in_game >= rules.per_game
    )


def may_call(game: Game, seat: int, top: Discarded) -> bool:
    """Tells whether the seat may call this card at all; whether it fits is another question.

    A card that would be taken back needs a discarder who still plays.
    """
    call = game.rules.shanghai.call
    if call == "taken_back" and (top.by is None or game.seats[top.by].out):
        return False
    return call != "none" and top.by != seat


def fits_somewhere(game: Game, round_: Round, card: Card) -> bool:
    """Tells whether any meld on the table takes the card."""
    return card in fitting_cards(round_.melds, game.rules)


def penalty_of(game: Game, round_: Round) -> int:
    """Gives how many cards a buyer draws besides, in this round."""
    penalty = game.rules.buy.penalty
    return penalty[min(round_.number, len(penalty)) - 1]


def buy(table: Unfolding, seat: int, move: Buy) -> None:
    """Hears a buy; it is carried out when the window closes."""
    game, round_ = table.game, table.round
    top = round_.pile[-1]
    if move.card != top.card:
        raise illegal("stale_discard")
    if top.by == seat:
        raise illegal("own_discard")
    if limit_reached(game, seat):
        raise illegal("buy_limit_reached")
    if not may_buy(game, round_, seat, top):
        raise illegal("buying_not_allowed")
    table.add(e.BuyRequested(seat, move.card))
    settle(table)


def pass_claim(table: Unfolding, seat: int, move: Pass) -> None:
    """Hears a pass."""
    table.add(e.Passed(seat, move.rest_of_round))
    settle(table)


def settle(table: Unfolding) -> None:
    """Closes the window where the player in turn has declined and nobody can change the outcome any more."""
    window = table.round.window
    if window is None or not window.declined or table.game.pace.claims == "full":
        return
    if not window.asked or not _can_change(table.game, table.round, window):
        close(table, "answered")


def _can_change(game: Game, round_: Round, window: Window) -> bool:
    """Tells whether a seat not heard yet could still call the card, or buy it before the best pending buy."""
    top = round_.pile[-1]
    if fits_somewhere(game, round_, top.card) and any(may_call(game, seat, top) for seat in window.asked):
        return True
    if not window.buys:
        return True
    if game.rules.buy.priority == "first_call":
        return False
    best = best_buyer(game, round_, window)
    order = seats_after(game, round_.turn)
    return any(order.index(seat) < order.index(best) for seat in window.asked)


def best_buyer(game: Game, round_: Round, window: Window) -> int:
    """Picks the pending buy that is carried out: the first accepted, or the nearest seat after the player in turn."""
    if game.rules.buy.priority == "first_call":
        return window.buys[0]
    return min(window.buys, key=seats_after(game, round_.turn).index)


def close(table: Unfolding, reason: e.ClaimsEnd) -> None:
    """Carries out the best buy, then the draw that the player in turn had chosen, unless a card below is open now."""
    game, round_ = table.game, table.round
    assert round_.window is not None
    buyer = best_buyer(game, round_, round_.window) if round_.window.buys else None
    table.add(e.ClaimsClosed(reason))
    if buyer is not None:
        _sell(table, buyer)
        if game.rules.uncovered == "reopens" and top_is_open(table.game, table.round):
            below_ = table.round.pile[-1].card
            table.add(e.DiscardOpened(below_, claimants(table.game, table.round, round_.turn)))
            return
    draw_from_stock(table)


def _sell(table: Unfolding, buyer: int) -> None:
    penalty = stock_holds(table, penalty_of(table.game, table.round), leaving=True)
    round_ = table.round
    stock_count = len(round_.stock) - penalty
    table.add(e.CardBought(buyer, round_.pile[-1].card, round_.stock[:penalty], stock_count))


def call_shanghai(table: Unfolding, seat: int, move: CallShanghai) -> None:
    """Carries out a call at once; pending buys are void, and the player in turn draws from the stock.

    A draw that was chosen already follows by itself.
    """
    game, round_ = table.game, table.round
    top, declined = round_.pile[-1], round_.window is not None and round_.window.declined
    if top.by == seat:
        raise illegal("own_discard")
    if not may_call(game, seat, top):
        raise illegal("calling_not_allowed")
    meld = meld_on_table(round_, move.meld_id)
    if not fits(top.card, meld, game.rules):
        _call_falsely(table, seat, meld.meld_id)
        return
    laid = lay_off(meld, (Placed(top.card, move.as_),), move.end, game.rules)
    taken_back = game.rules.shanghai.call == "taken_back"
    if round_.window is not None:
        table.add(e.ClaimsClosed("called"))
    from_seat, to_seat, penalty = _call_penalty(table, seat, top.by)
    table.add(
        e.ShanghaiCalled(
            seat=seat,
            meld_id=meld.meld_id,
            card=top.card,
            end=move.end,
            from_seat=from_seat,
            to_seat=to_seat,
            penalty_card=penalty,
            stock_count=len(table.round.stock) - (from_seat is None and penalty is not None),
            cards=meld.cards if taken_back else laid.cards,
            as_=None if taken_back else added_cards(meld.cards, laid.cards)[0].as_,
            taken_back=taken_back,
        )
    )
    if not table.game.seats[seat].hand:
        end_round(table, seat, "out")
    elif declined:
        draw_from_stock(table)


def _call_falsely(table: Unfolding, seat: int, meld_id: str) -> None:
    """Lets the caller draw a card, where the rules take false calls; in turn that happens once at the most."""
    round_ = table.round
    again = seat == round_.turn and round_.now.false_called
    if table.game.rules.shanghai.false_call == "refused" or again:
        raise illegal("false_call")
    penalty = stock_holds(table, 1)
    stock = table.round.stock
    table.add(e.FalseCalled(seat, meld_id, round_.pile[-1].card, stock[:penalty], len(stock) - penalty))
    settle(table)


def _call_penalty(table: Unfolding, caller: int, culprit: int | None) -> tuple[int | None, int | None, Card | None]:
    """Gives whose hand the penalty card leaves (None: the stock), who gets it, and the card."""
    call = table.game.rules.shanghai.call
    if call != "culprit_draws":
        drawn = stock_holds(table, 1, leaving=True)
        penalty = table.round.stock[0] if drawn else None
        if call == "taken_back":
            return None, culprit, penalty
        return None, caller if drawn else None, penalty
    hand = table.game.seats[caller].hand
    if culprit is None or table.game.seats[culprit].out or not hand:
        return None, None, None
    return caller, culprit, _picked(table, in_deck_order(hand))


def _picked(table: Unfolding, hand: tuple[Card, ...]) -> Card:
    game, round_ = table.game, table.round
    label = f"pick/{round_.picks + 1}"
    stream = words(bytes.fromhex(round_.secret), game.game_id, round_.number, game.nonces, label)
    return hand[below(stream, len(hand))]
