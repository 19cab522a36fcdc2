"""What one viewer may see of an event. Each kind's public fields are built up here; a hidden field is absent.

A seat sees its own cards, everybody else sees that cards moved. How an event looks never depends on when it is read.
"""

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from domain import events as e
from domain.cards import in_deck_order
from domain.shown import (
    BuyRequestedData,
    CardBoughtData,
    CardDiscardedData,
    CardDrawnData,
    CardsLaidOffData,
    ClaimsClosedData,
    DiscardOpenedData,
    DrawDeclinedData,
    DrawSkippedData,
    FalseCalledData,
    GameCancelledData,
    GameFinishedData,
    GameOpenedData,
    GameStartedData,
    MeldsLaidData,
    NonceRevealedData,
    NoncesAskedData,
    NoncesDroppedData,
    OperatorActedData,
    PassedData,
    RoundDealtData,
    RoundEndedData,
    RoundScoredData,
    SeatChangedData,
    ShanghaiCalledData,
    StockRenewedData,
    SwapDeclinedData,
    SwapOfferedData,
    TurnBeganData,
    TurnEndedData,
    TurnWarnedData,
    VisibleData,
    WildSwappedData,
)


def kind_of(event: e.Event) -> str:
    """Gives an event's public name, `card_drawn` for CardDrawn."""
    return KINDS[type(event)]


def seat_of(event: e.Event, viewer: int | None) -> int | None:
    """Gives the seat that the event is about; who passed is hidden from the others."""
    if isinstance(event, e.Passed):
        return event.seat if event.seat == viewer else None
    return getattr(event, "seat", None)


def visible_data(event: e.Event, viewer: int | None) -> VisibleData:
    """Shows an event to the seat `viewer`, or to a spectator. Names are filled in by the house."""
    match event:
        case e.GameOpened():
            # a rematch tells that its game is over, which some see late: the game itself shows it to who may know
            follows = None if event.spectators == "delayed" else event.rematch_of
            return GameOpenedData(event.rules, event.pace, event.commitment, event.seat_count, event.hints, follows)
        case e.SeatChanged():
            return SeatChangedData(None, event.player_id, event.controller, event.level, event.reason)
        case e.NoncesAsked(commitments):
            return NoncesAskedData(commitments)
        case e.NonceRevealed():
            return NonceRevealedData()
        case e.NoncesDropped(seats):
            return NoncesDroppedData(seats)
        case e.GameStarted(nonces):
            return GameStartedData(nonces)
        case e.RoundDealt():
            return _round_dealt(event, viewer)
        case e.TurnBegan():
            return TurnBeganData(event.step, event.discard_open, len(event.claimants), event.skipped)
        case e.TurnWarned():
            return TurnWarnedData()
        case e.CardDrawn():
            seen = event.source == "discard" or event.seat == viewer
            return CardDrawnData(event.source, event.stock_count, event.card if seen else UNSET)
        case e.DrawDeclined():
            return DrawDeclinedData()
        case e.DrawSkipped():
            return DrawSkippedData()
        case e.BuyRequested():
            return BuyRequestedData(event.card)
        case e.Passed():
            return PassedData(event.rest_of_round if event.seat == viewer else UNSET)
        case e.CardBought():
            penalty = event.penalty_cards if event.seat == viewer else UNSET
            return CardBoughtData(event.card, len(event.penalty_cards), event.stock_count, penalty)
        case e.ClaimsClosed(reason):
            return ClaimsClosedData(reason)
        case e.DiscardOpened(card, claimants):
            return DiscardOpenedData(card, len(claimants))
        case e.ShanghaiCalled():
            return _shanghai_called(event, viewer)
        case e.FalseCalled():
            penalty = event.penalty_cards if event.seat == viewer else UNSET
            count = len(event.penalty_cards)
            return FalseCalledData(event.meld_id, event.card, count, event.stock_count, penalty)
        case e.MeldsLaid():
            return MeldsLaidData(event.melds)
        case e.CardsLaidOff():
            return CardsLaidOffData(event.meld_id, event.cards, event.end, event.meld)
        case e.WildSwapped():
            return WildSwappedData(
                event.meld_id, event.wild, event.as_, event.card, event.meld, event.to_hand, event.owed
            )
        case e.SwapOffered():
            return SwapOfferedData()
        case e.SwapDeclined():
            return SwapDeclinedData()
        case e.CardDiscarded():
            return CardDiscardedData(event.card, event.declared, event.skip)
        case e.TurnEnded():
            return TurnEndedData()
        case e.StockRenewed():
            return StockRenewedData(event.how, len(event.stock), event.kept)
        case e.RoundEnded():
            return RoundEndedData(event.reason, event.hands, event.revealed)
        case e.RoundScored():
            return RoundScoredData(event.points, event.totals, event.contracts)
        case e.GameFinished():
            return GameFinishedData(event.winners, event.totals)
        case e.GameCancelled(reason):
            return GameCancelledData(reason)
        case e.OperatorActed(what):
            return OperatorActedData(what)
        case _:
            assert_never(event)


def open_data(event: e.Event) -> VisibleData:
    """Shows an event of a finished game with nothing hidden: what the seat concerned has seen, and a deal whole."""
    if isinstance(event, e.RoundDealt):
        return replace(_hands_dealt(event), stock=event.stock)
    return open_hands_data(event)


def open_hands_data(event: e.Event) -> VisibleData:
    """Shows an event with all hands open, and nothing of what no seat has seen yet: neither the stock nor a secret."""
    if isinstance(event, e.RoundDealt):
        return _hands_dealt(event)
    if isinstance(event, e.ShanghaiCalled):
        return visible_data(event, event.from_seat if event.to_seat is None else event.to_seat)
    return visible_data(event, getattr(event, "seat", None))


def _hands_dealt(event: e.RoundDealt) -> RoundDealtData:
    return replace(_round_dealt(event, None), hands=tuple(map(in_deck_order, event.hands)))


def _round_dealt(event: e.RoundDealt, viewer: int | None) -> RoundDealtData:
    return RoundDealtData(
        number=event.number,
        contract=event.contracts[viewer or 0],
        dealer=event.dealer,
        hand_counts=tuple(len(hand) for hand in event.hands),
        stock_count=len(event.stock),
        discard_top=event.upcard,
        hand=UNSET if viewer is None else in_deck_order(event.hands[viewer]),
    )


def _shanghai_called(event: e.ShanghaiCalled, viewer: int | None) -> ShanghaiCalledData:
    concerned = viewer is not None and viewer in (event.from_seat, event.to_seat)
    seen = concerned and event.penalty_card is not None
    return ShanghaiCalledData(
        meld_id=event.meld_id,
        card=event.card,
        end=event.end,
        from_seat=event.from_seat,
        to_seat=event.to_seat,
        penalty_count=int(event.penalty_card is not None),
        stock_count=event.stock_count,
        meld=event.cards,
        taken_back=event.taken_back,
        as_=event.as_,
        penalty_card=event.penalty_card if seen and event.penalty_card is not None else UNSET,
    )


KINDS: dict[type[e.Event], str] = {
    e.GameOpened: "game_opened",
    e.SeatChanged: "seat_changed",
    e.NoncesAsked: "nonces_asked",
    e.NonceRevealed: "nonce_revealed",
    e.NoncesDropped: "nonces_dropped",
    e.GameStarted: "game_started",
    e.RoundDealt: "round_dealt",
    e.TurnBegan: "turn_began",
    e.TurnWarned: "turn_warned",
    e.CardDrawn: "card_drawn",
    e.DrawDeclined: "draw_declined",
    e.DrawSkipped: "draw_skipped",
    e.BuyRequested: "buy_requested",
    e.Passed: "passed",
    e.CardBought: "card_bought",
    e.ClaimsClosed: "claims_closed",
    e.DiscardOpened: "discard_opened",
    e.ShanghaiCalled: "shanghai_called",
    e.FalseCalled: "false_called",
    e.MeldsLaid: "melds_laid",
    e.CardsLaidOff: "cards_laid_off",
    e.WildSwapped: "wild_swapped",
    e.SwapOffered: "swap_offered",
    e.SwapDeclined: "swap_declined",
    e.CardDiscarded: "card_discarded",
    e.TurnEnded: "turn_ended",
    e.StockRenewed: "stock_renewed",
    e.RoundEnded: "round_ended",
    e.RoundScored: "round_scored",
    e.GameFinished: "game_finished",
    e.GameCancelled: "game_cancelled",
    e.OperatorActed: "operator_acted",
}
