"""What the events of a round leave on the table, in hand and in the window.

An event costs little more than replacing the game, its round and a seat, 0.2 µs each. Changes are not handed on as
keyword arguments, which would cost four times that.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from domain import events as e
from domain.cards import Card, Hand, in_deck_order, with_card, without
from domain.meld import Meld, Placed
from domain.state import Discarded, Game, Round, Seat, Turn, Window


def card_drawn(game: Game, event: e.CardDrawn) -> Game:
    """The player in turn holds the card, from the pile or the stock, and plays on."""
    round_, seat = _playing(game), game.seats[event.seat]
    if event.source == "discard":
        round_ = replace(round_, pile=round_.pile[:-1], now=Turn(event.card, taken=True), idle_turns=0)
    else:
        round_ = replace(round_, stock=round_.stock[1:], now=Turn(event.card), idle_turns=0, stale_turns=0)
    return _next(game, round_, seats_with(game.seats, event.seat, replace(seat, hand=with_card(seat.hand, event.card))))


def draw_skipped(game: Game) -> Game:
    """The player in turn plays on without a card."""
    return _next(game, _playing(game))


def card_discarded(game: Game, event: e.CardDiscarded) -> Game:
    """The card lies on the pile; whoever it skips will miss a turn."""
    round_, seat = _round(game), game.seats[event.seat]
    pile = (*_covered(round_.pile), Discarded(event.card, event.seat, event.declared))
    seats = seats_with(game.seats, event.seat, replace(seat, hand=_left(seat, (event.card,)), skip="free"))
    if event.skip is not None:
        seats = seats_with(seats, event.skip, replace(seats[event.skip], skip="will_miss"))
    return _next(game, replace(round_, pile=pile), seats)


def _covered(pile: tuple[Discarded, ...]) -> tuple[Discarded, ...]:
    """A declared card is ordinary once it has been covered."""
    return (*pile[:-1], replace(pile[-1], protected=False)) if pile and pile[-1].protected else pile


def turn_ended(game: Game, event: e.TurnEnded) -> Game:
    """The seat has had its turn."""
    return _next(game, _round(game), seats_with(game.seats, event.seat, replace(game.seats[event.seat], skip="free")))


def turn_began(game: Game, event: e.TurnBegan) -> Game:
    """The seat is asked to draw, the claimants about the open discard; the turn counts as idle until it is not."""
    if event.step == "draw":
        round_ = _asked_to_draw(game, event.claimants, discard_open=event.discard_open)
    else:
        round_ = replace(_playing(game), now=Turn(discard_only=True))
    idle, stale = round_.idle_turns + 1, round_.stale_turns + 1
    seats = game.seats
    for seat in event.skipped:
        seats = seats_with(seats, seat, replace(seats[seat], skip="has_missed"))
    return _next(game, replace(round_, turn=event.seat, idle_turns=idle, stale_turns=stale), seats)


def discard_opened(game: Game, event: e.DiscardOpened) -> Game:
    """The card below a bought one is asked about."""
    return _next(game, _asked_to_draw(game, event.claimants, discard_open=True))


def draw_declined(game: Game) -> Game:
    """The player in turn has left the open discard to the others."""
    round_ = _round(game)
    window = round_.window or Window(game.version + 1, ())
    return _next(game, replace(round_, window=replace(window, declined=True)))


def passed(game: Game, event: e.Passed) -> Game:
    """The seat is asked no more, about this discard or about any of the round."""
    round_, seats = _round(game), game.seats
    if event.rest_of_round:
        seats = seats_with(game.seats, event.seat, replace(seats[event.seat], passes_round=True))
    return _next(game, replace(round_, window=_answered(round_, event.seat, buys=False)), seats)


def buy_requested(game: Game, event: e.BuyRequested) -> Game:
    """The seat is asked no more; its buy waits for the window's end."""
    round_ = _round(game)
    return _next(game, replace(round_, window=_answered(round_, event.seat, buys=True)))


def _answered(round_: Round, seat: int, *, buys: bool) -> Window:
    window = round_.window or Window(round_.asked_at, ())
    asked = tuple([other for other in window.asked if other != seat])
    return replace(window, asked=asked, buys=(*window.buys, seat) if buys else window.buys)


def claims_closed(game: Game) -> Game:
    """Nobody is asked about the discard, and nobody can take it."""
    return _next(game, replace(_round(game), window=None, discard_open=False))


def card_bought(game: Game, event: e.CardBought) -> Game:
    """The buyer holds the card and its penalty cards, and has one buy more."""
    round_, seat = _round(game), game.seats[event.seat]
    bought = replace(
        round_,
        pile=round_.pile[:-1],
        stock=round_.stock[len(event.penalty_cards) :],
        idle_turns=0,
        stale_turns=0 if event.penalty_cards else round_.stale_turns,
    )
    hand = in_deck_order((*seat.hand, event.card, *event.penalty_cards))
    buyer = replace(seat, hand=hand, buys=seat.buys + 1, buys_in_game=seat.buys_in_game + 1)
    return _next(game, bought, seats_with(game.seats, event.seat, buyer))


def stock_renewed(game: Game, event: e.StockRenewed) -> Game:
    """The pile but for its top is the stock now."""
    round_ = _round(game)
    renewed = replace(round_, stock=event.stock, pile=round_.pile[-event.kept :], renewals=round_.renewals + 1)
    return _next(game, renewed)


def melds_laid(game: Game, event: e.MeldsLaid) -> Game:
    """The seat is down with these melds."""
    round_, seat = _round(game), game.seats[event.seat]
    cards = [placed.card for meld in event.melds for placed in meld.cards]
    now = replace(round_.now, laid_down=True)
    laid = _laid(game, round_.melds + event.melds, now=now)
    return _next(game, laid, seats_with(game.seats, event.seat, replace(seat, hand=_left(seat, cards), down=True)))


def cards_laid_off(game: Game, event: e.CardsLaidOff) -> Game:
    """The meld is longer; a wild that was owed may be among its new cards."""
    now, seat = _round(game).now, game.seats[event.seat]
    cards = [placed.card for placed in event.cards]
    if now.owed in cards:
        now = replace(now, owed=None, owed_from=None)
    laid = _laid(game, _with_meld(game, event.meld_id, event.meld), now=now)
    return _next(game, laid, seats_with(game.seats, event.seat, replace(seat, hand=_left(seat, cards))))


def wild_swapped(game: Game, event: e.WildSwapped) -> Game:
    """The natural card lies in the wild's place; the wild is in hand, perhaps owed, or lies at an end of its run."""
    owed = (event.wild, event.meld_id) if event.owed else (None, None)
    now, seat = replace(_round(game).now, owed=owed[0], owed_from=owed[1], offered=None), game.seats[event.seat]
    hand = _left(seat, (event.card,))
    if event.to_hand:
        hand = with_card(hand, event.wild)
    laid = _laid(game, _with_meld(game, event.meld_id, event.meld), now=now)
    return _next(game, laid, seats_with(game.seats, event.seat, replace(seat, hand=hand)))


def swap_offered(game: Game, seat: int | None) -> Game:
    """A seat is asked about the wilds on the table, or after the last one the player in turn again."""
    round_, version = _round(game), game.version + 1
    now = replace(round_.now, offered=seat)
    return _next(game, replace(round_, now=now, asked_at=version, clock_at=version))


def shanghai_called(game: Game, event: e.ShanghaiCalled) -> Game:
    """The card lies on its meld, the penalty card has moved, and the player in turn is asked again: stock only."""
    round_ = _round(game)
    from_stock = event.penalty_card is not None and event.from_seat is None
    called = replace(
        _asked_to_draw(game, (), discard_open=False),
        melds=_with_meld(game, event.meld_id, event.cards),
        pile=round_.pile[:-1],
        stock=round_.stock[1:] if from_stock else round_.stock,
        picks=round_.picks + (event.from_seat is not None),
        stale_turns=0,
    )
    seats = game.seats
    penalty = () if event.penalty_card is None else (event.penalty_card,)
    if event.from_seat is not None:
        giver = seats[event.from_seat]
        seats = seats_with(seats, event.from_seat, replace(giver, hand=_left(giver, penalty)))
    if event.to_seat is not None:
        back = (event.card,) if event.taken_back else ()
        taker = seats[event.to_seat]
        hand = in_deck_order((*taker.hand, *back, *penalty))
        seats = seats_with(seats, event.to_seat, replace(taker, hand=hand))
    return _next(game, called, seats)


def false_called(game: Game, event: e.FalseCalled) -> Game:
    """The caller has had its say: the player in turn is asked anew, anybody else no more."""
    round_ = _round(game)
    if event.penalty_cards:
        stock = round_.stock[len(event.penalty_cards) :]
        round_ = replace(round_, stock=stock, idle_turns=0, stale_turns=0)
    if event.seat == round_.turn:
        now = replace(round_.now, false_called=True)
        round_ = replace(round_, asked_at=game.version + 1, now=now)
    else:
        round_ = replace(round_, window=_answered(round_, event.seat, buys=False))
    caller = game.seats[event.seat]
    hand = in_deck_order((*caller.hand, *event.penalty_cards))
    return _next(game, round_, seats_with(game.seats, event.seat, replace(caller, hand=hand)))


def round_dealt(game: Game, event: e.RoundDealt) -> Game:
    """Every seat has its hand; the stock and perhaps an upcard lie on the table."""
    seats = tuple(
        replace(seat, hand=in_deck_order(hand), down=False, buys=0, passes_round=False, skip="free")
        for seat, hand in zip(game.seats, event.hands, strict=True)
    )
    pile = () if event.upcard is None else (Discarded(event.upcard, None),)
    round_ = Round(event.number, event.contracts, event.dealer, event.secret, event.stock, pile)
    first_dealer = event.dealer if game.first_dealer is None else game.first_dealer
    return replace(game, version=game.version + 1, seats=seats, round=round_, first_dealer=first_dealer)


def round_ended(game: Game, event: e.RoundEnded) -> Game:
    """Nobody is asked anything; the hands wait to be counted."""
    over = replace(_round(game), step="scoring", window=None, discard_open=False, now=Turn(), went_out=event.seat)
    return _next(game, over)


def round_scored(game: Game, event: e.RoundScored) -> Game:
    """Each seat has its new total and its next contract."""
    seats = tuple(
        replace(seat, score=total, contract=contract)
        for seat, total, contract in zip(game.seats, event.totals, event.contracts, strict=True)
    )
    return _next(game, replace(_round(game), scored=True), seats)


def seats_with(seats: tuple[Seat, ...], number: int, seat: Seat) -> tuple[Seat, ...]:
    """Gives the seats with this one in its place."""
    changed = list(seats)
    changed[number] = seat
    return tuple(changed)


def _round(game: Game) -> Round:
    if game.round is None:
        raise TypeError("no round has been dealt")
    return game.round


def _next(game: Game, round_: Round, seats: tuple[Seat, ...] | None = None) -> Game:
    """Gives the game one version on, with this round; the seats are as before where none are given."""
    return replace(game, version=game.version + 1, round=round_, seats=game.seats if seats is None else seats)


def _asked_to_draw(game: Game, claimants: tuple[int, ...], *, discard_open: bool) -> Round:
    version = game.version + 1
    return replace(
        _round(game),
        step="draw",
        discard_open=discard_open,
        window=Window(version, claimants) if claimants else None,
        now=Turn(),
        asked_at=version,
        clock_at=version,
    )


def _playing(game: Game) -> Round:
    version = game.version + 1
    return replace(
        _round(game),
        step="play",
        discard_open=False,
        window=None,
        now=Turn(),
        asked_at=version,
        clock_at=version,
    )


def _laid(game: Game, melds: tuple[Meld, ...], *, now: Turn) -> Round:
    """A card was laid: the lap is not stale, and the player in turn has a new decision with new options."""
    return replace(_round(game), melds=melds, now=now, asked_at=game.version + 1, stale_turns=0)


def _with_meld(game: Game, meld_id: str, cards: tuple[Placed, ...]) -> tuple[Meld, ...]:
    return tuple([replace(meld, cards=cards) if meld.meld_id == meld_id else meld for meld in _round(game).melds])


def _left(seat: Seat, cards: Iterable[Card]) -> Hand:
    """Gives a seat's hand without cards that have left it."""
    left = without(seat.hand, cards)
    if left is None:
        raise TypeError("a recorded card left a hand that did not hold it")
    return left
