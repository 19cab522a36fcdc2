"""`evolve` records an event in the state. It judges nothing and reads no rule, so an old stream never breaks."""

from collections.abc import Iterable
from functools import reduce
from typing import assert_never

from msgspec.structs import replace

from domain import events as e
from domain.cards import Card, Hand, in_deck_order, without
from domain.meld import Placed
from domain.state import Discarded, Game, Result, Round, Seat, State, Turn, Unopened, Window


def fold(recorded: Iterable[e.Event], state: State | None = None) -> State:
    """Records events one after the other, from the first or on top of a state."""
    return reduce(evolve, recorded, state or Unopened())


def evolve(state: State, event: e.Event) -> State:
    """Gives the state after the event; its version is one higher.

    Errors: TypeError for a stream that is not one game's whole story (a defect, never a player's fault).
    """
    if isinstance(event, e.GameOpened):
        return _opened(event)
    if not isinstance(state, Game):
        raise TypeError("the first event of a game is GameOpened")
    game = replace(state, version=state.version + 1)
    match event:
        case e.SeatChanged():
            return _seat_changed(game, event)
        case e.NoncesAsked():
            return replace(game, nonces_asked_at=game.version)
        case e.NonceRevealed(seat, nonce):
            return _with_seat(game, seat, nonce=nonce)
        case e.NoncesDropped(emptied):
            kept = tuple(
                Seat() if number in emptied else replace(seat, nonce_commitment=None, nonce=None)
                for number, seat in enumerate(game.seats)
            )
            return replace(game, seats=kept, nonces_asked_at=None)
        case e.GameStarted(nonces):
            return replace(game, status="playing", nonces=nonces, nonces_asked_at=None)
        case e.RoundDealt():
            return _dealt(game, event)
        case e.RoundScored(_, totals, contracts):
            seats = tuple(
                replace(seat, score=total, contract=contract)
                for seat, total, contract in zip(game.seats, totals, contracts, strict=True)
            )
            return replace(game, seats=seats, round=replace(_round(game), scored=True))
        case e.GameFinished(winners, totals):
            return replace(game, status="finished", result=Result(winners, totals))
        case _:
            return _in_round(game, _round(game), event)


RoundEvent = (
    e.TurnBegan | e.CardDrawn | e.DrawDeclined | e.DrawSkipped | e.BuyRequested | e.Passed | e.CardBought
    | e.ClaimsClosed | e.DiscardOpened | e.ShanghaiCalled | e.FalseCalled | e.MeldsLaid | e.CardsLaidOff
    | e.WildSwapped | e.SwapOffered | e.SwapDeclined | e.CardDiscarded | e.TurnEnded | e.StockRenewed | e.RoundEnded
)  # fmt: skip


def _in_round(game: Game, round_: Round, event: RoundEvent) -> Game:
    match event:
        case e.TurnBegan():
            for seat in event.skipped:
                game = _with_seat(game, seat, skip="has_missed")
            return replace(game, round=_turn_began(round_, event, game.version))
        case e.CardDrawn():
            return _drawn(game, round_, event)
        case e.DrawDeclined():
            window = round_.window or Window(game.version, ())
            return replace(game, round=replace(round_, window=replace(window, declined=True)))
        case e.DrawSkipped():
            return replace(game, round=_playing(round_, game.version))
        case e.BuyRequested(seat, _):
            return replace(game, round=replace(round_, window=_answered(round_, seat, buys=True)))
        case e.Passed(seat, rest_of_round):
            game = replace(game, round=replace(round_, window=_answered(round_, seat, buys=False)))
            return _with_seat(game, seat, passes_round=True) if rest_of_round else game
        case e.CardBought():
            return _bought(game, round_, event)
        case e.ClaimsClosed():
            return replace(game, round=replace(round_, window=None, discard_open=False))
        case e.DiscardOpened(_, claimants):
            return replace(game, round=_asked_to_draw(round_, game.version, claimants, discard_open=True))
        case e.ShanghaiCalled():
            return _called(game, round_, event)
        case e.FalseCalled():
            return _false_called(game, round_, event)
        case e.MeldsLaid(seat, melds):
            cards = [placed.card for meld in melds for placed in meld.cards]
            laid = replace(round_, melds=round_.melds + melds, now=replace(round_.now, laid_down=True))
            return _with_hand(_progressed(game, laid), seat, less=cards, down=True)
        case e.CardsLaidOff(seat, meld_id, placed, _, meld):
            cards = [card.card for card in placed]
            now = round_.now if round_.now.owed not in cards else replace(round_.now, owed=None, owed_from=None)
            laid = replace(_with_meld(round_, meld_id, meld), now=now)
            return _with_hand(_progressed(game, laid), seat, less=cards)
        case e.WildSwapped():
            return _swapped(game, round_, event)
        case e.CardDiscarded(seat, card, declared):
            pile = (*_covered(round_.pile), Discarded(card, seat, protected=declared))
            game = _with_hand(replace(game, round=replace(round_, pile=pile)), seat, less=[card], skip="free")
            return game if event.skip is None else _with_seat(game, event.skip, skip="will_miss")
        case e.TurnEnded(seat):
            return _with_seat(game, seat, skip="free")
        case e.SwapOffered(seat):
            return _offered(game, round_, seat)
        case e.SwapDeclined():
            return _offered(game, round_, None)
        case e.StockRenewed(_, stock, kept):
            pile = round_.pile[-kept:]
            return replace(game, round=replace(round_, stock=stock, pile=pile, renewals=round_.renewals + 1))
        case e.RoundEnded(seat):
            ended = replace(round_, step="scoring", window=None, discard_open=False, now=Turn(), went_out=seat)
            return replace(game, round=ended)
        case _:
            assert_never(event)


def _opened(event: e.GameOpened) -> Game:
    return Game(
        version=1,
        game_id=event.game_id,
        rules=event.rules,
        pace=event.pace,
        commitment=event.commitment,
        opened_by=event.opened_by,
        visibility=event.visibility,
        spectators=event.spectators,
        seats=(Seat(),) * event.seat_count,
    )


def _dealt(game: Game, event: e.RoundDealt) -> Game:
    seats = tuple(
        replace(seat, hand=in_deck_order(hand), down=False, buys=0, passes_round=False, skip="free")
        for seat, hand in zip(game.seats, event.hands, strict=True)
    )
    pile = () if event.upcard is None else (Discarded(event.upcard, None),)
    round_ = Round(event.number, event.contracts, event.dealer, event.secret, event.stock, pile)
    first_dealer = event.dealer if game.first_dealer is None else game.first_dealer
    return replace(game, seats=seats, round=round_, first_dealer=first_dealer)


def _turn_began(round_: Round, event: e.TurnBegan, version: int) -> Round:
    counted = replace(round_, turn=event.seat, idle_turns=round_.idle_turns + 1, stale_turns=round_.stale_turns + 1)
    if event.step == "draw":
        return _asked_to_draw(counted, version, event.claimants, discard_open=event.discard_open)
    return replace(_playing(counted, version), now=Turn(discard_only=True))


def _asked_to_draw(round_: Round, version: int, claimants: tuple[int, ...], *, discard_open: bool) -> Round:
    return replace(
        round_,
        step="draw",
        discard_open=discard_open,
        window=Window(version, claimants) if claimants else None,
        now=Turn(),
        asked_at=version,
        clock_at=version,
    )


def _playing(round_: Round, version: int) -> Round:
    return replace(round_, step="play", discard_open=False, window=None, now=Turn(), asked_at=version, clock_at=version)


def _drawn(game: Game, round_: Round, event: e.CardDrawn) -> Game:
    taken = event.source == "discard"
    playing = replace(
        _playing(round_, game.version),
        stock=round_.stock if taken else round_.stock[1:],
        pile=round_.pile[:-1] if taken else round_.pile,
        now=Turn(drawn=event.card, taken=taken),
        idle_turns=0,
        stale_turns=round_.stale_turns if taken else 0,
    )
    return _with_hand(replace(game, round=playing), event.seat, more=[event.card])


def _answered(round_: Round, seat: int, *, buys: bool) -> Window:
    window = round_.window or Window(round_.asked_at, ())
    asked = tuple(other for other in window.asked if other != seat)
    return replace(window, asked=asked, buys=(*window.buys, seat) if buys else window.buys)


def _bought(game: Game, round_: Round, event: e.CardBought) -> Game:
    after = replace(
        round_,
        pile=round_.pile[:-1],
        stock=round_.stock[len(event.penalty_cards) :],
        idle_turns=0,
        stale_turns=0 if event.penalty_cards else round_.stale_turns,
    )
    seat = game.seats[event.seat]
    return _with_hand(
        replace(game, round=after),
        event.seat,
        more=[event.card, *event.penalty_cards],
        buys=seat.buys + 1,
        buys_in_game=seat.buys_in_game + 1,
    )


def _false_called(game: Game, round_: Round, event: e.FalseCalled) -> Game:
    """The caller has had its say: the player in turn is asked anew, anybody else no more."""
    if event.seat == round_.turn:
        round_ = replace(round_, asked_at=game.version, now=replace(round_.now, false_called=True))
    else:
        round_ = replace(round_, window=_answered(round_, event.seat, buys=False))
    stock = round_.stock[len(event.penalty_cards) :]
    return _with_hand(replace(game, round=replace(round_, stock=stock)), event.seat, more=event.penalty_cards)


def _offered(game: Game, round_: Round, seat: int | None) -> Game:
    """Asks a seat about the wilds on the table, or after the last one the player in turn again."""
    now = replace(round_.now, offered=seat)
    return replace(game, round=replace(round_, now=now, asked_at=game.version, clock_at=game.version))


def _seat_changed(game: Game, event: e.SeatChanged) -> Game:
    seat = event.seat
    game = _with_seat(
        game,
        seat,
        controller=event.controller,
        player_id=event.player_id,
        level=event.level,
        passes_round=False,
        out=event.reason == "out",
        nonce_commitment=event.nonce_commitment or game.seats[seat].nonce_commitment,
    )
    window = None if game.round is None else game.round.window
    if event.reason != "out" or game.round is None or window is None:
        return game
    left = replace(
        window,
        asked=tuple(other for other in window.asked if other != seat),
        buys=tuple(other for other in window.buys if other != seat),
    )
    return replace(game, round=replace(game.round, window=left))


def _called(game: Game, round_: Round, event: e.ShanghaiCalled) -> Game:
    """The card lies on its meld, the penalty card has moved, and the player in turn is asked again: stock only."""
    from_stock = event.penalty_card is not None and event.from_seat is None
    laid = _asked_to_draw(_with_meld(round_, event.meld_id, event.cards), game.version, (), discard_open=False)
    back = [event.card] if event.taken_back else []
    after = replace(
        laid,
        pile=round_.pile[:-1],
        stock=round_.stock[1:] if from_stock else round_.stock,
        picks=round_.picks + (event.from_seat is not None),
    )
    game = _progressed(game, after)
    penalty = [] if event.penalty_card is None else [event.penalty_card]
    if event.from_seat is not None:
        game = _with_hand(game, event.from_seat, less=penalty)
    return game if event.to_seat is None else _with_hand(game, event.to_seat, more=[*back, *penalty])


def _swapped(game: Game, round_: Round, event: e.WildSwapped) -> Game:
    owed = (event.wild, event.meld_id) if event.owed else (None, None)
    now = replace(round_.now, owed=owed[0], owed_from=owed[1], offered=None)
    game = _progressed(game, replace(_with_meld(round_, event.meld_id, event.meld), now=now))
    return _with_hand(game, event.seat, less=[event.card], more=[event.wild] if event.to_hand else [])


def _progressed(game: Game, round_: Round) -> Game:
    """A card was laid: the lap is not stale, and the player in turn has a new decision with new options."""
    return replace(game, round=replace(round_, asked_at=game.version, stale_turns=0))


def _with_meld(round_: Round, meld_id: str, cards: tuple[Placed, ...]) -> Round:
    melds = tuple(replace(meld, cards=cards) if meld.meld_id == meld_id else meld for meld in round_.melds)
    return replace(round_, melds=melds)


def _covered(pile: tuple[Discarded, ...]) -> tuple[Discarded, ...]:
    """A declared card is ordinary once it has been covered."""
    return (*pile[:-1], replace(pile[-1], protected=False)) if pile and pile[-1].protected else pile


def _with_hand(
    game: Game, seat: int, *, less: Iterable[Card] = (), more: Iterable[Card] = (), **changes: object
) -> Game:
    left = without(game.seats[seat].hand, less)
    if left is None:
        raise TypeError("a recorded card left a hand that did not hold it")
    more = tuple(more)
    hand: Hand = in_deck_order((*left, *more)) if more else left
    return _with_seat(game, seat, hand=hand, **changes)


def _with_seat(game: Game, seat: int, **changes: object) -> Game:
    seats = game.seats
    return replace(game, seats=(*seats[:seat], replace(seats[seat], **changes), *seats[seat + 1 :]))


def _round(game: Game) -> Round:
    if game.round is None:
        raise TypeError("no round has been dealt")
    return game.round
