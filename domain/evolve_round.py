"""What the events of a round leave on the table, in hand and in the window.

The game and its round are changed in place, which costs a third of replacing them; `game.version` is the event's own
number already. Seats, windows and all that is smaller are values, replaced whole.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from domain import events as e
from domain.cards import Card, Hand, in_deck_order, with_card, without
from domain.meld import Meld, Placed
from domain.state import Discarded, Game, Round, Seat, Turn, Window


def card_drawn(game: Game, event: e.CardDrawn) -> None:
    """The player in turn holds the card, from the pile or the stock, and plays on."""
    round_, seat = _playing(game), game.seats[event.seat]
    if event.source == "discard":
        round_.pile = round_.pile[:-1]
        round_.now = Turn(event.card, True)  # noqa: FBT003  a keyword costs as much again
    else:
        round_.stock = round_.stock[1:]
        round_.now = Turn(event.card)
        round_.stale_turns = 0
    round_.idle_turns = 0
    seat_is(game, event.seat, replace(seat, hand=with_card(seat.hand, event.card)))


def draw_skipped(game: Game, _: e.DrawSkipped) -> None:
    """The player in turn plays on without a card."""
    _playing(game)


def card_discarded(game: Game, event: e.CardDiscarded) -> None:
    """The card lies on the pile; whoever it skips will miss a turn."""
    round_, seat = _round(game), game.seats[event.seat]
    round_.pile = (*_covered(round_.pile), Discarded(event.card, event.seat, event.declared))
    seat_is(game, event.seat, replace(seat, hand=_left(seat, (event.card,)), skip="free"))
    if event.skip is not None:
        seat_is(game, event.skip, replace(game.seats[event.skip], skip="will_miss"))


def _covered(pile: tuple[Discarded, ...]) -> tuple[Discarded, ...]:
    """A declared card is ordinary once it has been covered."""
    return (*pile[:-1], replace(pile[-1], protected=False)) if pile and pile[-1].protected else pile


def turn_ended(game: Game, event: e.TurnEnded) -> None:
    """The seat has had its turn."""
    seat_is(game, event.seat, replace(game.seats[event.seat], skip="free"))


def turn_began(game: Game, event: e.TurnBegan) -> None:
    """The seat is asked to draw, the claimants about the open discard; the turn counts as idle until it is not."""
    if event.step == "draw":
        round_ = _asked_to_draw(game, event.claimants, discard_open=event.discard_open)
    else:
        round_ = _playing(game)
        round_.now = _DISCARD_ONLY
    round_.turn = event.seat
    round_.idle_turns += 1
    round_.stale_turns += 1
    for seat in event.skipped:
        seat_is(game, seat, replace(game.seats[seat], skip="has_missed"))


def turn_warned(game: Game, _: e.TurnWarned) -> None:
    """The player in turn has been warned; nothing else changes."""
    _round(game).is_warned = True


def discard_opened(game: Game, event: e.DiscardOpened) -> None:
    """The card below a bought one is asked about."""
    _asked_to_draw(game, event.claimants, discard_open=True)


def draw_declined(game: Game, _: e.DrawDeclined) -> None:
    """The player in turn has left the open discard to the others."""
    round_ = _round(game)
    round_.window = replace(round_.window or Window(game.version, ()), declined=True)


def passed(game: Game, event: e.Passed) -> None:
    """The seat is asked no more, about this discard or about any of the round."""
    if event.rest_of_round:
        seat_is(game, event.seat, replace(game.seats[event.seat], passes_round=True))
    _answered(_round(game), event.seat, buys=False)


def buy_requested(game: Game, event: e.BuyRequested) -> None:
    """The seat is asked no more; its buy waits for the window's end."""
    _answered(_round(game), event.seat, buys=True)


def _answered(round_: Round, seat: int, *, buys: bool) -> None:
    window = round_.window or Window(round_.asked_at, ())
    asked = tuple([other for other in window.asked if other != seat])
    round_.window = replace(window, asked=asked, buys=(*window.buys, seat) if buys else window.buys)


def claims_closed(game: Game, _: e.ClaimsClosed) -> None:
    """Nobody is asked about the discard, and nobody can take it."""
    round_ = _round(game)
    round_.window, round_.discard_open = None, False


def card_bought(game: Game, event: e.CardBought) -> None:
    """The buyer holds the card and its penalty cards, and has one buy more."""
    round_, seat = _round(game), game.seats[event.seat]
    round_.pile = round_.pile[:-1]
    round_.idle_turns = 0
    if event.penalty_cards:
        round_.stock = round_.stock[len(event.penalty_cards) :]
        round_.stale_turns = 0
    hand = in_deck_order((*seat.hand, event.card, *event.penalty_cards))
    seat_is(game, event.seat, replace(seat, hand=hand, buys=seat.buys + 1, buys_in_game=seat.buys_in_game + 1))


def stock_renewed(game: Game, event: e.StockRenewed) -> None:
    """The pile but for its top is the stock now."""
    round_ = _round(game)
    round_.stock, round_.pile = event.stock, round_.pile[-event.kept :]
    round_.renewals += 1


def melds_laid(game: Game, event: e.MeldsLaid) -> None:
    """The seat is down with these melds."""
    round_, seat = _round(game), game.seats[event.seat]
    cards = [placed.card for meld in event.melds for placed in meld.cards]
    round_.now = replace(round_.now, laid_down=True)
    _laid(game, round_.melds + event.melds)
    seat_is(game, event.seat, replace(seat, hand=_left(seat, cards), down=True))


def cards_laid_off(game: Game, event: e.CardsLaidOff) -> None:
    """The meld is longer; a wild that was owed may be among its new cards."""
    round_, seat = _round(game), game.seats[event.seat]
    cards = [placed.card for placed in event.cards]
    if round_.now.owed in cards:
        round_.now = replace(round_.now, owed=None, owed_from=None)
    _laid(game, _with_meld(round_, event.meld_id, event.meld))
    seat_is(game, event.seat, replace(seat, hand=_left(seat, cards)))


def wild_swapped(game: Game, event: e.WildSwapped) -> None:
    """The natural card lies in the wild's place; the wild is in hand, perhaps owed, or lies at an end of its run."""
    round_, seat = _round(game), game.seats[event.seat]
    owed = (event.wild, event.meld_id) if event.owed else (None, None)
    round_.now = replace(round_.now, owed=owed[0], owed_from=owed[1], offered=None)
    hand = _left(seat, (event.card,))
    if event.to_hand:
        hand = with_card(hand, event.wild)
    _laid(game, _with_meld(round_, event.meld_id, event.meld))
    seat_is(game, event.seat, replace(seat, hand=hand))


def swap_offered(game: Game, event: e.SwapOffered | e.SwapDeclined) -> None:
    """A seat is asked about the wilds on the table, or after the last one the player in turn again."""
    round_ = _round(game)
    round_.now = replace(round_.now, offered=event.seat if isinstance(event, e.SwapOffered) else None)
    round_.asked_at = round_.clock_at = game.version
    round_.is_warned = False


def shanghai_called(game: Game, event: e.ShanghaiCalled) -> None:
    """The card lies on its meld, the penalty card has moved, and the player in turn is asked again: stock only."""
    round_ = _asked_to_draw(game, (), discard_open=False)
    round_.melds = _with_meld(round_, event.meld_id, event.cards)
    round_.pile = round_.pile[:-1]
    round_.stale_turns = 0
    penalty = () if event.penalty_card is None else (event.penalty_card,)
    if event.from_seat is not None:
        round_.picks += 1
        giver = game.seats[event.from_seat]
        seat_is(game, event.from_seat, replace(giver, hand=_left(giver, penalty)))
    elif penalty:
        round_.stock = round_.stock[1:]
    if event.to_seat is not None:
        back = (event.card,) if event.taken_back else ()
        taker = game.seats[event.to_seat]
        seat_is(game, event.to_seat, replace(taker, hand=in_deck_order((*taker.hand, *back, *penalty))))


def false_called(game: Game, event: e.FalseCalled) -> None:
    """The caller has had its say: the player in turn is asked anew, anybody else no more."""
    round_ = _round(game)
    if event.penalty_cards:
        round_.stock = round_.stock[len(event.penalty_cards) :]
        round_.idle_turns = round_.stale_turns = 0
    if event.seat == round_.turn:
        round_.now = replace(round_.now, false_called=True)
        round_.asked_at = game.version
    else:
        _answered(round_, event.seat, buys=False)
    caller = game.seats[event.seat]
    seat_is(game, event.seat, replace(caller, hand=in_deck_order((*caller.hand, *event.penalty_cards))))


def round_dealt(game: Game, event: e.RoundDealt) -> None:
    """Every seat has its hand; the stock and perhaps an upcard lie on the table."""
    game.seats = tuple(
        replace(seat, hand=in_deck_order(hand), down=False, buys=0, passes_round=False, skip="free")
        for seat, hand in zip(game.seats, event.hands, strict=True)
    )
    pile = () if event.upcard is None else (Discarded(event.upcard, None),)
    game.round = Round(event.number, event.contracts, event.dealer, event.secret, event.stock, pile)
    if game.first_dealer is None:
        game.first_dealer = event.dealer


def round_ended(game: Game, event: e.RoundEnded) -> None:
    """Nobody is asked anything; the hands wait to be counted."""
    round_ = _round(game)
    round_.step, round_.window, round_.discard_open, round_.now = "scoring", None, False, _NOTHING_YET
    round_.went_out = event.seat


def round_scored(game: Game, event: e.RoundScored) -> None:
    """Each seat has its new total and its next contract."""
    game.seats = tuple(
        replace(seat, score=total, contract=contract)
        for seat, total, contract in zip(game.seats, event.totals, event.contracts, strict=True)
    )
    _round(game).scored = True


def seat_is(game: Game, number: int, seat: Seat) -> None:
    """Puts a seat in its place."""
    changed = list(game.seats)
    changed[number] = seat
    game.seats = tuple(changed)


def _round(game: Game) -> Round:
    if game.round is None:
        raise TypeError("no round has been dealt")
    return game.round


_NOTHING_YET, _DISCARD_ONLY = Turn(), Turn(discard_only=True)


def _asked_to_draw(game: Game, claimants: tuple[int, ...], *, discard_open: bool) -> Round:
    round_, version = _round(game), game.version
    round_.step, round_.discard_open, round_.now = "draw", discard_open, _NOTHING_YET
    round_.window = Window(version, claimants) if claimants else None
    round_.asked_at = round_.clock_at = version
    round_.is_warned = False
    return round_


def _playing(game: Game) -> Round:
    round_ = _round(game)
    round_.step, round_.discard_open, round_.now, round_.window = "play", False, _NOTHING_YET, None
    round_.asked_at = round_.clock_at = game.version
    round_.is_warned = False
    return round_


def _laid(game: Game, melds: tuple[Meld, ...]) -> None:
    """A card was laid: the lap is not stale, and the player in turn has a new decision with new options."""
    round_ = _round(game)
    round_.melds, round_.asked_at, round_.stale_turns = melds, game.version, 0


def _with_meld(round_: Round, meld_id: str, cards: tuple[Placed, ...]) -> tuple[Meld, ...]:
    return tuple([replace(meld, cards=cards) if meld.meld_id == meld_id else meld for meld in round_.melds])


def _left(seat: Seat, cards: Iterable[Card]) -> Hand:
    """Gives a seat's hand without cards that have left it."""
    left = without(seat.hand, cards)
    if left is None:
        raise TypeError("a recorded card left a hand that did not hold it")
    return left
